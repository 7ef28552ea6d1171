// SPDX-License-Identifier: MIT
#pragma once

#include "hosts/allotment.h"

namespace nodelay {

// Machines that check packages, where a process must not take all CPUs.

/// 2 where _R_CHECK_LIMIT_CORES_ is set and is not false. Where it is not set, also 2 in
/// what R CMD check runs, and while R CMD build runs vignettes, unless
/// R_PARALLELLY_R_CMD_CHECK_NICE is false.
CoreCount check_limit_cores(const Machine& machine);

/// 4 where IS_BIOC_BUILD_MACHINE is true.
CoreCount bioconductor_cores(const Machine& machine);

/// BIOCPARALLEL_WORKER_NUMBER.
CoreCount biocparallel_cores(const Machine& machine);

}  // namespace nodelay
