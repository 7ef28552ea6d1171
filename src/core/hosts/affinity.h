// SPDX-License-Identifier: MIT
#pragma once

namespace nodelay {

/// How many CPUs the calling thread may run on: those in its affinity mask. At least 1.
int affinity_cpus();

/// The CPU that the calling thread runs on, counted from 0; -1 where the system does not tell.
int current_cpu();

/// Moves the calling thread from `cpu`, counted from 0, to another one that it may run on; its
/// affinity mask is afterwards what it was. Takes some 100 us where the other CPU was idle.
/// Returns false where there is no other.
bool leave_cpu(int cpu);

}  // namespace nodelay
