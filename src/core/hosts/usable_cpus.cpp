// SPDX-License-Identifier: MIT
#include "hosts/usable_cpus.h"

#include <sched.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "hosts/cgroups.h"
#include "hosts/cpu_list.h"
#include "hosts/text.h"

namespace nodelay {

int affinity_cpus() {
  // The kernel refuses a mask that is smaller than its own, which it may be built with.
  constexpr std::size_t kMostMasks = 64;  // 65,536 CPUs
  for (std::size_t num_masks = 1; num_masks <= kMostMasks; num_masks *= 2) {
    std::vector<cpu_set_t> masks(num_masks);
    const std::size_t num_bytes = num_masks * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, num_bytes, masks.data()) == 0) {
      return std::max(1, CPU_COUNT_S(num_bytes, masks.data()));
    }
  }
  return 1;
}

std::optional<int> allowed_cpus(const Machine& machine) {
  constexpr std::string_view kField = "Cpus_allowed_list:";
  const auto status = machine.file("/proc/self/status");
  if (!status) return std::nullopt;
  for (const std::string_view line : lines_of(*status)) {
    if (line.starts_with(kField)) return count_cpus(line.substr(kField.size()));
  }
  return std::nullopt;
}

int usable_cpus() {
  const Machine machine = this_machine();
  int cpus = affinity_cpus();
  for (const auto& quota : {cgroup_v1_quota(machine), cgroup_v2_quota(machine)}) {
    if (quota) cpus = std::min(cpus, whole_cpus(*quota));
  }
  return cpus;
}

}  // namespace nodelay
