// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "base/descriptor.h"

namespace nodelay {

/// `port` of 127.0.0.1.
sockaddr_in loopback_address(std::uint16_t port);

/// Makes a nonblocking, close-on-exec TCP socket. Throws Error(system).
Descriptor make_tcp_socket();

/// Listens on `port` of 127.0.0.1; 0 lets the kernel choose. Empty where the port is
/// taken or not ours to open.
Descriptor try_to_listen(std::uint16_t port);

/// The port that `listener` listens on. Throws Error(system).
std::uint16_t port_of(int listener);

}  // namespace nodelay
