// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>

namespace nodelay {

/// Every duration and deadline of the core is on this clock.
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

/// The time from `now` until `deadline` in the whole milliseconds that poll(2)
/// takes: never negative, rounded up, at most `most`.
inline int poll_milliseconds(TimePoint now, TimePoint deadline, std::chrono::milliseconds most) {
  if (deadline <= now) return 0;
  if (deadline - now >= most) return static_cast<int>(most.count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
  return static_cast<int>(std::min(left, most).count());
}

/// `duration` seconds from `now`; the farthest time there is where that would
/// overflow.
inline TimePoint seconds_from(TimePoint now, double duration) {
  constexpr double kLongest = 1e9;  // seconds, 31 years: well inside the clock's range
  return now + std::chrono::duration_cast<Clock::duration>(
                   std::chrono::duration<double>(std::min(duration, kLongest)));
}

}  // namespace nodelay
