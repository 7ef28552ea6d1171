// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nodelay {

/// In which order ports are tried.
enum class PortOrder { as_given, random };

/// Whether a port is tried by listening on it, or taken for free as it is.
enum class PortTest { by_listening, none };

/// Looks for a TCP port that this process could listen on, on all IPv4 interfaces, by
/// doing so for a moment. Returns the first of `ports` that it could; nothing where it
/// could on none. Whoever comes first may take the port afterwards: to meet workers use
/// Rendezvous, which keeps its port. Throws Error(system) where no socket can be made.
std::optional<std::uint16_t> find_free_port(std::vector<std::uint16_t> ports, PortOrder order,
                                            PortTest test = PortTest::by_listening);

}  // namespace nodelay
