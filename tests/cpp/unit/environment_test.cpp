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
    ::setenv("NO_DELAY_TEST", "old", 1);
    ::setenv("NO_DELAY_TEST_LONGER", "kept=with equals sign", 1);
  }
  ~EnvironmentTest() override {
    ::unsetenv("NO_DELAY_TEST");
    ::unsetenv("NO_DELAY_TEST_LONGER");
  }
};

TEST_F(EnvironmentTest, WhatIsNotNamedStaysAsItIs) {
  const auto environment = changed_environment({}, {});
  EXPECT_THAT(environment, Contains("NO_DELAY_TEST=old"));
  EXPECT_THAT(environment, Contains("NO_DELAY_TEST_LONGER=kept=with equals sign"));
}

TEST_F(EnvironmentTest, WhatAMainProcessToldThisOneIsNotHandedOn) {
  ::setenv("NODELAY_LOG", "memory", 1);
  const auto environment = changed_environment({}, {});
  ::unsetenv("NODELAY_LOG");
  EXPECT_THAT(environment, Not(Contains(StartsWith("NODELAY_"))));
}

TEST_F(EnvironmentTest, AVariableThatIsSetStandsThereOnce) {
  const auto environment = changed_environment({{"NO_DELAY_TEST", "new"}}, {});
  EXPECT_THAT(environment, Contains(StartsWith("NO_DELAY_TEST=")).Times(1));
  EXPECT_THAT(environment, Contains("NO_DELAY_TEST=new"));
  EXPECT_THAT(environment, Contains(StartsWith("NO_DELAY_TEST_LONGER=")));
}

TEST_F(EnvironmentTest, AVariableThatIsUnsetIsGone) {
  const auto environment = changed_environment({}, {"NO_DELAY_TEST", "NO_DELAY_TEST_NEVER"});
  EXPECT_THAT(environment, Not(Contains(StartsWith("NO_DELAY_TEST="))));
  EXPECT_THAT(environment, Contains(StartsWith("NO_DELAY_TEST_LONGER=")));
}

TEST_F(EnvironmentTest, AVariableInBothIsSet) {
  const auto environment = changed_environment({{"NO_DELAY_TEST", ""}}, {"NO_DELAY_TEST"});
  EXPECT_THAT(environment, Contains("NO_DELAY_TEST="));
}

TEST_F(EnvironmentTest, ThisProcessKeepsItsOwn) {
  changed_environment({{"NO_DELAY_TEST", "new"}}, {"NO_DELAY_TEST_LONGER"});
  EXPECT_STREQ(std::getenv("NO_DELAY_TEST"), "old");
  EXPECT_NE(std::getenv("NO_DELAY_TEST_LONGER"), nullptr);
}

}  // namespace
}  // namespace nodelay
