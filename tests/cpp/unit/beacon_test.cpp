// SPDX-License-Identifier: MIT
#include "net/beacon.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace nodelay {
namespace {

bool is_readable(int descriptor) {
  pollfd watched{descriptor, POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1 && (watched.revents & POLLIN) != 0;
}

// What R's socketSelect() calls.
bool is_selected(int descriptor) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(descriptor, &set);
  timeval now{};
  return ::select(descriptor + 1, &set, nullptr, nullptr, &now) == 1;
}

class BeaconTest : public testing::Test {
 protected:
  void send_byte() { ASSERT_EQ(::send(peer_.get(), "x", 1, MSG_NOSIGNAL), 1); }
  void take_byte() {
    char byte = 0;
    ASSERT_EQ(::recv(stream_.get(), &byte, 1, 0), 1);
  }
  void expect_readable(bool expected) {
    EXPECT_EQ(is_readable(beacon_.descriptor()), expected);
    EXPECT_EQ(is_selected(beacon_.descriptor()), expected);
  }

  DescriptorPair pair_ = make_stream_pair();
  Descriptor& stream_ = pair_.first;
  Descriptor& peer_ = pair_.second;
  DescriptorPair process_pair_ = make_stream_pair();  // stands for a process's descriptor
  Beacon beacon_{stream_.get(), process_pair_.first.get()};
};

TEST_F(BeaconTest, IsReadableExactlyWhileItsStreamIs) {
  expect_readable(false);
  for (int round = 0; round < 3; ++round) {
    send_byte();
    expect_readable(true);
    expect_readable(true);
    take_byte();
    expect_readable(false);
  }
}

TEST_F(BeaconTest, IsReadableWhileItIsRaised) {
  for (int round = 0; round < 3; ++round) {
    beacon_.set_raised(true);
    beacon_.set_raised(true);
    expect_readable(true);
    beacon_.set_raised(false);
    beacon_.set_raised(false);
    expect_readable(false);
  }
}

TEST_F(BeaconTest, LoweringItDoesNotHideTheStream) {
  beacon_.set_raised(true);
  send_byte();
  beacon_.set_raised(false);
  expect_readable(true);
}

TEST_F(BeaconTest, IsReadableOnceThePeerHasClosed) {
  peer_.close();
  expect_readable(true);
}

TEST_F(BeaconTest, IsReadableOnceTheProcessHasEnded) {
  process_pair_.second.close();
  expect_readable(true);
}

TEST_F(BeaconTest, AClosedStreamDropsOut) {
  send_byte();
  stream_.close();
  expect_readable(false);
  beacon_.set_raised(true);
  expect_readable(true);
}

TEST_F(BeaconTest, ADuplicateOutlivesIt) {
  Descriptor duplicate;
  {
    const Beacon beacon(stream_.get(), -1);
    duplicate = Descriptor(::dup(beacon.descriptor()));
  }
  EXPECT_FALSE(is_readable(duplicate.get()));
  send_byte();
  EXPECT_TRUE(is_readable(duplicate.get()));
}

TEST_F(BeaconTest, NobodyCanTakeBytesFromTheStreamThroughIt) {
  send_byte();
  std::array<char, 8> bytes;
  EXPECT_EQ(::recv(beacon_.descriptor(), bytes.data(), bytes.size(), 0), -1);
  EXPECT_EQ(::read(beacon_.descriptor(), bytes.data(), bytes.size()), -1);
  EXPECT_EQ(::send(beacon_.descriptor(), "y", 1, MSG_NOSIGNAL), -1);
  take_byte();
}

}  // namespace
}  // namespace nodelay
