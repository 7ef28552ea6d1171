// SPDX-License-Identifier: MIT
#include "launch/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace nodelay {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;

class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() {
    ::setenv("NODELAY_TEST", "old", 1);
    ::setenv("NODELAY_TEST_LONGER", "kept=with equals sign", 1);
  }
  ~EnvironmentTest() override {
    ::unsetenv("NODELAY_TEST");
    ::unsetenv("NODELAY_TEST_LONGER");
  }
};

TEST_F(EnvironmentTest, WhatIsNotNamedStaysAsItIs) {
  const auto environment = changed_environment({}, {});
  EXPECT_THAT(environment, Contains("NODELAY_TEST=old"));
  EXPECT_THAT(environment, Contains("NODELAY_TEST_LONGER=kept=with equals sign"));
}

TEST_F(EnvironmentTest, AVariableThatIsSetStandsThereOnce) {
  const auto environment = changed_environment({{"NODELAY_TEST", "new"}}, {});
  EXPECT_THAT(environment, Contains(StartsWith("NODELAY_TEST=")).Times(1));
  EXPECT_THAT(environment, Contains("NODELAY_TEST=new"));
  EXPECT_THAT(environment, Contains(StartsWith("NODELAY_TEST_LONGER=")));
}

TEST_F(EnvironmentTest, AVariableThatIsUnsetIsGone) {
  const auto environment = changed_environment({}, {"NODELAY_TEST", "NODELAY_TEST_NEVER"});
  EXPECT_THAT(environment, Not(Contains(StartsWith("NODELAY_TEST="))));
  EXPECT_THAT(environment, Contains(StartsWith("NODELAY_TEST_LONGER=")));
}

TEST_F(EnvironmentTest, AVariableInBothIsSet) {
  const auto environment = changed_environment({{"NODELAY_TEST", ""}}, {"NODELAY_TEST"});
  EXPECT_THAT(environment, Contains("NODELAY_TEST="));
}

TEST_F(EnvironmentTest, ThisProcessKeepsItsOwn) {
  changed_environment({{"NODELAY_TEST", "new"}}, {"NODELAY_TEST_LONGER"});
  EXPECT_STREQ(std::getenv("NODELAY_TEST"), "old");
  EXPECT_NE(std::getenv("NODELAY_TEST_LONGER"), nullptr);
}

}  // namespace
}  // namespace nodelay
