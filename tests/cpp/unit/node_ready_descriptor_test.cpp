// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <nodelay/frame.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "cluster/node.h"

namespace nodelay {
namespace {

bool is_readable(int descriptor) {
  pollfd watched{descriptor, POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

std::string frame(FrameKind kind, std::uint64_t request, const std::string& body) {
  const HeaderBytes header = encode_header({kind, 0, request, body.size()});
  return std::string(reinterpret_cast<const char*>(header.data()), header.size()) + body;
}

std::shared_ptr<const Buffer> call_body() {
  auto body = std::make_shared<Buffer>();
  body->append("call", 4);
  return body;
}

// A node whose worker is the test itself.
class NodeReadyDescriptorTest : public testing::Test {
 protected:
  NodeReadyDescriptorTest() { node_.set_stream(std::move(pair_.first), Protocol::framed); }

  void call() {
    node_.post(call_body(), true);
    node_.send(Clock::now());
  }
  void worker_sends(const std::string& bytes) {
    ASSERT_EQ(::send(pair_.second.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  std::string take_body() {
    const auto reply = node_.take_reply();
    if (!reply) return "nothing";
    std::string body(reinterpret_cast<const char*>(reply->body.data()), reply->body.size());
    node_.release_reply();
    return body;
  }
  bool is_ready() { return is_readable(node_.ready_descriptor()); }

  DescriptorPair pair_ = make_stream_pair();
  Node node_{std::make_shared<Session>(), NodeIdentity{1, "localhost", "test"}};
};

TEST_F(NodeReadyDescriptorTest, IsReadableFromTheReplyUntilItIsTaken) {
  const int descriptor = node_.ready_descriptor();
  EXPECT_FALSE(is_readable(descriptor));
  call();
  EXPECT_FALSE(is_readable(descriptor));
  worker_sends(frame(FrameKind::result, 1, "one"));
  EXPECT_TRUE(is_readable(descriptor));
  ASSERT_TRUE(node_.read_available());
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(take_body(), "one");
  EXPECT_FALSE(is_readable(descriptor));
  EXPECT_EQ(node_.ready_descriptor(), descriptor);
}

TEST_F(NodeReadyDescriptorTest, TellsOfAReplyThatWasReadAheadBeforeItWasMade) {
  call();
  worker_sends(frame(FrameKind::result, 1, "one"));
  ASSERT_TRUE(node_.read_available());
  EXPECT_TRUE(is_ready());
  EXPECT_EQ(take_body(), "one");
  EXPECT_FALSE(is_ready());
}

TEST_F(NodeReadyDescriptorTest, TellsOfASecondReplyThatWasReadWithTheFirst) {
  const int descriptor = node_.ready_descriptor();
  call();
  call();
  worker_sends(frame(FrameKind::result, 1, "one") + frame(FrameKind::result, 2, "two"));
  ASSERT_TRUE(node_.read_available());
  EXPECT_EQ(take_body(), "one");
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(take_body(), "two");
  EXPECT_FALSE(is_readable(descriptor));
}

TEST_F(NodeReadyDescriptorTest, TellsOfTheRestOfAReplyAtEveryCut) {
  for (std::size_t cut = 1; cut < kHeaderBytes + 4; ++cut) {
    call();
    const std::string sent = frame(FrameKind::result, cut, "body");
    worker_sends(sent.substr(0, cut));
    ASSERT_TRUE(node_.read_available());
    const int descriptor = node_.ready_descriptor();
    EXPECT_FALSE(is_readable(descriptor)) << "cut at " << cut;
    worker_sends(sent.substr(cut));
    EXPECT_TRUE(is_readable(descriptor)) << "cut at " << cut;
    ASSERT_TRUE(node_.read_available());
    EXPECT_TRUE(is_readable(descriptor)) << "cut at " << cut;
    EXPECT_EQ(take_body(), "body");
    EXPECT_FALSE(is_readable(descriptor)) << "cut at " << cut;
  }
}

TEST_F(NodeReadyDescriptorTest, PassesOverTheReplyToACallThatWasGivenUp) {
  call();
  node_.give_up_calls();
  EXPECT_FALSE(is_ready());
  worker_sends(frame(FrameKind::event, 1, "progress") + frame(FrameKind::result, 1, ""));
  EXPECT_FALSE(is_ready());
  call();
  worker_sends(frame(FrameKind::result, 2, "wanted"));
  EXPECT_TRUE(is_ready());
  ASSERT_TRUE(node_.read_available());
  EXPECT_EQ(take_body(), "wanted");
}

TEST_F(NodeReadyDescriptorTest, IsReadableOnceTheWorkerIsGoneAndStaysSo) {
  const int descriptor = node_.ready_descriptor();
  call();
  pair_.second.close();
  EXPECT_TRUE(is_readable(descriptor));
  ASSERT_TRUE(node_.read_available());
  ASSERT_TRUE(node_.loss());
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(take_body(), "nothing");
  EXPECT_TRUE(is_readable(descriptor));
}

TEST_F(NodeReadyDescriptorTest, OfALostNodeIsReadableFromTheStart) {
  pair_.second.close();
  ASSERT_TRUE(node_.read_available());
  EXPECT_TRUE(is_ready());
}

TEST_F(NodeReadyDescriptorTest, IsReadableWhileAReplyThatAPongCameBehindWaits) {
  const int descriptor = node_.ready_descriptor();
  call();
  node_.ping();
  worker_sends(frame(FrameKind::result, 1, "value") + frame(FrameKind::pong, 1, ""));
  ASSERT_TRUE(node_.read_available());
  EXPECT_TRUE(node_.has_answered_ping());
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(take_body(), "value");
  EXPECT_FALSE(is_readable(descriptor));
}

TEST_F(NodeReadyDescriptorTest, IsNotReadableForALatePong) {
  call();
  node_.ping();
  worker_sends(frame(FrameKind::pong, 1, ""));
  EXPECT_FALSE(is_ready());
  EXPECT_TRUE(node_.has_answered_ping());
}

TEST_F(NodeReadyDescriptorTest, IsNotReadableForAGivenUpReplyThatAPongCameBehind) {
  call();
  node_.ping();
  worker_sends(frame(FrameKind::result, 1, "value") + frame(FrameKind::pong, 1, ""));
  ASSERT_TRUE(node_.read_available());
  EXPECT_TRUE(node_.has_answered_ping());
  node_.give_up_calls();
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(take_body(), "nothing");
}

}  // namespace
}  // namespace nodelay
