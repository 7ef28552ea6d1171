// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "base/clock.h"

namespace nodelay {

/// Learns how long a wait for the next message may spin before it sleeps. A value
/// with no loop in it: the waiting loop tells it what happened. A spin pays where
/// the peer answers within tens of microseconds and a CPU is free for each; it does
/// harm everywhere else, so it switches itself off.
class SpinBudget {
 public:
  /// How long the wait that begins at `now` may spin; zero: not at all.
  std::chrono::nanoseconds allowance(TimePoint now) const;

  /// The message came `waited` after the wait began, spinning or sleeping.
  void answered(std::chrono::nanoseconds waited);

  /// The spin ended with nothing to show.
  void missed();

  /// The next message may take some 100 us longer than the last ones, and no more.
  void expect_delay() { is_delay_expected_ = true; }

  /// The clock jumped between two looks: a process that is not the peer had this CPU. Spinning
  /// stops for a while, twice as long each time that this happens again soon after the last pause.
  void descheduled(TimePoint now);

  /// Forbids spinning while there are more processes at work than CPUs.
  void set_allowed(bool is_allowed) { is_allowed_ = is_allowed; }

 private:
  std::chrono::nanoseconds budget_{75'000};
  std::chrono::nanoseconds pause_{0};  // the last one; 0: none so far
  TimePoint paused_until_{};
  bool is_delay_expected_ = false;
  bool is_allowed_ = true;
};

/// A jump of the clock between two looks that shows another process was running.
inline constexpr std::chrono::microseconds kDescheduledAfter{500};

}  // namespace nodelay
