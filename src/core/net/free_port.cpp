// SPDX-License-Identifier: MIT
#include "net/free_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/descriptor.h"
#include "base/random.h"
#include "base/system_call.h"

namespace nodelay {
namespace {

bool can_listen_on(std::uint16_t port) {
  const Descriptor listener(system_call(
      "making a TCP socket", [] { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }));
  const int yes = 1;  // connections that have just been closed do not count
  system_call("setting a socket option", [&] {
    return ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  return ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(listener.get(), 1) == 0;
}

}  // namespace

std::optional<std::uint16_t> find_free_port(std::vector<std::uint16_t> ports, PortOrder order) {
  std::reverse(ports.begin(), ports.end());  // they are taken from the back
  while (!ports.empty()) {
    if (order == PortOrder::random) std::swap(ports[random_below(ports.size())], ports.back());
    const std::uint16_t port = ports.back();
    ports.pop_back();
    if (can_listen_on(port)) return port;
  }
  return std::nullopt;
}

}  // namespace nodelay
