// SPDX-License-Identifier: MIT
#include "launch/exit_status.h"

#include <gtest/gtest.h>

namespace nodelay {
namespace {

TEST(ExitStatus, TellsTheStatus) {
  EXPECT_EQ(describe({0, std::nullopt}), "exited with status 0");
  EXPECT_EQ(describe({3, std::nullopt}), "exited with status 3");
}

TEST(ExitStatus, TellsTheSignalWithItsName) {
  EXPECT_EQ(describe({std::nullopt, 9}), "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(describe({std::nullopt, 11}), "was killed by signal 11 (SIGSEGV)");
}

TEST(ExitStatus, ASignalWithoutANameHasItsNumber) {
  EXPECT_EQ(describe({std::nullopt, 63}), "was killed by signal 63");
}

TEST(ExitStatus, SaysSoWhereNobodyKnows) {
  EXPECT_EQ(describe({}), "ended, nobody knows how");
}

}  // namespace
}  // namespace nodelay
