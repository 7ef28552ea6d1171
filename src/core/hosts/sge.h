// SPDX-License-Identifier: MIT
#pragma once

#include "hosts/allotment.h"

namespace nodelay {

// Jobs of Grid Engine (Sun, Oracle, Univa, Altair, Son of).

/// The slots of this host in the file that PE_HOSTFILE names; NSLOTS, those of the whole
/// job, where this host is not in such a file.
CoreCount sge_cores(const Machine& machine);

/// The hosts of the file that PE_HOSTFILE names, lines of "host slots queue processors",
/// each host once for each slot, in the order of the file. Warns of damaged lines, which
/// are passed over, and where NSLOTS is set and is more.
HostList sge_hosts(const Machine& machine);

}  // namespace nodelay
