// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "base/descriptor.h"

namespace nodelay {

/// Where a socket that listens can be reached from.
enum class Reach {
  this_machine,  ///< the loopback interface only
  network,       ///< every interface: for workers that connect from other machines
};

/// `port` where a socket that listens binds; with Reach::this_machine also where to connect to.
sockaddr_in address_of(std::uint16_t port, Reach reach);

/// Makes a nonblocking, close-on-exec TCP socket. Throws Error(system).
Descriptor make_tcp_socket();

/// Listens on `port`; 0 lets the kernel choose. Empty where the port is taken or not ours to
/// open. Throws Error(system) otherwise.
Descriptor try_to_listen(std::uint16_t port, Reach reach);

/// The port that `listener` listens on. Throws Error(system).
std::uint16_t port_of(int listener);

}  // namespace nodelay
