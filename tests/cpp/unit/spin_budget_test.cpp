// SPDX-License-Identifier: MIT
#include "net/spin_budget.h"

#include <gtest/gtest.h>

#include "net/spin.h"

namespace nodelay {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{hours(1)};
constexpr nanoseconds kNone{0};

// As long as a wake-up on an idle CPU and a small call take together.
constexpr microseconds kMost{150};

TEST(SpinBudget, AFreshOneSpinsForLessThanAWakeUpIsWorth) {
  const SpinBudget budget;
  EXPECT_GT(budget.allowance(kNow), kNone);
  EXPECT_LE(budget.allowance(kNow), kMost);
}

TEST(SpinBudget, AQuickAnswerAllowsTheMost) {
  SpinBudget budget;
  budget.missed();
  budget.answered(microseconds(30));
  EXPECT_EQ(budget.allowance(kNow), kMost);
}

TEST(SpinBudget, ALateAnswerTeachesNothing) {
  SpinBudget budget;
  budget.answered(microseconds(30));
  budget.missed();
  budget.answered(seconds(1));
  EXPECT_EQ(budget.allowance(kNow), kMost / 2);
}

TEST(SpinBudget, AnExpectedDelayIsWaitedForOnceAndTeachesNothing) {
  SpinBudget budget;
  budget.answered(microseconds(20));
  budget.expect_delay();
  EXPECT_EQ(budget.allowance(kNow), microseconds(400));
  budget.answered(microseconds(250));
  EXPECT_EQ(budget.allowance(kNow), kMost);
  budget.expect_delay();
  budget.missed();
  EXPECT_EQ(budget.allowance(kNow), kMost);
}

TEST(SpinBudget, MissesEndTheSpinningUntilAnAnswerIsQuick) {
  SpinBudget budget;
  for (int i = 0; i < 5; ++i) budget.missed();
  EXPECT_EQ(budget.allowance(kNow), kNone);
  budget.answered(microseconds(20));
  EXPECT_EQ(budget.allowance(kNow), kMost);
}

// How long spinning stops after being descheduled at kNow.
milliseconds pause_of(const SpinBudget& budget) {
  milliseconds pause(0);
  while (budget.allowance(kNow + pause) == kNone) pause += milliseconds(1);
  return pause;
}

TEST(SpinBudget, BeingDescheduledStopsTheSpinningLongerEachTime) {
  SpinBudget budget;
  budget.descheduled(kNow);
  EXPECT_EQ(pause_of(budget), milliseconds(100));
  budget.descheduled(kNow);
  EXPECT_EQ(pause_of(budget), milliseconds(200));
  for (int i = 0; i < 20; ++i) budget.descheduled(kNow);
  EXPECT_EQ(pause_of(budget), seconds(10)) << "never longer than this";
}

TEST(SpinBudget, AfterATimeWithItsCpuTheNextPauseIsShortAgain) {
  SpinBudget budget;
  for (int i = 0; i < 20; ++i) budget.descheduled(kNow - seconds(11));
  budget.descheduled(kNow);
  EXPECT_EQ(pause_of(budget), milliseconds(100));
}

TEST(SpinBudget, WhereItIsForbiddenNothingSpins) {
  SpinBudget budget;
  budget.set_allowed(false);
  EXPECT_EQ(budget.allowance(kNow), kNone);
  budget.set_allowed(true);
  EXPECT_GT(budget.allowance(kNow), kNone);
}

bool is_crowded() {
  return true;
}

TEST(Spin, WhatIsFoundEndsTheSpin) {
  SpinBudget budget;
  int num_looks = 0;
  EXPECT_TRUE(spin(
      budget, Clock::now(), [&] { return ++num_looks == 1; }, is_crowded));
  EXPECT_EQ(num_looks, 1);
}

TEST(Spin, WhereNothingIsFoundTheSpinEndsAndCostsBudget) {
  SpinBudget budget;
  const auto before = budget.allowance(Clock::now());
  EXPECT_FALSE(spin(
      budget, Clock::now(), [] { return false; }, is_crowded));
  EXPECT_LT(budget.allowance(Clock::now()), before);
}

TEST(Spin, WithoutAnAllowanceThereIsNoLook) {
  SpinBudget budget;
  budget.set_allowed(false);
  EXPECT_FALSE(spin(
      budget, Clock::now(), [] { return true; }, is_crowded));
}

TEST(Spin, AJumpOfTheClockStopsTheSpinning) {
  SpinBudget budget;
  EXPECT_FALSE(spin(
      budget, Clock::now() - 2 * kDescheduledAfter, [] { return false; }, is_crowded));
  EXPECT_EQ(budget.allowance(Clock::now()), kNone);
}

TEST(Spin, AJumpOfTheClockStopsTheSpinningAlsoWhereTheAnswerCameMeanwhile) {
  SpinBudget budget;
  int num_looks = 0;
  EXPECT_TRUE(spin(
      budget, Clock::now() - 2 * kDescheduledAfter, [&] { return ++num_looks == 1; }, is_crowded));
  EXPECT_EQ(budget.allowance(Clock::now()), kNone);
}

TEST(Spin, AJumpOfTheClockIsNoReasonToStopWhereNobodyWantsTheCpus) {
  SpinBudget budget;
  const auto is_quiet = [] { return false; };
  EXPECT_TRUE(spin(
      budget, Clock::now() - 2 * kDescheduledAfter, [] { return true; }, is_quiet));
  EXPECT_GT(budget.allowance(Clock::now()), kNone);
}

}  // namespace
}  // namespace nodelay
