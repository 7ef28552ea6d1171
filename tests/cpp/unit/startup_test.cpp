// SPDX-License-Identifier: MIT
#include "cluster/startup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fixture/caller.h"
#include "fixture/probe_node.h"

namespace nodelay {
namespace {

using Progress = Startup::Progress;

class StartupTest : public testing::Test {
 protected:
  // Nobody is left when the session is at its end; see fixture/main.cpp.
  ~StartupTest() override { startup_.reset(); }

  // One more worker, which does `steps`.
  NodePlan& add(const Steps& steps, bool uses_tcp = false) {
    NodePlan plan;
    plan.rank = static_cast<int>(plans_.size()) + 1;
    plan.host = "localhost";
    if (uses_tcp) plan.greeting = NodePlan::Greeting::environment;
    plan.environment = changed_environment({}, {});
    plan.command = [steps](std::uint16_t /*port*/, const Token& /*token*/) {
      return probe_command(steps);
    };
    plan.set_up_call = buffer_of("set up " + std::to_string(plan.rank));
    plans_.push_back(std::move(plan));
    return plans_.back();
  }

  void start(double patience = 20) {
    startup_.emplace(session_, plans_, Startup::Terms{ports_, Reach::this_machine, patience});
  }

  Progress turn() { return startup_->turn(Clock::now() + std::chrono::milliseconds(10)); }

  Progress finish() {
    Progress progress = Progress::going;
    for (const TimePoint end = patience_end(); progress == Progress::going && Clock::now() < end;) {
      progress = turn();
    }
    return progress;
  }

  void expect_all_ready() {
    ASSERT_EQ(finish(), Progress::ready);
    nodes_ = startup_->take_nodes();
    ASSERT_EQ(nodes_.size(), plans_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      EXPECT_EQ(nodes_[i]->identity().rank, static_cast<int>(i) + 1);
      EXPECT_EQ(text_of(startup_->set_up_reply(i).bytes()), "set up " + std::to_string(i + 1));
      EXPECT_EQ(ask(*nodes_[i], "alive"), "alive");
    }
  }

  std::shared_ptr<Session> session_ = std::make_shared<Session>();
  std::vector<NodePlan> plans_;
  std::vector<std::uint16_t> ports_;
  std::optional<Startup> startup_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

TEST_F(StartupTest, WorkersThatAnswerAreReady) {
  for (int i = 0; i < 5; ++i) add({"worker"});
  start();
  EXPECT_EQ(startup_->port(), 0) << "nobody listens";
  expect_all_ready();
}

TEST_F(StartupTest, WorkersOverTcpAreReady) {
  for (int i = 0; i < 5; ++i) add({"worker"}, true);
  start();
  EXPECT_GT(startup_->port(), 0);
  expect_all_ready();
}

TEST_F(StartupTest, ThePortIsOneOfThoseAskedForAndToldToTheCommand) {
  const QuietPort quiet;
  ports_ = {quiet.port()};
  std::uint16_t told = 0;
  add({"worker"}, true).command = [&](std::uint16_t port, const Token& /*token*/) {
    told = port;
    return probe_command({"worker"});
  };
  start();
  EXPECT_EQ(startup_->port(), quiet.port());
  EXPECT_EQ(told, quiet.port());
  expect_all_ready();
}

TEST_F(StartupTest, OneThatDiesAtOnceFailsTheWhole) {
  add({"worker"});
  add({"write", "2", "there is no package called 'nodelay'\n", "exit", "1"});
  add({"worker"});
  start();
  ASSERT_EQ(finish(), Progress::failed);
  EXPECT_EQ(startup_->failed_node().identity().rank, 2);
  EXPECT_FALSE(startup_->is_too_late());
  EXPECT_EQ(startup_->failed_node().loss()->reason, "exited with status 1");
  EXPECT_EQ(startup_->failed_node().loss()->last_lines, "there is no package called 'nodelay'");
}

TEST_F(StartupTest, OneOverTcpThatDiesBeforeItComesFailsTheWhole) {
  add({"worker"}, true);
  add({"raise", "15"}, true);
  start();
  ASSERT_EQ(finish(), Progress::failed);
  EXPECT_EQ(startup_->failed_node().loss()->exit->signal, SIGTERM);
}

TEST_F(StartupTest, OneThatSendsGarbageFailsTheWhole) {
  add({"write", "3", "Error: not a frame of anything\n", "pause"});
  start();
  ASSERT_EQ(finish(), Progress::failed);
  EXPECT_EQ(startup_->failed_node().loss()->reason, "sent bytes that are not nodelay's protocol");
}

TEST_F(StartupTest, OneThatNeverGetsReadyIsTooLate) {
  add({"worker"});
  add({"pause"});
  start(0.2);
  ASSERT_EQ(finish(), Progress::failed);
  EXPECT_TRUE(startup_->is_too_late());
  EXPECT_EQ(startup_->failed_node().identity().rank, 2);
  EXPECT_EQ(startup_->failed_node().loss()->reason, "was not ready after 0.2 seconds");
}

TEST_F(StartupTest, OneThatNeverComesOverTcpIsTooLate) {
  add({"pause"}, true);
  start(0.05);
  ASSERT_EQ(finish(), Progress::failed);
  EXPECT_TRUE(startup_->is_too_late());
}

TEST_F(StartupTest, AProgramThatCannotBeExecutedIsAnErrorThatNamesTheCommand) {
  add({"worker"});
  add({}).command = [](std::uint16_t /*port*/, const Token& /*token*/) {
    return std::vector<std::string>{"/nowhere/Rscript", "an argument"};
  };
  try {
    start();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::start_failed);
    const std::string text = error.what();
    EXPECT_NE(text.find("Worker 2 "), std::string::npos) << text;
    EXPECT_NE(text.find("/nowhere/Rscript 'an argument'"), std::string::npos) << text;
  }
}

TEST_F(StartupTest, AnEventDuringTheSetUpIsNotItsResult) {
  add({"worker"}).set_up_call = buffer_of("!event news");
  start();
  ASSERT_EQ(finish(), Progress::ready);
  EXPECT_EQ(text_of(startup_->set_up_reply(0).bytes()), "done");
  EXPECT_EQ(ask(*startup_->take_nodes()[0], "next"), "next");
}

TEST_F(StartupTest, OfAWorkerThatBreaksTheProtocolNoReplyMakesItReady) {
  add({"hello", "42", "worker"});
  start();
  ASSERT_EQ(finish(), Progress::failed);
  EXPECT_NE(startup_->failed_node().loss()->reason.find("version 42"), std::string::npos);
}

TEST_F(StartupTest, StrangersDisturbNobody) {
  add({"worker"}, true);
  add({"await", "0", "worker"}, true);
  start();
  const std::uint16_t port = startup_->port();
  Caller silent(port);
  Caller half(port);
  half.say(std::string(kTokenHalfBytes / 2, 'a'));
  Caller wrong(port);
  wrong.say(std::string(kTokenHalfBytes, 'a'));
  Caller garbage(port);
  garbage.say("GET / HTTP/1.1\r\n\r\n" + patterned(1000));
  Caller huge(port);
  huge.say(text_of(encode_header({FrameKind::call, 0, 1, kLongestBody})) + patterned(100));
  Caller late(port);
  while (startup_->num_ready() < 1) ASSERT_NE(turn(), Progress::failed);
  late.say(std::string(kTokenHalfBytes, 'b'));
  expect_all_ready();
  EXPECT_EQ(wrong.hear(1) + garbage.hear(1) + huge.hear(1), "") << "strangers get no answer";
}

TEST_F(StartupTest, DestroyingItHalfwayLeavesNoWorker) {
  add({"worker"});
  add({"pause"});
  add({"pause"}, true);
  start();
  while (startup_->num_ready() < 1) ASSERT_EQ(turn(), Progress::going);
}

TEST_F(StartupTest, OutputGoesToAFileThatTheFirstWorkerEmpties) {
  namespace fs = std::filesystem;
  const fs::path path = fs::temp_directory_path() / ("nodelay-log-" + std::to_string(::getpid()));
  std::ofstream(path) << "before\n";
  for (int i = 0; i < 2; ++i) {
    NodePlan& plan = add({"write", "1", "output\n", "write", "2", "error\n", "worker"});
    plan.output = NodePlan::Output::file;
    plan.output_path = path;
  }
  start();
  expect_all_ready();
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text.size(), 2 * std::string("output\nerror\n").size()) << text;
  EXPECT_EQ(text.find("before"), std::string::npos);
  fs::remove(path);
}

TEST_F(StartupTest, WorkersOfATemplateAreReadyAndTheNextOnesTakeTheSame) {
  for (int i = 0; i < 5; ++i) add({"template", "0", "worker"}).may_be_forked = true;
  start();
  expect_all_ready();
  const auto templates = session_->template_pids();
  ASSERT_EQ(templates.size(), 1u);
  startup_.reset();
  start();
  expect_all_ready();
  EXPECT_EQ(session_->template_pids(), templates);
}

TEST_F(StartupTest, WorkersThatNoTemplateCanMakeAreStartedWithoutOne) {
  add({"worker"}).may_be_forked = true;                    // says nothing to its main process
  add({"template", "95", "worker"}).may_be_forked = true;  // must not fork
  add({"thread", "template", "0", "worker"}).may_be_forked = true;
  start(1);
  expect_all_ready();
}

TEST_F(StartupTest, OneThatDiesBeforeItIsReadyIsToldAsWithoutATemplate) {
  add({"template", "0", "worker"}).may_be_forked = true;
  add({"template", "0", "write", "2", "no licence\n", "exit", "3"}).may_be_forked = true;
  start();
  ASSERT_EQ(finish(), Progress::failed);
  EXPECT_EQ(startup_->failed_node().identity().rank, 2);
  EXPECT_EQ(startup_->failed_node().loss()->reason, "exited with status 3");
  EXPECT_EQ(startup_->failed_node().loss()->last_lines, "no licence");
}

TEST_F(StartupTest, ATemplateThatWasKilledIsReplaced) {
  add({"template", "0", "worker"}).may_be_forked = true;
  start();
  expect_all_ready();
  const auto killed = session_->template_pids();
  ASSERT_EQ(killed.size(), 1u);
  ::kill(killed[0], SIGKILL);
  EXPECT_TRUE(is_ready(open_exit_descriptor(killed[0]).get()));
  startup_.reset();
  start();
  expect_all_ready();
  EXPECT_NE(session_->template_pids(), killed);
}

TEST_F(StartupTest, DestroyingItWhileATemplateForksLeavesNoWorker) {
  for (int i = 0; i < 3; ++i) add({"template", "0", "worker"}).may_be_forked = true;
  start();
  expect_all_ready();
  for (int num_turns = 1; num_turns <= 4; ++num_turns) {
    start();
    for (int i = 0; i < num_turns; ++i) startup_->turn(Clock::now());  // does not wait for a fork
    startup_.reset();
  }
  start();
  expect_all_ready();
}

TEST_F(StartupTest, EveryKindOfWorkerHasATemplateButNotTooManyAreKept) {
  for (int i = 0; i < 6; ++i) {
    NodePlan& plan = add({"template", "0", "worker"});
    plan.may_be_forked = true;
    plan.environment.push_back("KIND=" + std::to_string(i));
  }
  start();
  expect_all_ready();
  EXPECT_EQ(session_->template_pids().size(), 4u);
}

TEST(NumStartableWorkers, FollowsTheLimitOfOpenFiles) {
  EXPECT_EQ(num_startable_workers(10), 0u);
  EXPECT_GT(num_startable_workers(1000), 300u);
  EXPECT_LT(num_startable_workers(1000), 334u);
}

}  // namespace
}  // namespace nodelay
