// SPDX-License-Identifier: MIT
#include "worker/shared_cpu.h"

#include <gtest/gtest.h>

namespace nodelay {
namespace {

// How many quick calls meet the main process on one CPU until the worker should leave it.
int calls_until_leaving(SharedCpu& shared) {
  int num_calls = 1;
  while (!shared.should_leave(1, 1, true)) {
    if (++num_calls > 10'000) return -1;
  }
  return num_calls;
}

void meet_apart(SharedCpu& shared, int num_calls) {
  for (int i = 0; i < num_calls; ++i) EXPECT_FALSE(shared.should_leave(2, 1, true));
}

TEST(SharedCpu, AWorkerLeavesAfterSeveralQuickCallsInARow) {
  SharedCpu shared;
  EXPECT_EQ(calls_until_leaving(shared), 16);
}

TEST(SharedCpu, CallsAfterASleepAreNoReasonToLeave) {
  SharedCpu shared;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(shared.should_leave(1, 1, false));
}

TEST(SharedCpu, AMainProcessThatShunsNoCpuIsNoReasonToLeave) {
  SharedCpu shared;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(shared.should_leave(0, 0, true));
    EXPECT_FALSE(shared.should_leave(1, 0, true));
  }
}

TEST(SharedCpu, AMoveThatPaidIsMadeAgainAsSoon) {
  SharedCpu shared;
  calls_until_leaving(shared);
  meet_apart(shared, 16);
  EXPECT_EQ(calls_until_leaving(shared), 16);
}

TEST(SharedCpu, MovesThatDidNotPayAreMadeLessAndLessOften) {
  SharedCpu shared;
  calls_until_leaving(shared);
  EXPECT_EQ(calls_until_leaving(shared), 16) << "the first move is judged by the next";
  EXPECT_EQ(calls_until_leaving(shared), 32);
  meet_apart(shared, 15);
  EXPECT_EQ(calls_until_leaving(shared), 64);
  for (int i = 0; i < 10; ++i) calls_until_leaving(shared);
  EXPECT_EQ(calls_until_leaving(shared), 128) << "never more than this";
}

}  // namespace
}  // namespace nodelay
