// SPDX-License-Identifier: MIT
#pragma once

#include "hosts/allotment.h"

namespace nodelay {

// Jobs of PBS and TORQUE.

/// PBS_NUM_PPN, processors on each node, or else NCPUS.
CoreCount pbs_cores(const Machine& machine);

/// The file that PBS_NODEFILE names, a line with the host's name for each worker; sorted.
/// Warns where PBS_NP, or PBS_NUM_NODES times PBS_NUM_PPN, is set and is another number.
HostList pbs_hosts(const Machine& machine);

}  // namespace nodelay
