// SPDX-License-Identifier: MIT
#include "hosts/slurm_nodelist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nodelay {
namespace {

using testing::ElementsAre;
using testing::Optional;

using Names = std::vector<std::string>;
using Counts = std::vector<int>;

TEST(SlurmNodeList, IsExpandedInItsOrder) {
  const std::vector<std::pair<const char*, Names>> cases = {
      {"n1", {"n1"}},
      {"n1,m5", {"n1", "m5"}},
      {"n[1-3]", {"n1", "n2", "n3"}},
      {"n[08-11,13],m5", {"n08", "n09", "n10", "n11", "n13", "m5"}},
      {"n[008-011]", {"n008", "n009", "n010", "n011"}},
      {"n[8-11]", {"n8", "n9", "n10", "n11"}},
      {"n[1,001]", {"n1", "n001"}},
      {"a[1-2]b[3-4]", {"a1b3", "a1b4", "a2b3", "a2b4"}},
      {"n[1-2]-ib,c", {"n1-ib", "n2-ib", "c"}},
      {" a1 , b1 ", {"a1", "b1"}},
      {"n[1, 3]", {"n1", "n03"}},
      {"n[1 ,3-4 ]", {"n1", "n3", "n4"}},
      {"n[1,3-4,  11-13]", {"n1", "n3", "n4", "n0011", "n0012", "n0013"}},
      {"a1,b[   02-03,6-7]", {"a1", "b00002", "b00003", "b6", "b7"}},
      {"n[9-011]", {"n9", "n10", "n11"}},
      {"n1,n1", {"n1", "n1"}},
  };
  for (const auto& [text, names] : cases)
    EXPECT_THAT(expand_node_list(text), Optional(names)) << text;
}

TEST(SlurmNodeList, WhatIsNoListIsNotExpanded) {
  for (const char* text :
       {"", " ", ",", "n[1-2", "n1-2]", "n[2-1]", "n[1-]", "n[-1]", "n[]", "n[a-b]", "n[1-2]]",
        "n[[1-2]]", "n[1;2]", "n[0-9999999]", "n[0-999][0-999][0-999]", "n[99999999999]"}) {
    EXPECT_EQ(expand_node_list(text), std::nullopt) << text;
  }
}

TEST(SlurmNodeList, BlanksWithinANumberOrARangeAreNotExpanded) {
  for (const char* text : {"n[1 -2]", "n[1- 2]", "n[1 2]", "n[ ]"}) {
    EXPECT_EQ(expand_node_list(text), std::nullopt) << text;
  }
}

TEST(SlurmNodeList, ANumberOfEndlessWidthIsNotExpanded) {
  for (const char pad : {' ', '0'}) {
    EXPECT_TRUE(expand_node_list("n[" + std::string(63, pad) + "1]"));
    EXPECT_FALSE(expand_node_list("n[" + std::string(64, pad) + "1]"));
  }
}

TEST(SlurmNodeList, CountsAreRepeated) {
  EXPECT_THAT(expand_node_counts("2(x3),4"), Optional(ElementsAre(2, 2, 2, 4)));
  EXPECT_THAT(expand_node_counts("2(x2),3,2"), Optional(ElementsAre(2, 2, 3, 2)));
  EXPECT_THAT(expand_node_counts("8"), Optional(ElementsAre(8)));
}

TEST(SlurmNodeList, WhatIsNoListOfCountsIsNotExpanded) {
  for (const char* text :
       {"", "x", "2(x)", "2(x3", "2(3)", "-1", "2(x0)", "2(x99999999)", "(x2)"}) {
    EXPECT_EQ(expand_node_counts(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace nodelay
