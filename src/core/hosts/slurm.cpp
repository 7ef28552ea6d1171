// SPDX-License-Identifier: MIT
#include "hosts/slurm.h"

#include <algorithm>
#include <limits>

#include "hosts/slurm_nodelist.h"
#include "hosts/text.h"

namespace nodelay {
namespace {

struct Setting {
  std::string name;
  std::string value;
};

// The first of these variables that is set.
std::optional<Setting> first_set(const Machine& machine, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto value = machine.variable(name)) return Setting{name, *value};
  }
  return std::nullopt;
}

// Whether srun started this process as a task. A batch script or an interactive shell has no
// step of its own, or one of the reserved numbers from 0xfffffff0 (slurm.h); those are no int.
bool is_task(const Machine& machine) {
  const auto step = machine.variable("SLURM_STEP_ID");
  return step && whole_number(*step);
}

// This node's number in a list of counts such as "2(x3),4".
std::optional<int> count_of_this_node(const Machine& machine,
                                      std::initializer_list<const char*> names) {
  const auto setting = first_set(machine, names);
  if (!setting) return std::nullopt;
  const auto counts = expand_node_counts(setting->value);
  const auto node = count_in_variables(machine, {"SLURM_NODEID"}).cores.value_or(0);
  if (!counts || node < 0 || static_cast<std::size_t>(node) >= counts->size()) return std::nullopt;
  return (*counts)[static_cast<std::size_t>(node)];
}

CoreCount cores_of_task(const Machine& machine) {
  CoreCount per_task = count_in_variables(machine, {"SLURM_CPUS_PER_TASK"});
  if (per_task.cores) return per_task;
  CoreCount result = count_in_variables(machine, {"SLURM_CPUS_ON_NODE"});
  const auto num_tasks =
      count_of_this_node(machine, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  if (result.cores && num_tasks && *num_tasks > 1) {
    result.cores = std::max(1, *result.cores / *num_tasks);
  }
  return result;
}

// The CPUs on this node of a job that has several: those of its tasks here. SLURM_CPUS_ON_NODE is
// no more than a limit there, since it counts whole cores: of 7 tasks on two nodes with two threads
// a core, 5 are here and it says 6.
std::optional<int> cores_on_one_of_several(const Machine& machine) {
  const auto num_nodes = count_in_variables(machine, {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}).cores;
  const auto num_tasks = count_of_this_node(machine, {"SLURM_TASKS_PER_NODE"});
  if (num_nodes.value_or(1) <= 1 || !num_tasks) return std::nullopt;
  const int per_task =
      std::max(1, count_in_variables(machine, {"SLURM_CPUS_PER_TASK"}).cores.value_or(1));
  const int most = count_in_variables(machine, {"SLURM_CPUS_ON_NODE"})
                       .cores.value_or(std::numeric_limits<int>::max());
  return *num_tasks <= most / per_task ? *num_tasks * per_task : most;
}

HostList no_hosts(const std::string& reason) {
  return {std::vector<std::string>(), {"Slurm's list of nodes is ignored: " + reason}};
}

}  // namespace

CoreCount slurm_cores(const Machine& machine) {
  if (is_task(machine)) return cores_of_task(machine);
  if (const auto cores = cores_on_one_of_several(machine)) return {cores, {}};
  CoreCount result = count_in_variables(machine, {"SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_TASK"});
  if (!result.cores) {
    result.cores = count_of_this_node(machine, {"SLURM_JOB_CPUS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  }
  return result;
}

HostList slurm_hosts(const Machine& machine) {
  const auto list = first_set(machine, {"SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  if (!list) return {};
  const auto hosts = expand_node_list(list->value);
  if (!hosts) return no_hosts(list->name + " = '" + list->value + "' is none.");
  const auto setting = first_set(machine, {"SLURM_JOB_CPUS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  if (!setting) {
    return {hosts,
            {"One worker on each host of " + list->name +
             ": neither SLURM_JOB_CPUS_PER_NODE nor SLURM_TASKS_PER_NODE tells how many."}};
  }
  const auto counts = expand_node_counts(setting->value);
  if (!counts) return no_hosts(setting->name + " = '" + setting->value + "' is no list of counts.");
  if (counts->size() != hosts->size()) {
    return no_hosts(list->name + " = '" + list->value + "' has " + std::to_string(hosts->size()) +
                    " hosts, but " + setting->name + " = '" + setting->value + "' is for " +
                    std::to_string(counts->size()) + ".");
  }
  HostList result{std::vector<std::string>(), {}};
  for (std::size_t i = 0; i < hosts->size(); ++i) {
    if (!result.add((*hosts)[i], (*counts)[i])) {
      return no_hosts(setting->name + " = '" + setting->value + "' is for too many workers.");
    }
  }
  return result;
}

}  // namespace nodelay
