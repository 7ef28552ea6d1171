// SPDX-License-Identifier: MIT
#include "net/spin_budget.h"

#include <algorithm>
#include <utility>

namespace nodelay {
namespace {

using std::chrono::nanoseconds;

// Measured on two CPUs: a round trip of a small call takes 15-40 us, to wake a sleeping peer on
// an idle CPU 25-100 us. Whoever sleeps through the first call after a pause is woken on its peer's
// CPU, see worker/shared_cpu.h. Past that there is nothing to win.
constexpr nanoseconds kMost{150'000};
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
  if (waited <= 2 * kMost) budget_ = kMost;
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
