// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace nodelay {

/// How many CPUs this process may keep busy: its affinity mask, lowered by the CPU
/// quota of its control group and of that group's parents. At least 1.
int usable_cpus();

/// The CPU quota that holds for the control group `group` of the hierarchy mounted
/// at `mount` (version 2: cpu.max; version 1: cpu.cfs_quota_us and
/// cpu.cfs_period_us), the least of the group and its parents, in CPUs; 0 where
/// there is none.
double cpu_quota(const std::string& mount, const std::string& group);

}  // namespace nodelay
