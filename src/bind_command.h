// SPDX-License-Identifier: MIT
#pragma once

#include <cpp11.hpp>

#include "cluster/startup.h"

namespace nodelay {

/// What starts the worker that `plan` describes, see node_plan() in R/makeNodePSOCK.R. Where that
/// is done by hand, it tells the user what to run. Reads the plan once; throws as conversions of
/// cpp11 do where that has not the expected form.
NodePlan::Command command_of(const cpp11::list& plan);

}  // namespace nodelay
