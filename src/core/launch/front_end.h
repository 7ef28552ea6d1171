// SPDX-License-Identifier: MIT
#pragma once

#include "launch/process.h"

namespace nodelay {

/// A plan that starts this very R by the Rscript that came with it goes through two front ends, a
/// program and a shell script that starts six others, which takes some 10 ms and sets what
/// this process has got already. This starts R itself in their place; command line and
/// environment of the R process are the same, but that the script puts R's folders in front of
/// LD_LIBRARY_PATH once more. Returns the plan as it is where anything differs from
/// that: another Rscript, other options than --default-packages and -e, a changed library path.
SpawnPlan without_front_ends(SpawnPlan plan);

}  // namespace nodelay
