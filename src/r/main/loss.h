// SPDX-License-Identifier: MIT
#pragma once

#include <cpp11.hpp>

#include "cluster/node.h"

namespace nodelay {

/// Raises what became of a lost node as nodelay_error_worker_lost.
[[noreturn]] void raise_loss(const Node& node);

/// The fields by which conditions name a node and what became of it.
cpp11::writable::list loss_fields(const Node& node);

}  // namespace nodelay
