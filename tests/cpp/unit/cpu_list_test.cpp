// SPDX-License-Identifier: MIT
#include "hosts/cpu_list.h"

#include <gtest/gtest.h>

namespace nodelay {
namespace {

struct Case {
  const char* text;
  std::optional<int> count;
};

TEST(CpuList, CountsTheCpusOfEveryFormThatTheKernelWrites) {
  for (const Case& c : {Case{"0", 1}, Case{"0-3", 4}, Case{"0-3,8", 5}, Case{" 0-1,4-5,9\n", 5},
                        Case{"16-19", 4}, Case{"0-127", 128}}) {
    EXPECT_EQ(count_cpus(c.text), c.count) << c.text;
  }
}

TEST(CpuList, ACpuThatIsNamedTwiceCountsOnce) {
  EXPECT_EQ(count_cpus("0-3,2-5"), 6);
  EXPECT_EQ(count_cpus("8,0-9,3"), 10);
  EXPECT_EQ(count_cpus("1,1,1"), 1);
}

TEST(CpuList, WhatIsNoListHasNoCount) {
  for (const char* text : {"", "\n", ",", "a", "0-", "-1", "3-1", "0-3;8", "0x3", "1-2-3",
                           "0-4294967296", "0-99999999", "1 2"}) {
    EXPECT_EQ(count_cpus(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace nodelay
