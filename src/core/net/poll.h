// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <span>

#include "base/clock.h"

namespace nodelay {

/// Waits until one of `watched` is ready, a signal arrives or `deadline` has come.
/// Returns how many are ready: 0 after a signal or the deadline. Entries with a
/// negative descriptor are passed over. Throws Error(system).
int poll_until(std::span<pollfd> watched, TimePoint deadline);

}  // namespace nodelay
