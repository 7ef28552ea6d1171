// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "hosts/allotment.h"

namespace nodelay {

/// The cores of this machine by a method that is known here, such as "nproc",
/// "cgroups2.cpu.max" or "Slurm"; nothing where `method` is not.
std::optional<CoreCount> cores_by_method(const std::string& method, const Machine& machine);

/// The hosts of this job by a scheduler that is known here; nothing where `method` is not.
std::optional<HostList> hosts_by_method(const std::string& method, const Machine& machine);

}  // namespace nodelay
