// SPDX-License-Identifier: MIT
#pragma once

#include "hosts/allotment.h"

namespace nodelay {

// Jobs of IBM Spectrum LSF and of OpenLava.

/// LSB_DJOB_NUMPROC, the slots of the job.
CoreCount lsf_cores(const Machine& machine);

/// LSB_HOSTS, host names between blanks.
HostList lsf_hosts(const Machine& machine);

}  // namespace nodelay
