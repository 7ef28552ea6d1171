// SPDX-License-Identifier: MIT
#include "hosts/cpu_load.h"

#include <charconv>

#include "hosts/affinity.h"
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

std::optional<int> runnable_processes(const Machine& machine) {
  constexpr std::size_t kField = 3;  // "2/345": runnable, and all
  const auto content = machine.file("/proc/loadavg");
  if (!content) return std::nullopt;
  const auto fields = split(*content, kBlanks);
  if (fields.size() <= kField) return std::nullopt;
  int runnable = 0;
  const char* begin = fields[kField].data();
  const auto [stop, failure] = std::from_chars(begin, begin + fields[kField].size(), runnable);
  if (failure != std::errc() || *stop != '/') return std::nullopt;
  return runnable;
}

bool is_crowded(const Machine& machine, int num_cpus) {
  return runnable_processes(machine).value_or(0) > num_cpus;
}

bool is_crowded() {
  return is_crowded(this_machine(), affinity_cpus());
}

}  // namespace nodelay
