// SPDX-License-Identifier: MIT
#include "cluster/node.h"

#include <gtest/gtest.h>

#include <csignal>
#include <future>

#include "fixture/peer.h"
#include "fixture/probe_node.h"
#include "hosts/usable_cpus.h"

namespace nodelay {
namespace {

// A node whose worker is played by the test.
class NodeTest : public testing::Test {
 protected:
  NodeTest() {
    DescriptorPair pair = make_stream_pair();
    node_.set_stream(std::move(pair.first), Protocol::framed);
    node_.send(patience_end());
    worker_.emplace(std::move(pair.second));
    hello_ = worker_->receive();
  }

  void call(const std::string& text) {
    node_.post(buffer_of(text), true);
    EXPECT_TRUE(node_.send(patience_end()));
  }

  std::shared_ptr<Session> session_ = std::make_shared<Session>();
  Node node_{session_, {3, "localhost", "a command"}};
  std::optional<Peer> worker_;
  std::optional<Frame> hello_;
};

TEST_F(NodeTest, SaysHelloFirst) {
  ASSERT_TRUE(hello_);
  EXPECT_EQ(hello_->kind, FrameKind::hello);
  const auto hello = decode_hello(bytes_of(hello_->body));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->protocol_version, kProtocolVersion);
}

TEST_F(NodeTest, NumbersItsCallsFromOne) {
  call("a");
  call("b");
  for (const std::uint64_t request : {1u, 2u}) {
    const auto frame = worker_->receive();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->kind, FrameKind::call);
    EXPECT_EQ(frame->request, request);
  }
}

TEST_F(NodeTest, TellsTheWorkerWhetherItMaySpin) {
  if (usable_cpus() < 2) GTEST_SKIP() << "there is one CPU only";
  call("a");
  EXPECT_EQ(worker_->receive()->flags, kMaySpin);
  for (int i = 0; i < 10'000; ++i) session_->begin_work();
  call("b");
  EXPECT_EQ(worker_->receive()->flags, 0);
  for (int i = 0; i < 10'000; ++i) session_->end_work();
}

TEST_F(NodeTest, EventsComeBeforeTheResultAndDoNotEndTheCall) {
  call("a");
  worker_->send_hello();
  worker_->send(FrameKind::event, 1, "news");
  worker_->send(FrameKind::result, 1, "end");
  ASSERT_TRUE(node_.read_available());
  auto reply = node_.take_reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(text_of(reply->body), "news");
  EXPECT_EQ(reply->ends_call, false);
  EXPECT_EQ(node_.num_calls(), 1u);
  reply = node_.take_reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(text_of(reply->body), "end");
  EXPECT_EQ(reply->ends_call, true);
  EXPECT_EQ(node_.num_calls(), 0u);
}

TEST_F(NodeTest, GivenUpCallsAreCancelledAndTheirRepliesDropped) {
  call("a");
  call("b");
  node_.give_up_calls();
  EXPECT_EQ(node_.num_calls(), 0u);
  call("c");
  node_.give_up_calls();
  call("d");
  EXPECT_EQ(node_.num_calls(), 1u);
  std::string seen;
  for (int i = 0; i < 7; ++i) {
    const auto frame = worker_->receive();
    ASSERT_TRUE(frame);
    seen += frame->kind == FrameKind::cancel ? " cancel " : " call ";
    seen += std::to_string(frame->request);
  }
  EXPECT_EQ(seen, " call 1 call 2 cancel 1 cancel 2 call 3 cancel 3 call 4");
  worker_->send(FrameKind::event, 1, "dropped");
  for (const std::uint64_t request : {1u, 2u, 3u}) {
    worker_->send(FrameKind::result, request, "dropped");
  }
  worker_->send(FrameKind::result, 4, "wanted");
  EXPECT_EQ(next_reply(node_), "wanted");
  EXPECT_EQ(node_.num_calls(), 0u);
}

TEST_F(NodeTest, BytesThatAreNoFrameLoseTheWorker) {
  worker_->send_raw("Error: cannot open file 'nothing'\n");
  EXPECT_EQ(await_loss(node_).reason, "sent bytes that are not nodelay's protocol");
}

TEST_F(NodeTest, FramesThatAnswerNoCallLoseTheWorker) {
  call("a");
  worker_->send(FrameKind::result, 2, "of another call");
  EXPECT_EQ(await_loss(node_).reason, "sent a frame that answers no call");
}

TEST_F(NodeTest, FramesOfTheMainProcessLoseTheWorker) {
  call("a");
  worker_->send(FrameKind::call, 1, "a call");
  EXPECT_EQ(await_loss(node_).reason, "sent a frame that answers no call");
}

TEST_F(NodeTest, AnUnaskedResultLosesTheWorker) {
  worker_->send(FrameKind::result, 1, "unasked");
  EXPECT_EQ(await_loss(node_).reason, "sent a frame that answers no call");
}

TEST_F(NodeTest, APingIsAnsweredByItsOwnPong) {
  EXPECT_TRUE(node_.has_answered_ping()) << "none is due";
  node_.ping();
  node_.ping();
  for (const std::uint64_t ping : {1u, 2u}) {
    EXPECT_FALSE(node_.has_answered_ping());
    const auto frame = worker_->receive();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->kind, FrameKind::ping);
    EXPECT_EQ(frame->request, ping);
    worker_->send(FrameKind::pong, ping);
    ASSERT_TRUE(node_.read_available());
  }
  EXPECT_TRUE(node_.has_answered_ping());
  EXPECT_TRUE(node_.is_alive());
}

TEST_F(NodeTest, APongIsFoundBehindRepliesAndTheyStayToBeTakenInOrder) {
  call("a");
  call("b");
  node_.ping();
  worker_->send_hello();
  worker_->send(FrameKind::event, 1, "news");
  worker_->send(FrameKind::result, 1, "first");
  worker_->send(FrameKind::pong, 1);
  ASSERT_TRUE(node_.read_available());
  EXPECT_TRUE(node_.has_answered_ping());
  worker_->send(FrameKind::result, 2, "second");
  EXPECT_EQ(node_.num_calls(), 2u);
  for (const auto* text : {"news", "first", "second"}) EXPECT_EQ(next_reply(node_), text);
  EXPECT_EQ(node_.num_calls(), 0u);
}

TEST_F(NodeTest, APongThatComesWithTheRepliesIsCounted) {
  call("a");
  node_.ping();
  worker_->send(FrameKind::pong, 1);
  worker_->send(FrameKind::result, 1, "first");
  EXPECT_EQ(next_reply(node_), "first");
  EXPECT_TRUE(node_.has_answered_ping());
}

TEST_F(NodeTest, RepliesBeforeALateLossAreTakenAfterAPing) {
  call("a");
  node_.ping();
  worker_->send(FrameKind::result, 1, "last");
  ASSERT_TRUE(node_.read_available());
  EXPECT_FALSE(node_.has_answered_ping());
  worker_->close();
  EXPECT_FALSE(node_.is_alive());
  EXPECT_EQ(next_reply(node_), "last");
}

TEST_F(NodeTest, APongToNoPingLosesTheWorkerAndWhatItSent) {
  call("a");
  worker_->send(FrameKind::result, 1, "not to be trusted");
  worker_->send(FrameKind::pong, 1);
  ASSERT_TRUE(node_.read_available());
  node_.has_answered_ping();
  ASSERT_TRUE(node_.loss());
  EXPECT_EQ(node_.loss()->reason, "answered a ping that was not sent");
  EXPECT_FALSE(node_.take_reply());
}

TEST_F(NodeTest, APingToALostOrStoppedNodeGoesNowhere) {
  node_.stop();
  node_.ping();
  EXPECT_FALSE(node_.is_alive());
  EXPECT_FALSE(node_.loss());
  EXPECT_EQ(worker_->receive()->kind, FrameKind::bye);
  EXPECT_FALSE(worker_->receive());
}

TEST_F(NodeTest, WithoutAProcessGetsNoSignal) {
  EXPECT_FALSE(node_.signal(SIGTERM));
  EXPECT_TRUE(node_.is_alive());
}

TEST_F(NodeTest, AnotherVersionLosesTheWorkerAndTheReasonNamesBoth) {
  worker_->send_hello(kProtocolVersion + 41);
  const auto reason = await_loss(node_).reason;
  EXPECT_NE(reason.find("version " + std::to_string(kProtocolVersion + 41)), std::string::npos)
      << reason;
  EXPECT_NE(reason.find("version " + std::to_string(kProtocolVersion) + ";"), std::string::npos)
      << reason;
}

TEST_F(NodeTest, AHelloOfAnotherSizeLosesTheWorker) {
  worker_->send(FrameKind::hello, 0, "hello");
  EXPECT_NE(await_loss(node_).reason.find("version ?"), std::string::npos);
}

TEST_F(NodeTest, NothingIsTakenFromAWorkerThatBrokeTheProtocol) {
  call("a");
  worker_->send_hello(kProtocolVersion + 1);
  worker_->send(FrameKind::result, 1, "not to be trusted");
  ASSERT_TRUE(node_.read_available());
  EXPECT_FALSE(node_.take_reply());
  EXPECT_TRUE(node_.loss());
  EXPECT_FALSE(node_.take_reply());
}

TEST_F(NodeTest, AClosedConnectionWithoutAProcessIsALossToo) {
  call("a");
  worker_->close();
  const Loss loss = await_loss(node_);
  EXPECT_EQ(loss.reason, "closed its connection");
  EXPECT_TRUE(loss.was_in_call);
  EXPECT_FALSE(loss.exit);
}

TEST_F(NodeTest, ALossStaysAsItWasFirst) {
  node_.lose("took too long");
  node_.lose("something else");
  EXPECT_EQ(node_.loss()->reason, "took too long");
  EXPECT_FALSE(node_.loss()->was_in_call);
  EXPECT_TRUE(node_.send(patience_end()));
  node_.wait(patience_end());
}

TEST_F(NodeTest, StoppingItSaysGoodbyeOnce) {
  node_.stop();
  node_.stop();
  EXPECT_TRUE(node_.is_stopped());
  EXPECT_EQ(worker_->receive()->kind, FrameKind::bye);
  EXPECT_FALSE(worker_->receive());
}

TEST_F(NodeTest, AWaitWithNothingToReadEndsWithItsSlice) {
  const TimePoint end = Clock::now() + std::chrono::milliseconds(5);
  while (Clock::now() < end) node_.wait(end);
  EXPECT_FALSE(node_.take_reply());
  EXPECT_FALSE(node_.loss());
}

TEST_F(NodeTest, ASendThatIsNotReadEndsWithItsSliceAndGoesOnLater) {
  const std::string text = patterned(4'000'000);
  node_.post(buffer_of(text), true);
  EXPECT_FALSE(node_.send(Clock::now() + std::chrono::milliseconds(5)));
  EXPECT_EQ(node_.events(), POLLIN | POLLOUT);
  while (node_.events() & POLLOUT) {
    node_.send(Clock::now());
    worker_->read_some();
  }
  const auto frame = worker_->receive();
  ASSERT_TRUE(frame);
  EXPECT_TRUE(frame->body == text);
}

TEST_F(NodeTest, ABigCallGoesOutToAWorkerThatFirstWantsToBeRead) {
  const std::string text = patterned(4'000'000);
  call("a");
  auto worker_side = std::async(std::launch::async, [&] {
    worker_->send(FrameKind::result, 1, text);  // needs the node to read
    worker_->receive();
    return worker_->receive();
  });
  call(text);
  const auto second = worker_side.get();
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->body == text);
  EXPECT_TRUE(next_reply(node_) == text);
}

TEST_F(NodeTest, AMessageOnALossNamesTheWorkerAndWhatHappened) {
  Loss loss;
  loss.reason = "was killed by signal 9 (SIGKILL)";
  loss.exit = ExitStatus{std::nullopt, 9};
  loss.was_in_call = true;
  loss.last_lines = "the last line";
  EXPECT_EQ(describe(node_, loss),
            "Worker 3 on localhost was killed by signal 9 (SIGKILL) in the middle of a call. "
            "SIGKILL is what "
            "the kernel sends when memory runs out. The last lines it wrote:\nthe last line");
}

}  // namespace
}  // namespace nodelay
