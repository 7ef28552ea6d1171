// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>

#include "hosts/machine.h"

namespace nodelay {

/// How many processes were running or ready to run, averaged over the last 1, 5 and 15
/// minutes (/proc/loadavg); nothing where that is unknown.
std::optional<std::array<double, 3>> cpu_load(const Machine& machine);

}  // namespace nodelay
