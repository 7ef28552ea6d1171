// SPDX-License-Identifier: MIT
#include "net/spin_budget.h"

#include <algorithm>
#include <utility>

namespace nodelay {
namespace {

using std::chrono::nanoseconds;

// Measured on two CPUs: a round trip of a small call takes 15-40 us, and waking a
// sleeping peer on an idle CPU 25-45 us, so there is nothing to win past 100 us.
constexpr nanoseconds kMost{100'000};
constexpr nanoseconds kLeast{10'000};
constexpr nanoseconds kDelayed{400'000};
constexpr nanoseconds kShortestPause{std::chrono::milliseconds(100)};
constexpr nanoseconds kLongestPause{std::chrono::seconds(10)};
// Where others want the CPU a spin loses it at once; where it does so later, that was chance.
constexpr nanoseconds kSoon{std::chrono::milliseconds(20)};

}  // namespace

nanoseconds SpinBudget::allowance(TimePoint now) const {
  if (!is_allowed_ || now < paused_until_) return nanoseconds::zero();
  return is_delay_expected_ ? kDelayed : budget_;
}

void SpinBudget::answered(nanoseconds waited) {
  if (std::exchange(is_delay_expected_, false)) return;
  if (waited > 2 * kMost) return;
  budget_ = std::clamp(2 * waited, kLeast, kMost);
}

void SpinBudget::missed() {
  if (std::exchange(is_delay_expected_, false)) return;
  budget_ /= 2;
  if (budget_ < kLeast) budget_ = nanoseconds::zero();
}

void SpinBudget::descheduled(TimePoint now) {
  const bool is_soon = now < paused_until_ + kSoon;
  pause_ = is_soon ? std::min(2 * pause_, kLongestPause) : kShortestPause;
  paused_until_ = now + pause_;
}

}  // namespace nodelay
