// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <cpp11.hpp>

#include "cluster/startup.h"

namespace nodelay {

/// Starts one worker for each plan (see node_plan() in R/makeNodePSOCK.R) and waits until all are
/// ready. A list of a list for each: handle, pid, engine, reply (of the set-up call), port. Raises
/// what happened, with no worker left, where one cannot be started. Unwinds as R errors do.
cpp11::list start_nodes(const std::shared_ptr<Session>& session, const cpp11::list& plans,
                        const Startup::Terms& terms);

}  // namespace nodelay
