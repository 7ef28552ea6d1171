// SPDX-License-Identifier: MIT
#include "hosts/usable_cpus.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace nodelay {
namespace {

namespace fs = std::filesystem;

// A hierarchy of control groups, made up in a temporary folder.
class CpuQuota : public testing::Test {
 protected:
  CpuQuota() { fs::create_directories(mount_ / "job" / "step"); }
  ~CpuQuota() override { fs::remove_all(mount_); }

  void write(const fs::path& file, const std::string& text) const {
    std::ofstream(mount_ / file) << text << '\n';
  }
  double quota(const std::string& group = "/job/step") const { return cpu_quota(mount_, group); }

  const fs::path mount_ =
      fs::temp_directory_path() / ("nodelay-cgroup-" + std::to_string(::getpid()));
};

TEST_F(CpuQuota, WithoutLimitsIsNone) {
  EXPECT_EQ(quota(), 0);
}

TEST_F(CpuQuota, OfVersion2IsRead) {
  write("job/step/cpu.max", "150000 100000");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(CpuQuota, OfVersion1IsRead) {
  write("job/step/cpu.cfs_quota_us", "300000");
  write("job/step/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 3);
}

TEST_F(CpuQuota, MaxAndMinusOneAreNone) {
  write("job/step/cpu.max", "max 100000");
  write("job/cpu.cfs_quota_us", "-1");
  write("job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 0);
}

TEST_F(CpuQuota, TheLeastOfAGroupAndItsParentsHolds) {
  write("cpu.max", "800000 100000");
  write("job/cpu.max", "200000 100000");
  write("job/step/cpu.max", "max 100000");
  EXPECT_EQ(quota(), 2);
  write("job/step/cpu.max", "400000 100000");
  EXPECT_EQ(quota(), 2);
  EXPECT_EQ(quota("/"), 8);
}

TEST_F(CpuQuota, AGroupThatIsNotThereHasTheQuotaOfItsParents) {
  write("cpu.max", "50000 100000");
  EXPECT_EQ(quota("/user.slice/of/another/namespace"), 0.5);
  EXPECT_EQ(quota("/../.."), 0.5);
  EXPECT_EQ(quota(""), 0.5);
}

TEST_F(CpuQuota, GarbageIsPassedOver) {
  write("job/cpu.max", "200000 100000");
  for (const auto* text : {"", "garbage", "100000", "0 100000", "100000 0", "-1 100000", "1 x"}) {
    write("job/step/cpu.max", text);
    EXPECT_EQ(quota(), 2) << text;
  }
}

TEST_F(CpuQuota, HalfOfVersion1IsPassedOver) {
  write("job/step/cpu.cfs_quota_us", "300000");
  EXPECT_EQ(quota(), 0);
}

TEST(UsableCpus, AreAtLeastOneAndNoMoreThanTheMaskAllows) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(usable_cpus(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), 1);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace nodelay
