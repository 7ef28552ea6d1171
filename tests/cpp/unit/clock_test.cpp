// SPDX-License-Identifier: MIT
#include "base/clock.h"

#include <gtest/gtest.h>

#include <limits>

namespace nodelay {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr TimePoint kNow{hours(1)};

TEST(Clock, ADeadlineThatHasPassedLeavesNoTime) {
  EXPECT_EQ(poll_milliseconds(kNow, kNow, hours(1)), 0);
  EXPECT_EQ(poll_milliseconds(kNow, kNow - hours(1), hours(1)), 0);
}

TEST(Clock, APartOfAMillisecondCountsWhole) {
  EXPECT_EQ(poll_milliseconds(kNow, kNow + microseconds(1), hours(1)), 1);
  EXPECT_EQ(poll_milliseconds(kNow, kNow + microseconds(2001), hours(1)), 3);
  EXPECT_EQ(poll_milliseconds(kNow, kNow + milliseconds(2), hours(1)), 2);
}

TEST(Clock, AFarDeadlineIsCutToTheMost) {
  EXPECT_EQ(poll_milliseconds(kNow, kNow + hours(2), hours(1)), 3'600'000);
  EXPECT_EQ(poll_milliseconds(kNow, TimePoint::max(), milliseconds(7)), 7);
}

TEST(Clock, SecondsMayBePartsOfOneAndEndless) {
  EXPECT_EQ(seconds_from(kNow, 0), kNow);
  EXPECT_EQ(seconds_from(kNow, 1.5), kNow + milliseconds(1500));
  EXPECT_GT(seconds_from(kNow, std::numeric_limits<double>::infinity()), kNow + hours(24 * 365));
}

}  // namespace
}  // namespace nodelay
