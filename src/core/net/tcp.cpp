// SPDX-License-Identifier: MIT
#include "net/tcp.h"

#include <sys/socket.h>

#include "base/system_call.h"

namespace nodelay {
namespace {

constexpr int kBacklog = 4096;  // the kernel lowers it to its own limit

}  // namespace

sockaddr_in address_of(std::uint16_t port, Reach reach) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(reach == Reach::network ? INADDR_ANY : INADDR_LOOPBACK);
  return address;
}

Descriptor make_tcp_socket() {
  return Descriptor(system_call("making a TCP socket", [] {
    return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  }));
}

Descriptor try_to_listen(std::uint16_t port, Reach reach) {
  Descriptor listener = make_tcp_socket();
  const int yes = 1;
  system_call("setting a socket option", [&] {
    return ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const sockaddr_in address = address_of(port, reach);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    return {};
  }
  return listener;
}

std::uint16_t port_of(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  system_call("asking for the listening port", [&] {
    return ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  });
  return ntohs(address.sin_port);
}

}  // namespace nodelay
