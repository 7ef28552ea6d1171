// SPDX-License-Identifier: MIT
#include "net/free_port.h"

#include <algorithm>

#include "base/random.h"
#include "net/tcp.h"

namespace nodelay {

std::optional<std::uint16_t> find_free_port(std::vector<std::uint16_t> ports, PortOrder order,
                                            PortTest test) {
  std::reverse(ports.begin(), ports.end());  // they are taken from the back
  while (!ports.empty()) {
    if (order == PortOrder::random) std::swap(ports[random_below(ports.size())], ports.back());
    const std::uint16_t port = ports.back();
    ports.pop_back();
    if (test == PortTest::none || try_to_listen(port, Reach::network)) return port;
  }
  return std::nullopt;
}

}  // namespace nodelay
