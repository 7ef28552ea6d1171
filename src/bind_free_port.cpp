// SPDX-License-Identifier: MIT
#include <cpp11.hpp>

#include "net/free_port.h"
#include "r/base/conditions.h"

using namespace nodelay;

// One of `ports`, each from 1 to 65535, that can be listened on, or without a test simply one of
// them; NA where there is none.
[[cpp11::register]] int find_port(cpp11::integers ports, bool is_random, bool is_tested) {
  return entry([&] {
    const std::vector<std::uint16_t> choices(ports.begin(), ports.end());
    const auto found = find_free_port(choices, is_random ? PortOrder::random : PortOrder::as_given,
                                      is_tested ? PortTest::by_listening : PortTest::none);
    return found ? static_cast<int>(*found) : NA_INTEGER;
  });
}
