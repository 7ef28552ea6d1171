// SPDX-License-Identifier: MIT
#include "hosts/usable_cpus.h"

#include <gtest/gtest.h>

#include "hosts/affinity.h"
#include "hosts/methods.h"
#include "unit/made_up_machine.h"

namespace nodelay {
namespace {

TEST(UsableCpus, TheAllowedListIsThatOfTheStatusFile) {
  const MadeUpMachine machine(
      {{"/proc/self/status", "Name:\tR\nCpus_allowed:\tf\nCpus_allowed_list:\t0-2,7\n"}}, {});
  EXPECT_EQ(allowed_cpus(machine.get()), 4);
}

TEST(UsableCpus, WithoutAStatusFileThereIsNoAllowedList) {
  EXPECT_EQ(allowed_cpus(MadeUpMachine({}, {}).get()), std::nullopt);
  EXPECT_EQ(allowed_cpus(MadeUpMachine({{"/proc/self/status", "Name:\tR\n"}}, {}).get()),
            std::nullopt);
  EXPECT_EQ(cores_by_method("/proc/self/status", MadeUpMachine({}, {}).get())->cores, std::nullopt);
}

TEST(UsableCpus, ThisProcessMayUseNoMoreThanItsAffinityAllows) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(usable_cpus(), affinity_cpus());
}

}  // namespace
}  // namespace nodelay
