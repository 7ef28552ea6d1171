// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "base/descriptor.h"

namespace nodelay {

/// The life of a template: forks a worker for its main process at each request (see
/// docs/protocol.md) and ends this process when there will be no more. Returns in the workers
/// only, which by then have their descriptors and variables, none of the template's, and are
/// children of the main process, the template's parent.
///
/// `control`: the socket that requests come by. `main_process`: readable once that has ended;
/// may be empty. `obstacle` returns errno where the caller knows why this process must not fork,
/// else 0; it is asked at the beginning and before each fork. Throws Error(system), in a worker.
void serve_forks(Descriptor control, Descriptor main_process, const std::function<int()>& obstacle);

}  // namespace nodelay
