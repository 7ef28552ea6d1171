// SPDX-License-Identifier: MIT
// A node and the process of its worker, which is the probe.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "fixture/probe_node.h"

namespace nodelay {
namespace {

class NodeProcess : public testing::Test {
 protected:
  void start(const Steps& steps, Protocol protocol = Protocol::framed,
             std::vector<SpawnPlan::Passed> descriptors = {}) {
    node_ = start_probe_node(session_, steps, protocol, std::move(descriptors));
  }

  std::shared_ptr<Session> session_ = std::make_shared<Session>();
  std::unique_ptr<Node> node_;
};

TEST_F(NodeProcess, RepliesComeInTheOrderOfTheCalls) {
  start({"worker"});
  for (int i = 0; i < 200; ++i) node_->post(buffer_of("call " + std::to_string(i)), true);
  EXPECT_EQ(node_->num_calls(), 200u);
  EXPECT_TRUE(node_->send(patience_end()));
  for (int i = 0; i < 200; ++i) ASSERT_EQ(next_reply(*node_), "call " + std::to_string(i));
  EXPECT_EQ(node_->num_calls(), 0u);
}

TEST_F(NodeProcess, BigMessagesBothWaysAtOnceDoNotBlockEachOther) {
  start({"worker"});
  const std::string text = patterned(2'000'000);
  for (int i = 0; i < 4; ++i) node_->post(buffer_of(text), true);
  EXPECT_TRUE(node_->send(patience_end()));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(next_reply(*node_) == text) << "reply " << i;
}

TEST_F(NodeProcess, TheNextCallNeverGetsTheReplyToAGivenUpOne) {
  start({"worker"});
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < 3; ++j) node_->post(buffer_of("given up"), true);
    node_->send(Clock::now());
    node_->give_up_calls();
    ASSERT_EQ(ask(*node_, "wanted " + std::to_string(i)), "wanted " + std::to_string(i));
  }
}

TEST_F(NodeProcess, BareValuesComeBackAndTheCallerSaysWhatTheyAre) {
  const std::string null("X\n\0\0\0\2\0\4\2\2\0\2\3\0\0\0\0\xfe", 18);
  start({"bare_worker"}, Protocol::bare);
  node_->post(buffer_of(null), true);
  node_->post(buffer_of(null), false);
  EXPECT_EQ(node_->num_calls(), 1u) << "one wants a reply";
  EXPECT_TRUE(node_->send(patience_end()));
  EXPECT_EQ(next_reply(*node_), null);
  EXPECT_TRUE(node_->settle(false));
  EXPECT_EQ(node_->num_calls(), 1u);
  EXPECT_EQ(next_reply(*node_), null);
  EXPECT_TRUE(node_->settle(true));
  EXPECT_EQ(node_->num_calls(), 0u);
  node_->post(buffer_of(null), true);
  node_->give_up_calls();
  EXPECT_EQ(next_reply(*node_), null);
  EXPECT_FALSE(node_->settle(true)) << "the call was given up";
}

TEST_F(NodeProcess, ADeathBySignalInACallIsToldWithTheLastLines) {
  start({"write", "2", "first\nlast line\n", "worker"});
  EXPECT_FALSE(ask(*node_, "!raise 9"));
  const auto& loss = node_->loss();
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->reason, "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(loss->exit->signal, SIGKILL);
  EXPECT_EQ(loss->last_lines, "first\nlast line");
  EXPECT_TRUE(loss->was_in_call);
}

TEST_F(NodeProcess, AnExitStatusIsTold) {
  start({"exit", "3"});
  const Loss loss = await_loss(*node_);
  EXPECT_EQ(loss.reason, "exited with status 3");
  EXPECT_FALSE(loss.was_in_call);
  EXPECT_GT(node_->pid(), 0);
  const auto text = describe(*node_, loss);
  EXPECT_NE(text.find("(pid " + std::to_string(node_->pid()) + " on localhost)"),
            std::string::npos);
}

TEST_F(NodeProcess, AReplyThatWasSentBeforeDeathIsTaken) {
  start({"worker"});
  EXPECT_EQ(ask(*node_, "!result last exit 0"), "last");
  EXPECT_EQ(await_loss(*node_).reason, "exited with status 0");
}

TEST_F(NodeProcess, AReplyThatWasSentBeforeDeathIsTakenEvenIfTheNextCallFindsItDead) {
  start({"worker"});
  node_->post(buffer_of("!result last exit 0"), true);
  EXPECT_TRUE(node_->send(patience_end()));
  ASSERT_TRUE(is_ready(node_->exit_descriptor()));
  node_->post(buffer_of("too late"), true);
  EXPECT_TRUE(node_->send(patience_end()));
  EXPECT_TRUE(node_->loss());
  EXPECT_EQ(next_reply(*node_), "last");
}

TEST_F(NodeProcess, AReplyThatWasSentBeforeDeathIsTakenEvenIfTheNodeIsLookedAfterFirst) {
  start({"worker"});
  node_->post(buffer_of("!result last exit 0"), true);
  EXPECT_TRUE(node_->send(patience_end()));
  ASSERT_TRUE(is_ready(node_->exit_descriptor()));
  EXPECT_TRUE(node_->look_after());
  EXPECT_EQ(next_reply(*node_), "last");
}

TEST_F(NodeProcess, DeathInTheMiddleOfAResultIsALoss) {
  start({"worker"});
  EXPECT_FALSE(ask(*node_, "!half_result exit 1"));
  EXPECT_EQ(node_->loss()->reason, "exited with status 1");
  EXPECT_TRUE(node_->loss()->was_in_call);
}

TEST_F(NodeProcess, GarbageOnTheStreamLosesTheWorkerAndEndsIt) {
  start({"write", "3", "Error in library(nodelay): there is no such package\n", "worker"});
  const Loss loss = await_loss(*node_);
  EXPECT_EQ(loss.reason, "sent bytes that are not nodelay's protocol");
  EXPECT_FALSE(loss.exit) << "its process had not ended";
  session_->finish_departures();
}

TEST_F(NodeProcess, AnotherVersionIsALoss) {
  start({"hello", "42", "worker"});
  EXPECT_NE(await_loss(*node_).reason.find("version 42"), std::string::npos);
}

// The grandchild lives until the end of `leash`.
TEST_F(NodeProcess, AGrandchildThatHoldsTheStreamDoesNotHideADeath) {
  DescriptorPair leash = make_stream_pair();
  ASSERT_EQ(::fcntl(leash.second.get(), F_SETFL, 0), 0);
  start({"hold", "5", "worker"}, Protocol::framed, {{leash.second.get(), 5}});
  EXPECT_EQ(ask(*node_, "alive"), "alive");
  EXPECT_FALSE(ask(*node_, "!exit 4"));
  EXPECT_EQ(node_->loss()->reason, "exited with status 4");
}

TEST_F(NodeProcess, AGrandchildThatHoldsTheStreamDoesNotHideADeathFromASend) {
  DescriptorPair leash = make_stream_pair();
  ASSERT_EQ(::fcntl(leash.second.get(), F_SETFL, 0), 0);
  start({"hold", "5", "exit", "4"}, Protocol::framed, {{leash.second.get(), 5}});
  node_->post(buffer_of(patterned(4'000'000)), true);
  EXPECT_TRUE(node_->send(patience_end()));
  ASSERT_TRUE(node_->loss());
  EXPECT_EQ(node_->loss()->reason, "exited with status 4");
}

TEST_F(NodeProcess, StoppingLeavesNoProcess) {
  start({"worker"});
  EXPECT_EQ(ask(*node_, "alive"), "alive");
  node_->stop();
  session_->finish_departures();
}

TEST_F(NodeProcess, StoppingLeavesNoProcessEvenInTheMiddleOfAMessage) {
  start({"worker"});
  node_->post(buffer_of(patterned(4'000'000)), true);
  node_->send(Clock::now());
  node_->stop();
  session_->finish_departures();
}

TEST_F(NodeProcess, DestroyingNodeAndSessionLeavesNoProcess) {
  start({"ignore", "2", "ignore", "15", "pause"});
}

TEST_F(NodeProcess, IsAliveUntilItsProcessHasEnded) {
  start({"worker"});
  EXPECT_TRUE(node_->is_alive());
  node_->post(buffer_of("!exit 0"), true);
  EXPECT_TRUE(node_->send(patience_end()));
  ASSERT_TRUE(is_ready(node_->exit_descriptor()));
  EXPECT_FALSE(node_->is_alive()) << "it is a zombie";
  EXPECT_FALSE(node_->is_alive()) << "it is reaped";
}

TEST_F(NodeProcess, ASuspendedWorkerIsAliveAndDoesNotAnswer) {
  start({"worker"});
  EXPECT_EQ(ask(*node_, "alive"), "alive");
  ASSERT_TRUE(node_->signal(SIGSTOP));
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(node_->pid()), &info, WSTOPPED), 0);
  node_->ping();
  node_->wait(Clock::now() + std::chrono::milliseconds(10));
  EXPECT_TRUE(node_->is_alive());
  EXPECT_FALSE(node_->has_answered_ping());
  ASSERT_TRUE(node_->signal(SIGCONT));
  for (const TimePoint end = patience_end(); !node_->has_answered_ping() && Clock::now() < end;) {
    node_->wait(end);
  }
  EXPECT_TRUE(node_->has_answered_ping());
}

TEST_F(NodeProcess, ABareWorkerIsNotPinged) {
  start({"bare_worker"}, Protocol::bare);
  node_->ping();
  EXPECT_TRUE(node_->is_alive());
  EXPECT_TRUE(node_->has_answered_ping());
}

TEST_F(NodeProcess, ASignalReachesTheWorkerAndItsChildren) {
  DescriptorPair lifeline = make_stream_pair();
  DescriptorPair leash = make_stream_pair();
  ASSERT_EQ(::fcntl(leash.second.get(), F_SETFL, 0), 0);
  start({"hold", "6", "worker"}, Protocol::framed,
        {{lifeline.second.get(), 5}, {leash.second.get(), 6}});
  lifeline.second.close();
  EXPECT_EQ(ask(*node_, "alive"), "alive");
  EXPECT_TRUE(node_->signal(SIGTERM));
  EXPECT_EQ(read_to_end(lifeline.first.get()), "") << "all who held it have ended";
  EXPECT_EQ(await_loss(*node_).reason, "was killed by signal 15 (SIGTERM)");
  EXPECT_FALSE(node_->signal(SIGTERM)) << "nobody is there any more";
}

TEST_F(NodeProcess, AStoppedNodeGetsNoSignal) {
  start({"worker"});
  node_->stop();
  EXPECT_FALSE(node_->signal(SIGTERM));
  EXPECT_FALSE(node_->is_alive());
  session_->finish_departures();
}

TEST_F(NodeProcess, DestroyingABusyBareNodeInterruptsItsWorkerAtOnce) {
  DescriptorPair lifeline = make_stream_pair();
  start({"pause"}, Protocol::bare, {{lifeline.second.get(), 5}});
  lifeline.second.close();
  node_->post(buffer_of("call"), true);
  node_.reset();
  EXPECT_EQ(read_to_end(lifeline.first.get()), "") << "with nobody looking after it";
  session_->finish_departures();
}

TEST_F(NodeProcess, TheSessionKnowsTheNodesThatExist) {
  start({"worker"});
  EXPECT_THAT(session_->nodes(), testing::ElementsAre(node_.get()));
  const Node other(session_, {2, "localhost", "another"});
  EXPECT_EQ(session_->nodes().size(), 2u);
  node_.reset();
  EXPECT_EQ(session_->nodes().size(), 1u);
}

class NodeWithFolder : public NodeProcess {
 protected:
  ~NodeWithFolder() override { std::filesystem::remove_all(path_); }

  void start_with_folder(const Steps& steps, Protocol protocol = Protocol::framed) {
    start(steps, protocol);
    std::filesystem::create_directory(path_);
    node_->set_temporary_folder(TemporaryFolder(path_));
  }

  bool has_folder() const { return std::filesystem::exists(path_); }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("RtmpNode" + std::to_string(::getpid()));
};

TEST_F(NodeWithFolder, ThatIsLostToASignalLeavesNone) {
  start_with_folder({"worker"});
  EXPECT_EQ(ask(*node_, "alive"), "alive");
  EXPECT_TRUE(has_folder());
  EXPECT_FALSE(ask(*node_, "!raise 9"));
  EXPECT_FALSE(has_folder());
}

TEST_F(NodeWithFolder, ThatHasToBeKilledLeavesNone) {
  start_with_folder({"ignore", "2", "ignore", "15", "pause"});
  node_->stop();
  session_->finish_departures();
  EXPECT_FALSE(has_folder());
}

TEST_F(NodeWithFolder, WhoseWorkerDiedUnseenLeavesNoneWhenStopped) {
  start_with_folder({"raise", "9"});
  ASSERT_TRUE(is_ready(node_->exit_descriptor()));
  node_->stop();
  EXPECT_FALSE(has_folder());
}

TEST_F(NodeProcess, AForkOfTheMainProcessLeavesTheWorkerAlone) {
  start({"worker"});
  const pid_t fork = ::fork();
  if (fork == 0) {
    node_.reset();
    session_.reset();
    ::_exit(0);
  }
  EXPECT_EQ(::waitpid(fork, nullptr, 0), fork);
  EXPECT_EQ(ask(*node_, "alive"), "alive");
}

}  // namespace
}  // namespace nodelay
