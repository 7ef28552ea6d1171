// SPDX-License-Identifier: MIT
#pragma once

#include "hosts/allotment.h"

namespace nodelay {

// Jobs of the Fujitsu Technical Computing Suite.

/// PJM_VNODE_CORE, cores of each virtual node, or else PJM_PROC_BY_NODE.
CoreCount pjm_cores(const Machine& machine);

/// The file that PJM_O_NODEINF names, a line with the name of each host, which is
/// repeated for each of pjm_cores(). Warns where PJM_VNODE is set and is another number
/// than that of the hosts, and where there are no pjm_cores(): then it is once.
HostList pjm_hosts(const Machine& machine);

}  // namespace nodelay
