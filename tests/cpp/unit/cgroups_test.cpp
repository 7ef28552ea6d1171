// SPDX-License-Identifier: MIT
#include "hosts/cgroups.h"

#include <gtest/gtest.h>

#include "unit/made_up_machine.h"

namespace nodelay {
namespace {

using Texts = MadeUpMachine::Texts;

const char* const kMountsV1 =
    "proc /proc proc rw 0 0\n"
    "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"
    "cgroup /sys/fs/cgroup/cpuset cgroup rw,nosuid,cpuset 0 0\n";
const char* const kGroupsV1 = "5:cpuset:/job\n3:cpu,cpuacct:/slurm/job/step\n1:name=systemd:/\n";
const char* const kMountsV2 = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
const char* const kGroupsV2 = "0::/user/session\n";

Texts joined(Texts files, const char* mounts, const char* groups) {
  files["/proc/self/mounts"] = mounts;
  files["/proc/self/cgroup"] = groups;
  return files;
}

std::optional<double> quota_v1(const Texts& files) {
  return cgroup_v1_quota(MadeUpMachine(joined(files, kMountsV1, kGroupsV1), {}).get());
}

std::optional<double> quota_v2(const Texts& files) {
  return cgroup_v2_quota(MadeUpMachine(joined(files, kMountsV2, kGroupsV2), {}).get());
}

TEST(Cgroups, TheQuotaOfVersion2IsThatOfTheGroup) {
  EXPECT_EQ(quota_v2({{"/sys/fs/cgroup/user/session/cpu.max", "150000 100000\n"}}), 1.5);
}

TEST(Cgroups, ATighterQuotaOfAParentCounts) {
  EXPECT_EQ(quota_v2({{"/sys/fs/cgroup/user/session/cpu.max", "400000 100000\n"},
                      {"/sys/fs/cgroup/user/cpu.max", "200000 100000\n"}}),
            2);
  EXPECT_EQ(quota_v2({{"/sys/fs/cgroup/user/session/cpu.max", "max 100000\n"},
                      {"/sys/fs/cgroup/cpu.max", "300000 100000\n"}}),
            3);
  const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct/slurm/";
  EXPECT_EQ(quota_v1({{cpu + "job/step/cpu.cfs_quota_us", "800000\n"},
                      {cpu + "job/step/cpu.cfs_period_us", "100000\n"},
                      {cpu + "job/cpu.cfs_quota_us", "400000\n"},
                      {cpu + "job/cpu.cfs_period_us", "100000\n"},
                      {cpu + "cpu.cfs_quota_us", "-1\n"},
                      {cpu + "cpu.cfs_period_us", "100000\n"}}),
            4);
}

TEST(Cgroups, NoQuotaIsNoValue) {
  for (const char* text : {"max 100000\n", "", "100000", "x y", "0 100000", "-1 100000", "1 0"}) {
    EXPECT_EQ(quota_v2({{"/sys/fs/cgroup/user/session/cpu.max", text}}), std::nullopt) << text;
  }
  EXPECT_EQ(quota_v2({}), std::nullopt);
  EXPECT_EQ(quota_v1({{"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
                      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}}),
            std::nullopt);
  EXPECT_EQ(quota_v1({{"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "1000\n"}}), std::nullopt);
}

TEST(Cgroups, InAContainerTheGroupIsMountedInPlaceOfTheRoot) {
  EXPECT_EQ(quota_v2({{"/sys/fs/cgroup/cpu.max", "250000 100000\n"}}), 2.5);
}

TEST(Cgroups, AGroupOutsideOfTheNamespaceStaysBelowTheMount) {
  const MadeUpMachine machine({{"/proc/self/mounts", kMountsV2},
                               {"/proc/self/cgroup", "0::/../../other\n"},
                               {"/sys/fs/cgroup/cpu.max", "max 100000\n"},
                               {"/sys/cpu.max", "100000 100000\n"},
                               {"/sys/fs/cpu.max", "100000 100000\n"}},
                              {});
  EXPECT_EQ(cgroup_v2_quota(machine.get()), std::nullopt);
}

TEST(Cgroups, DamagedLinesOfTheMountTableArePassedOver) {
  const MadeUpMachine machine(
      joined({{"/sys/fs/my cgroup/user/session/cpu.max", "200000 100000\n"}},
             "C:\\Program Files /mnt cgroup2 rw 0 0\n\nnone\n"
             "cgroup2 /sys/fs/my\\040cgroup cgroup2 rw 0 0\n",
             kGroupsV2),
      {});
  EXPECT_EQ(cgroup_v2_quota(machine.get()), 2);
}

TEST(Cgroups, BothVersionsAreLookedAtEachForItself) {
  const std::string mounts =
      std::string(kMountsV1) + "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
  const std::string groups = std::string(kGroupsV1) + kGroupsV2;
  const MadeUpMachine machine(joined({{"/sys/fs/cgroup/cpuset/job/cpuset.cpus", "0-3\n"},
                                      {"/sys/fs/cgroup/unified/user/cpu.max", "100000 100000\n"}},
                                     mounts.c_str(), groups.c_str()),
                              {});
  EXPECT_EQ(cgroup_v1_cpuset(machine.get()), 4);
  EXPECT_EQ(cgroup_v2_quota(machine.get()), 1);
  EXPECT_EQ(cgroup_v1_quota(machine.get()), std::nullopt);
  EXPECT_EQ(cgroup_v2_cpuset(machine.get()), std::nullopt);
}

TEST(Cgroups, AnEmptyCpusetIsThatOfTheParent) {
  const MadeUpMachine machine(
      joined({{"/sys/fs/cgroup/user/session/cpuset.cpus", "\n"},
              {"/sys/fs/cgroup/user/cpuset.cpus", "0-5\n"},
              {"/sys/fs/cgroup/user/session/cpuset.cpus.effective", "0-1,4\n"}},
             kMountsV2, kGroupsV2),
      {});
  EXPECT_EQ(cgroup_v2_cpuset(machine.get()), 6);
  EXPECT_EQ(cgroup_v2_effective_cpuset(machine.get()), 3);
}

TEST(Cgroups, AMachineWithoutControlGroupsHasNoValues) {
  const MadeUpMachine machine({}, {});
  EXPECT_EQ(cgroup_v1_cpuset(machine.get()), std::nullopt);
  EXPECT_EQ(cgroup_v1_quota(machine.get()), std::nullopt);
  EXPECT_EQ(cgroup_v2_cpuset(machine.get()), std::nullopt);
  EXPECT_EQ(cgroup_v2_effective_cpuset(machine.get()), std::nullopt);
  EXPECT_EQ(cgroup_v2_quota(machine.get()), std::nullopt);
}

TEST(Cgroups, AQuotaIsRoundedToAtLeastOneCpu) {
  EXPECT_EQ(whole_cpus(0.1), 1);
  EXPECT_EQ(whole_cpus(1.49), 1);
  EXPECT_EQ(whole_cpus(1.5), 2);
  EXPECT_GT(whole_cpus(1e300), 1);
}

}  // namespace
}  // namespace nodelay
