// SPDX-License-Identifier: MIT
#include "net/packet.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture/bytes.h"
#include "fixture/waiting.h"
#include "wire/fork_message.h"

namespace nodelay {
namespace {

class PacketTest : public testing::Test {
 protected:
  PacketNews receive() { return receive_packet(pair_.second.get(), packet_); }

  DescriptorPair pair_ = make_packet_pair();
  Packet packet_;
};

TEST_F(PacketTest, PacketsStayApart) {
  EXPECT_EQ(receive(), PacketNews::nothing);
  EXPECT_TRUE(send_packet(pair_.first.get(), bytes_of("one"), {}));
  EXPECT_TRUE(send_packet(pair_.first.get(), bytes_of("two"), {}));
  ASSERT_EQ(receive(), PacketNews::packet);
  EXPECT_EQ(text_of(packet_.bytes), "one");
  ASSERT_EQ(receive(), PacketNews::packet);
  EXPECT_EQ(text_of(packet_.bytes), "two");
  EXPECT_EQ(receive(), PacketNews::nothing);
}

TEST_F(PacketTest, DescriptorsArriveInOrderAndAreNotHandedOn) {
  DescriptorPair pipe = make_stream_pair();
  const int ends[] = {pipe.first.get(), pipe.second.get()};
  EXPECT_TRUE(send_packet(pair_.first.get(), bytes_of("both"), ends));
  pipe = {};
  ASSERT_EQ(receive(), PacketNews::packet);
  ASSERT_EQ(packet_.descriptors.size(), 2u);
  for (const Descriptor& each : packet_.descriptors) {
    EXPECT_EQ(::fcntl(each.get(), F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::write(packet_.descriptors[0].get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(packet_.descriptors[1].get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(PacketTest, AnEndThatIsClosedIsNews) {
  pair_.first.close();
  EXPECT_EQ(receive(), PacketNews::closed);
  EXPECT_FALSE(send_packet(pair_.second.get(), bytes_of("lost"), {}));
}

TEST_F(PacketTest, APacketLongerThanTheLimitEndsTheConversation) {
  const std::string longest(kLongestForkRequest, 'x');
  EXPECT_TRUE(send_packet(pair_.first.get(), bytes_of(longest), {}));
  EXPECT_EQ(receive(), PacketNews::packet);
  EXPECT_TRUE(send_packet(pair_.first.get(), bytes_of(longest + "x"), {}));
  EXPECT_EQ(receive(), PacketNews::closed);
}

TEST_F(PacketTest, ManyDescriptorsAreNotSent) {
  const std::vector<int> many(kMostForkDescriptors + 1, STDIN_FILENO);
  EXPECT_FALSE(send_packet(pair_.first.get(), bytes_of("many"), many));
}

TEST_F(PacketTest, NobodyWaitsForAPeerThatDoesNotRead) {
  int num_sent = 0;
  while (send_packet(pair_.first.get(), bytes_of("x"), {}) && num_sent < 100000) ++num_sent;
  EXPECT_GT(num_sent, 0);
  EXPECT_LT(num_sent, 100000);
}

}  // namespace
}  // namespace nodelay
