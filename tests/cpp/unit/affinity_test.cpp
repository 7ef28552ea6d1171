// SPDX-License-Identifier: MIT
#include "hosts/affinity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "hosts/usable_cpus.h"

namespace nodelay {
namespace {

TEST(Affinity, TheNumberOfCpusIsThatOfTheStatusFile) {
  EXPECT_EQ(affinity_cpus(), allowed_cpus(this_machine()));
}

TEST(Affinity, AThreadLeavesItsCpuForAnotherAndMayComeBack) {
  if (affinity_cpus() < 2) GTEST_SKIP() << "there is one CPU only";
  const int num_cpus = affinity_cpus();
  const int cpu = current_cpu();
  ASSERT_GE(cpu, 0);
  EXPECT_TRUE(leave_cpu(cpu));
  EXPECT_EQ(affinity_cpus(), num_cpus);
}

TEST(Affinity, AThreadThatMayUseOneCpuStaysThere) {
  std::thread bound([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int cpu = current_cpu();
    CPU_SET(static_cast<std::size_t>(cpu), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_FALSE(leave_cpu(cpu));
    EXPECT_EQ(current_cpu(), cpu);
  });
  bound.join();
}

}  // namespace
}  // namespace nodelay
