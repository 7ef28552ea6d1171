// SPDX-License-Identifier: MIT
#include "net/spin_budget.h"

#include <algorithm>

namespace nodelay {
namespace {

using std::chrono::nanoseconds;

// Measured on two CPUs: a round trip of a small call takes 15-40 us, and waking a
// sleeping peer on an idle CPU 25-45 us, so there is nothing to win past 100 us.
constexpr nanoseconds kMost{100'000};
constexpr nanoseconds kLeast{10'000};
constexpr nanoseconds kShortestPause{std::chrono::milliseconds(100)};
constexpr nanoseconds kLongestPause{std::chrono::seconds(10)};

}  // namespace

nanoseconds SpinBudget::allowance(TimePoint now) const {
  if (!is_allowed_ || now < paused_until_) return nanoseconds::zero();
  return budget_;
}

void SpinBudget::answered(nanoseconds waited) {
  if (waited > 2 * kMost) return;
  budget_ = std::clamp(2 * waited, kLeast, kMost);
  // A CPU that has been ours through a whole answer is likely to stay so.
  pause_ = std::max(pause_ - pause_ / 64 - nanoseconds(1), nanoseconds::zero());
}

void SpinBudget::missed() {
  budget_ /= 2;
  if (budget_ < kLeast) budget_ = nanoseconds::zero();
}

void SpinBudget::descheduled(TimePoint now) {
  pause_ = std::clamp(2 * pause_, kShortestPause, kLongestPause);
  paused_until_ = now + pause_;
}

}  // namespace nodelay
