// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>

#include "hosts/machine.h"

namespace nodelay {

/// How many processes were running or ready to run, averaged over the last 1, 5 and 15
/// minutes (/proc/loadavg); nothing where that is unknown.
std::optional<std::array<double, 3>> cpu_load(const Machine& machine);

/// How many processes run or are ready to run right now, this one among them (/proc/loadavg);
/// nothing where that is unknown. Takes some microseconds.
std::optional<int> runnable_processes(const Machine& machine);

/// Whether processes of `machine` wait for a CPU right now, where it has `num_cpus`. False where
/// that is unknown.
bool is_crowded(const Machine& machine, int num_cpus);

/// The same of this machine and the CPUs that this thread may run on.
bool is_crowded();

}  // namespace nodelay
