// SPDX-License-Identifier: MIT
#include "base/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace nodelay {
namespace {

// Each test has the limits that it found when it began.
class OpenFilesTest : public testing::Test {
 protected:
  OpenFilesTest() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~OpenFilesTest() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

  void SetUp() override {
    if (before_.rlim_max < 4096) GTEST_SKIP() << "the hard limit is too low";
  }

  void set_limit(rlim_t limit) {
    const rlimit wanted{limit, before_.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &wanted), 0);
  }

  rlim_t limit() {
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    return now.rlim_cur;
  }

  static Descriptor null() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

  rlimit before_{};
};

TEST_F(OpenFilesTest, ADescriptorMovesToWhereSelectDoesNotLook) {
  set_limit(2048);
  const Descriptor moved = moved_out_of_the_way(null());
  EXPECT_GE(moved.get(), 1024);
  EXPECT_EQ(::fcntl(moved.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(OpenFilesTest, ADescriptorStaysWhereThereIsNoOtherPlace) {
  set_limit(1024);
  const Descriptor kept = moved_out_of_the_way(null());
  EXPECT_GE(kept.get(), 0);
  EXPECT_LT(kept.get(), 1024);
  EXPECT_LT(moved_out_of_the_way(Descriptor()).get(), 0);
}

TEST_F(OpenFilesTest, TheLimitIsRaisedForManyAndTheOriginalRemembered) {
  set_limit(1024);
  OpenFilesLimit own;
  own.make_room_for(100);
  EXPECT_EQ(limit(), 1024u);
  EXPECT_FALSE(own.original());
  own.make_room_for(2000);
  EXPECT_GE(limit(), 3024u);
  own.make_room_for(3000);
  EXPECT_EQ(own.original(), 1024u);
}

TEST_F(OpenFilesTest, TheLimitIsNotRaisedBeyondWhatMayBe) {
  set_limit(1024);
  OpenFilesLimit own;
  own.make_room_for(std::size_t{1} << 40);
  EXPECT_EQ(limit(), before_.rlim_max);
  EXPECT_EQ(most_open_descriptors(), before_.rlim_max);
}

}  // namespace
}  // namespace nodelay
