// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "hosts/machine.h"

namespace nodelay {

// What the control groups of this process (cgroups(7)) leave it of the machine's CPUs.
// Version 1 and version 2 may be mounted side by side, and are looked at each for itself.
// A value is nothing where the hierarchy is not mounted or sets no limit.

/// CPUs in the cpuset of the process's group (version 1).
std::optional<int> cgroup_v1_cpuset(const Machine& machine);

/// The least CPU quota (version 1) of the process's group and its parents, in CPUs.
std::optional<double> cgroup_v1_quota(const Machine& machine);

/// CPUs in the cpuset that the process's group or its nearest parent asks for (version 2).
std::optional<int> cgroup_v2_cpuset(const Machine& machine);

/// CPUs in the cpuset that is granted to the process's group (version 2).
std::optional<int> cgroup_v2_effective_cpuset(const Machine& machine);

/// The least CPU quota (version 2) of the process's group and its parents, in CPUs.
std::optional<double> cgroup_v2_quota(const Machine& machine);

/// A quota as a whole number of CPUs: rounded, at least 1.
int whole_cpus(double quota);

}  // namespace nodelay
