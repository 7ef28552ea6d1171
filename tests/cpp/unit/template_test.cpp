// SPDX-License-Identifier: MIT
#include "launch/template.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

#include "fixture/probe.h"
#include "fixture/waiting.h"
#include "launch/inherited_state.h"

namespace nodelay {
namespace {

using State = Template::State;

class TemplateTest : public testing::Test {
 protected:
  TemplateTest() { output_ = make_stream_pair(); }

  // A template that does `steps` once it is up, or its workers do.
  void start(const Steps& steps) {
    plan_.argv = probe_command(steps);
    plan_.environment = changed_environment({{"SHARED", "1"}}, {});
    template_.emplace(plan_);
  }

  void await_change_of(State state) {
    for (const TimePoint end = patience_end(); template_->state() == state && Clock::now() < end;) {
      pollfd watched{template_->descriptor(), POLLIN, 0};
      poll_until({&watched, 1}, end);
      if (auto worker = template_->take_worker()) worker_ = std::move(*worker);
    }
    EXPECT_NE(template_->state(), state);
  }

  // One more worker, whose standard output is the other end of output_.
  void fork_worker() {
    if (template_->state() == State::starting) await_change_of(State::starting);
    ASSERT_EQ(template_->state(), State::idle);
    plan_.descriptors = {{output_.second.get(), STDOUT_FILENO}};
    plan_.environment = changed_environment({{"SHARED", "1"}, {"NODELAY_OWN", "2"}}, {});
    template_->request(plan_);
    await_change_of(State::busy);
  }

  std::map<std::string, std::string> report() {
    output_.second.close();
    std::istringstream lines(read_to_end(output_.first.get()));
    std::map<std::string, std::string> values;
    for (std::string name, value; lines >> name && std::getline(lines, value);) {
      values[name] = value;
    }
    return values;
  }

  ExitStatus await_exit() {
    is_ready(worker_.exit_descriptor());
    return worker_.poll_exit().value_or(ExitStatus{});
  }

  SpawnPlan plan_;
  std::optional<Template> template_;
  Process worker_;
  DescriptorPair output_;
};

TEST_F(TemplateTest, MakesWorkersThatAreThisProcessesOwn) {
  start({"template", "0", "exit", "7"});
  for (int i = 0; i < 3; ++i) {
    fork_worker();
    ASSERT_GT(worker_.pid(), 0);
    EXPECT_NE(worker_.pid(), template_->pid());
    EXPECT_EQ(await_exit().code, 7);
    EXPECT_EQ(template_->state(), State::idle);
  }
}

TEST_F(TemplateTest, AWorkerKilledTellsTheSignal) {
  start({"template", "0", "pause"});
  fork_worker();
  EXPECT_FALSE(worker_.poll_exit());
  worker_.signal(SIGTERM);
  EXPECT_EQ(await_exit().signal, SIGTERM);
}

TEST_F(TemplateTest, AWorkerHasWhatWasAskedForAndNothingOfTheTemplate) {
  start({"template", "0", "report"});
  fork_worker();
  auto told = report();
  EXPECT_EQ(told["pid"], " " + std::to_string(worker_.pid()));
  EXPECT_EQ(told["pgid"], told["pid"]);
  EXPECT_EQ(told["descriptors"], " 0 1 2");
  EXPECT_EQ(told["blocked"], " 0000000000000000");
  EXPECT_NE(told["environment"].find(" SHARED=1"), std::string::npos);
  EXPECT_NE(told["environment"].find(" NODELAY_OWN=2"), std::string::npos);
}

TEST_F(TemplateTest, AWorkersThreadCanBeSignalledByAnother) {
  start({"template", "0", "signal_self", "12", "exit", "1"});
  fork_worker();
  EXPECT_EQ(await_exit().signal, 12);
}

TEST_F(TemplateTest, WhatTheTemplateWroteIsEachWorkersToo) {
  start({"write", "1", "welcome\n", "template", "0", "write", "1", "begun\n"});
  fork_worker();
  await_exit();
  fork_worker();
  await_exit();
  output_.second.close();
  EXPECT_EQ(read_to_end(output_.first.get()), "welcome\nbegun\nwelcome\nbegun\n");
}

TEST_F(TemplateTest, OneThatMustNotForkSaysSo) {
  start({"template", "95", "exit", "0"});
  await_change_of(State::starting);
  EXPECT_EQ(template_->state(), State::unfit);
}

TEST_F(TemplateTest, OneWithAThreadDoesNotFork) {
  start({"thread", "template", "0", "exit", "0"});
  await_change_of(State::starting);
  EXPECT_EQ(template_->state(), State::unfit);
}

TEST_F(TemplateTest, OneWithAThreadThatYieldsToForksDoes) {
  start({"yielding_thread", "template", "0", "exit", "3"});
  fork_worker();
  EXPECT_EQ(await_exit().code, 3);
}

TEST_F(TemplateTest, OneThatDiesIsLostAtOnce) {
  for (const Steps& steps : {Steps{"exit", "1"}, Steps{"raise", "9"}, Steps{"write", "3", "?"}}) {
    start(steps);
    await_change_of(State::starting);
    EXPECT_EQ(template_->state(), State::lost) << steps[0];
  }
}

TEST_F(TemplateTest, OneThatIsRetiredEnds) {
  start({"template", "0"});
  await_change_of(State::starting);
  Process process = template_->retire();
  EXPECT_EQ(template_->state(), State::lost);
  EXPECT_TRUE(is_ready(process.exit_descriptor()));
  EXPECT_EQ(process.poll_exit()->code, 0);
}

TEST(KindOfWorker, IsProgramEnvironmentAndSurroundings) {
  SpawnPlan plan;
  plan.argv = {"R", "-e"};
  plan.environment = {"A=1", "NODELAY_STREAM=3"};
  const std::string kind = kind_of_worker(plan, "here");
  SpawnPlan other = plan;
  other.environment = {"A=1", "NODELAY_STREAM=4", "NODELAY_MAIN=5"};
  other.descriptors = {{0, 0}};
  EXPECT_EQ(kind_of_worker(other, "here"), kind);
  EXPECT_NE(kind_of_worker(plan, "there"), kind);
  other.environment = {"A=2"};
  EXPECT_NE(kind_of_worker(other, "here"), kind);
  other = plan;
  other.argv = {"R", "-e", ""};
  EXPECT_NE(kind_of_worker(other, "here"), kind);
}

TEST(InheritedState, ChangesWithWhatProgramsInherit) {
  const std::string before = inherited_state();
  EXPECT_EQ(inherited_state(), before);
  const mode_t mask = ::umask(0123);
  EXPECT_NE(inherited_state(), before);
  ::umask(mask);
  const std::string here = std::filesystem::current_path();
  ASSERT_EQ(::chdir("/"), 0);
  EXPECT_NE(inherited_state(), before);
  ASSERT_EQ(::chdir(here.c_str()), 0);
  EXPECT_EQ(inherited_state(), before);
}

}  // namespace
}  // namespace nodelay
