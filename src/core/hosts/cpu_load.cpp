// SPDX-License-Identifier: MIT
#include "hosts/cpu_load.h"

#include <charconv>

#include "hosts/text.h"

namespace nodelay {

std::optional<std::array<double, 3>> cpu_load(const Machine& machine) {
  const auto content = machine.file("/proc/loadavg");
  if (!content) return std::nullopt;
  const auto fields = split(*content, kBlanks);
  std::array<double, 3> load{};
  if (fields.size() < load.size()) return std::nullopt;
  for (std::size_t i = 0; i < load.size(); ++i) {
    const char* end = fields[i].data() + fields[i].size();
    const auto [stop, failure] = std::from_chars(fields[i].data(), end, load[i]);
    if (failure != std::errc() || stop != end) return std::nullopt;
  }
  return load;
}

}  // namespace nodelay
