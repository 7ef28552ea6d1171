// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "hosts/machine.h"

namespace nodelay {

/// How many CPUs `machine` allows a process to run on, by Cpus_allowed_list in
/// /proc/self/status; nothing where there is no such file.
std::optional<int> allowed_cpus(const Machine& machine);

/// How many CPUs this process may keep busy: its affinity mask, lowered by the CPU
/// quotas of its control groups. At least 1.
int usable_cpus();

}  // namespace nodelay
