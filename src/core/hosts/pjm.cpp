// SPDX-License-Identifier: MIT
#include "hosts/pjm.h"

#include "hosts/text.h"

namespace nodelay {

CoreCount pjm_cores(const Machine& machine) {
  return count_in_variables(machine, {"PJM_VNODE_CORE", "PJM_PROC_BY_NODE"});
}

HostList pjm_hosts(const Machine& machine) {
  const NamedFile file = file_in_variable(machine, "PJM_O_NODEINF");
  if (!file.content) return {std::nullopt, file.warnings};
  const auto lines = lines_of(*file.content);
  HostList list{std::vector<std::string>(), {}};
  const auto num_nodes = count_in_variables(machine, {"PJM_VNODE"}).cores;
  if (num_nodes && *num_nodes != static_cast<int>(lines.size())) {
    list.warnings.push_back("PJM_O_NODEINF ('" + file.path + "') lists " +
                            std::to_string(lines.size()) + " hosts, but PJM_VNODE is " +
                            std::to_string(*num_nodes) + ".");
  }
  const auto cores = pjm_cores(machine).cores;
  if (!cores) {
    list.warnings.emplace_back(
        "One worker on each host of PJM_O_NODEINF: neither PJM_VNODE_CORE nor PJM_PROC_BY_NODE "
        "tells how many there are cores for.");
  }
  for (const std::string_view line : lines) list.add(std::string(line), cores.value_or(1));
  return list;
}

}  // namespace nodelay
