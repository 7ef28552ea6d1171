// SPDX-License-Identifier: MIT
#include "cluster/node_set.h"

#include <gtest/gtest.h>

#include <csignal>
#include <future>

#include "fixture/peer.h"
#include "fixture/probe_node.h"

namespace nodelay {
namespace {

// As many nodes as the parameter says, whose workers are played by the test: few are polled
// anew each time, many are watched by a queue in the kernel.
class NodeSetTest : public testing::TestWithParam<std::size_t> {
 protected:
  NodeSetTest() {
    for (std::size_t i = 0; i < GetParam(); ++i) {
      DescriptorPair pair = make_stream_pair();
      nodes_.push_back(std::make_unique<Node>(
          session_, NodeIdentity{static_cast<int>(i) + 1, "localhost", "a command"}));
      nodes_.back()->set_stream(std::move(pair.first), Protocol::framed);
      nodes_.back()->send(patience_end());
      workers_.push_back(std::make_unique<Peer>(std::move(pair.second)));
      workers_.back()->send_hello();
      nodes_.back()->wait(patience_end());
    }
    for (const auto& node : nodes_) EXPECT_FALSE(node->take_reply());
    std::vector<Node*> borrowed;
    for (const auto& node : nodes_) borrowed.push_back(node.get());
    set_.emplace(borrowed, *session_);
  }

  std::vector<std::size_t> news() {
    const auto news = set_->wait(patience_end());
    return {news.begin(), news.end()};
  }

  std::shared_ptr<Session> session_ = std::make_shared<Session>();
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Peer>> workers_;
  std::optional<NodeSet> set_;
};

TEST_P(NodeSetTest, TellsWhichNodeHasNews) {
  for (std::size_t i = GetParam(); i-- > 0;) {
    nodes_[i]->post(buffer_of("call"), true);
    nodes_[i]->send(patience_end());
    workers_[i]->send(FrameKind::result, 1, "value");
    EXPECT_EQ(news(), std::vector<std::size_t>{i});
    const auto reply = nodes_[i]->take_reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(text_of(reply->body), "value");
    nodes_[i]->release_reply();
  }
}

TEST_P(NodeSetTest, WithoutNewsItWaitsUntilTheSliceIsOver) {
  const TimePoint slice_end = Clock::now() + std::chrono::milliseconds(5);
  EXPECT_TRUE(set_->wait(slice_end).empty());
  EXPECT_GE(Clock::now(), slice_end);
}

TEST_P(NodeSetTest, AWorkerThatClosesItsEndIsNews) {
  workers_.back().reset();
  EXPECT_EQ(news(), std::vector<std::size_t>{GetParam() - 1});
  EXPECT_TRUE(nodes_.back()->loss());
}

TEST_P(NodeSetTest, SendsWhatDidNotFitWhileItWaits) {
  const std::string large(2'000'000, 'x');
  for (const auto& node : nodes_) {
    node->post(buffer_of(large), true);
    node->send(Clock::now());
    EXPECT_TRUE(node->has_output());
  }
  for (std::size_t i = 0; i < GetParam(); ++i) {
    auto received = std::async(std::launch::async, [&worker = *workers_[i]] {
      auto frame = worker.receive();
      while (frame && frame->kind == FrameKind::hello) frame = worker.receive();
      worker.send(FrameKind::result, 1, "done");
      return frame;
    });
    std::optional<Reply> reply;
    for (const TimePoint end = patience_end(); !reply; reply = nodes_[i]->take_reply()) {
      ASSERT_LT(Clock::now(), end);
      set_->wait(Clock::now() + std::chrono::milliseconds(10));
    }
    EXPECT_EQ(text_of(reply->body), "done");
    nodes_[i]->release_reply();
    const auto frame = received.get();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->body, large);
  }
}

INSTANTIATE_TEST_SUITE_P(FewAndMany, NodeSetTest, testing::Values(1, 2, 16, 17, 100));

TEST(NodeSet, AKilledWorkerIsNewsOfItsNodeAlone) {
  const auto session = std::make_shared<Session>();
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Node*> borrowed;
  for (int i = 0; i < 20; ++i) {
    nodes.push_back(start_probe_node(session, {"worker"}));
    borrowed.push_back(nodes.back().get());
  }
  for (const auto& node : nodes) EXPECT_EQ(ask(*node, "a"), "a");
  NodeSet set(borrowed, *session);
  EXPECT_TRUE(set.wait(Clock::now()).empty());
  nodes[7]->signal(SIGKILL);
  for (const TimePoint end = patience_end(); !nodes[7]->loss();) {
    ASSERT_LT(Clock::now(), end);
    for (const std::size_t i : set.wait(end)) EXPECT_EQ(i, 7u);
  }
  EXPECT_EQ(nodes[7]->loss()->exit->signal, SIGKILL);
}

}  // namespace
}  // namespace nodelay
