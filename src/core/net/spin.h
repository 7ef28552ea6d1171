// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include "net/spin_budget.h"

namespace nodelay {

/// Looks again and again, giving the CPU away now and then, for as long as `budget`
/// allows from `start` on; `look` returns true where it found something, and so does
/// this. Tells `budget` what happened. `is_crowded` tells whether other processes want the CPUs;
/// it is asked when the clock has jumped between two looks, for that may have been the peer.
template <typename Look, typename IsCrowded>
bool spin(SpinBudget& budget, TimePoint start, Look look, IsCrowded is_crowded) {
  constexpr int kLooksPerYield = 4;  // some 2 us; a yield takes as long as a look
  const auto allowance = budget.allowance(start);
  if (allowance <= allowance.zero()) return false;
  TimePoint last = start;
  for (int num_looks = 1;; ++num_looks) {
    // The peer may be waiting for this very CPU.
    if (num_looks % kLooksPerYield == 0) ::sched_yield();
    const TimePoint now = Clock::now();
    const bool has_found = look();
    if (now - last > kDescheduledAfter && is_crowded()) {
      budget.descheduled(now);  // also where the message came meanwhile: a sleeper had it sooner
      return has_found;
    }
    if (has_found) {
      budget.answered(now - start);
      return true;
    }
    if (now - start > allowance) {
      budget.missed();
      return false;
    }
    last = now;
  }
}

}  // namespace nodelay
