// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <cpp11.hpp>

#include "r/main/node_handle.h"

// Whether workers are alive, and how they end.
namespace nodelay {

/// Ends the workers, all at the same time, and waits until they are gone. `farewell` is the
/// message that ends a base-R worker.
void stop_nodes(const std::vector<NodeHandle*>& handles, SEXP farewell);

/// Which of the workers are alive; NA for a node of another process. With `patience`, in seconds, a
/// native worker that does not answer within that time counts as dead.
cpp11::writable::logicals are_alive(const cpp11::list& pointers, double patience);

/// After a signal that ends workers: waits for that, and stops those that are still there then.
void see_off(const cpp11::list& pointers);

}  // namespace nodelay
