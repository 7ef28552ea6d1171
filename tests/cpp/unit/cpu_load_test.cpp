// SPDX-License-Identifier: MIT
#include "hosts/cpu_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/made_up_machine.h"

namespace nodelay {
namespace {

TEST(CpuLoad, TheThreeAveragesAreTheFirstFields) {
  const MadeUpMachine machine({{"/proc/loadavg", "0.52 12.00 0.4 2/345 6789\n"}}, {});
  EXPECT_THAT(cpu_load(machine.get()), testing::Optional(testing::ElementsAre(0.52, 12.0, 0.4)));
}

TEST(CpuLoad, WithoutThreeNumbersTheLoadIsUnknown) {
  EXPECT_EQ(cpu_load(MadeUpMachine({}, {}).get()), std::nullopt);
  for (const char* text : {"", "0.5 0.4", "a b c", "0.5 0.4 0.3x"}) {
    EXPECT_EQ(cpu_load(MadeUpMachine({{"/proc/loadavg", text}}, {}).get()), std::nullopt) << text;
  }
}

TEST(CpuLoad, AMachineIsCrowdedWhereMoreProcessesAreRunnableThanItHasCpus) {
  const MadeUpMachine machine({{"/proc/loadavg", "0.52 12.00 0.4 3/345 6789\n"}}, {});
  EXPECT_EQ(runnable_processes(machine.get()), 3);
  EXPECT_TRUE(is_crowded(machine.get(), 2));
  EXPECT_FALSE(is_crowded(machine.get(), 3));
}

TEST(CpuLoad, AMachineThatDoesNotTellIsNotCrowded) {
  for (const char* text : {"", "0.5 0.4 0.3", "0.5 0.4 0.3 x/5", "0.5 0.4 0.3 9"}) {
    const MadeUpMachine machine({{"/proc/loadavg", text}}, {});
    EXPECT_EQ(runnable_processes(machine.get()), std::nullopt) << text;
    EXPECT_FALSE(is_crowded(machine.get(), 1)) << text;
  }
}

}  // namespace
}  // namespace nodelay
