// SPDX-License-Identifier: MIT
#include "hosts/pbs.h"

#include <algorithm>

#include "hosts/text.h"

namespace nodelay {
namespace {

void check_count(HostList& list, const NamedFile& file, long long expected,
                 const std::string& source) {
  if (expected == static_cast<long long>(list.hosts->size())) return;
  list.warnings.push_back("PBS_NODEFILE ('" + file.path + "') lists " +
                          std::to_string(list.hosts->size()) + " workers, but " + source + " is " +
                          std::to_string(expected) + ".");
}

}  // namespace

CoreCount pbs_cores(const Machine& machine) {
  return count_in_variables(machine, {"PBS_NUM_PPN", "NCPUS"});
}

HostList pbs_hosts(const Machine& machine) {
  const NamedFile file = file_in_variable(machine, "PBS_NODEFILE");
  if (!file.content) return {std::nullopt, file.warnings};
  HostList list{std::vector<std::string>(), {}};
  for (const std::string_view line : lines_of(*file.content)) {
    list.hosts->emplace_back(split(line, kBlanks).front());
  }
  std::sort(list.hosts->begin(), list.hosts->end());
  const auto num_workers = count_in_variables(machine, {"PBS_NP"}).cores;
  const auto num_nodes = count_in_variables(machine, {"PBS_NUM_NODES"}).cores;
  const auto num_per_node = count_in_variables(machine, {"PBS_NUM_PPN"}).cores;
  if (num_workers) check_count(list, file, *num_workers, "PBS_NP");
  if (num_nodes && num_per_node) {
    check_count(list, file, static_cast<long long>(*num_nodes) * *num_per_node,
                "PBS_NUM_NODES * PBS_NUM_PPN");
  }
  return list;
}

}  // namespace nodelay
