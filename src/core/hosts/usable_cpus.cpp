// SPDX-License-Identifier: MIT
#include "hosts/usable_cpus.h"

#include <algorithm>
#include <string_view>

#include "hosts/affinity.h"
#include "hosts/cgroups.h"
#include "hosts/cpu_list.h"
#include "hosts/text.h"

namespace nodelay {

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
