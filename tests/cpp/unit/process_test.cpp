// SPDX-License-Identifier: MIT
#include "launch/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nodelay/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <sstream>

#include "fixture/probe.h"
#include "fixture/waiting.h"

namespace nodelay {
namespace {

ExitStatus await_exit(Process& process) {
  // There is no exit descriptor of a process that is gone before that could be opened.
  for (const TimePoint end = patience_end(); !process.poll_exit() && Clock::now() < end;) {
    pollfd watched{process.exit_descriptor(), POLLIN, 0};
    poll_until({&watched, 1}, Clock::now() + std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(process.poll_exit());
  return process.poll_exit().value_or(ExitStatus{});
}

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
  }
  Descriptor reader;
  Descriptor writer;
};

// What the probe says of itself, by the first word of each line.
std::map<std::string, std::string> report(SpawnPlan plan) {
  Pipe output;
  plan.argv = probe_command({"report"});
  plan.descriptors.push_back({output.writer.get(), 1});
  Process process = Process::spawn(plan);
  output.writer.close();
  std::istringstream lines(read_to_end(output.reader.get()));
  std::map<std::string, std::string> report;
  for (std::string name, rest; lines >> name && std::getline(lines, rest);) report[name] = rest;
  EXPECT_EQ(await_exit(process).code, 0);
  EXPECT_EQ(report["pid"], " " + std::to_string(process.pid()));
  return report;
}

TEST(Process, ThatEndsTellsItsStatus) {
  for (const int status : {0, 7, 255}) {
    Process process = spawn_probe({"exit", std::to_string(status)});
    const ExitStatus exit = await_exit(process);
    EXPECT_EQ(exit.code, status);
    EXPECT_FALSE(exit.signal);
  }
}

TEST(Process, ThatASignalKillsTellsTheSignal) {
  for (const int signal : {SIGKILL, SIGTERM, SIGUSR1}) {
    Process process = spawn_probe({"raise", std::to_string(signal)});
    const ExitStatus exit = await_exit(process);
    EXPECT_EQ(exit.signal, signal);
    EXPECT_FALSE(exit.code);
  }
}

TEST(Process, ThatRunsHasNoExitStatusUntilItIsSignalled) {
  Process process = spawn_probe({"pause"});
  EXPECT_FALSE(process.poll_exit());
  process.signal(SIGKILL);
  EXPECT_EQ(await_exit(process).signal, SIGKILL);
  EXPECT_GT(process.pid(), 0) << "the pid is kept for messages";
}

TEST(Process, AProgramThatIsNotThereIsAnErrorThatNamesIt) {
  SpawnPlan plan;
  plan.argv = {"/nowhere/program"};
  try {
    Process::spawn(plan);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.errno_value(), ENOENT);
    EXPECT_NE(std::string(error.what()).find("/nowhere/program"), std::string::npos);
  }
}

TEST(Process, AFileThatIsNoProgramIsAnError) {
  SpawnPlan plan;
  plan.argv = {"/etc/passwd"};
  EXPECT_THROW(Process::spawn(plan), Error);
}

TEST(Process, APlainNameIsLookedUpOnThePath) {
  SpawnPlan plan;
  plan.argv = {"sh", "-c", "exit 5"};
  Process process = Process::spawn(plan);
  EXPECT_EQ(await_exit(process).code, 5);
}

TEST(Process, GetsTheEnvironmentOfThePlanAndNoOther) {
  SpawnPlan plan;
  plan.environment = {"A=1", "B=two words"};
  EXPECT_EQ(report(plan)["environment"], " A=1 B=two words");
}

TEST(Process, GetsTheDescriptorsOfThePlanAndNoOther) {
  const Descriptor inheritable(::open("/dev/null", O_RDONLY));
  const Descriptor named(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnPlan plan;
  plan.descriptors = {{named.get(), 0}, {named.get(), 2}, {named.get(), 7}};
  EXPECT_EQ(report(plan)["descriptors"], " 0 1 2 7");
}

TEST(Process, DescriptorsMayTradeTheirNumbers) {
  Pipe first;
  Pipe second;
  const int one = first.writer.get();
  const int two = second.writer.get();
  Process process =
      spawn_probe({"write", std::to_string(one), "one", "write", std::to_string(two), "two"},
                  {{one, two}, {two, one}});
  first.writer.close();
  second.writer.close();
  EXPECT_EQ(read_to_end(first.reader.get()), "two");
  EXPECT_EQ(read_to_end(second.reader.get()), "one");
  EXPECT_EQ(await_exit(process).code, 0);
}

TEST(Process, LeadsAGroupOfItsOwn) {
  auto own = report({});
  EXPECT_EQ(own["pgid"], own["pid"]);
}

TEST(Process, HasDefaultSignalHandlingWhateverThisProcessHas) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  for (const int number : {SIGUSR1, SIGINT, SIGTERM}) ::sigaddset(&blocked, number);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto handled = ::signal(SIGTSTP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  auto own = report({});
  ::signal(SIGTSTP, handled);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  EXPECT_EQ(own["blocked"], " 0000000000000000");
  EXPECT_EQ(own["ignored"], " 0000000000000000");
  EXPECT_EQ(::sigismember(&after, SIGUSR1), 1) << "this process keeps its mask";
  EXPECT_EQ(::sigismember(&after, SIGUSR2), 0) << "this process keeps its mask";
}

// A child of the probe holds `alive` open for as long as it lives, at most until the end of
// `leash`. The probe writes a line once it has it.
Process spawn_with_grandchild(Pipe& leash, Pipe& alive) {
  Process process = spawn_probe({"hold", "5", "write", "6", "ready\n", "pause"},
                                {{leash.reader.get(), 5}, {alive.writer.get(), 6}});
  alive.writer.close();
  EXPECT_TRUE(is_ready(alive.reader.get()));
  return process;
}

TEST(Process, ASignalReachesTheChildrenOfTheChild) {
  Pipe leash;
  Pipe alive;
  Process process = spawn_with_grandchild(leash, alive);
  process.signal(SIGTERM);
  EXPECT_EQ(read_to_end(alive.reader.get()), "ready\n");
  EXPECT_EQ(await_exit(process).signal, SIGTERM);
}

TEST(Process, DestroyingItKillsItWithItsChildren) {
  Pipe leash;
  Pipe alive;
  { const Process process = spawn_with_grandchild(leash, alive); }
  EXPECT_EQ(read_to_end(alive.reader.get()), "ready\n");
}

TEST(Process, DestroyingItKillsItEvenIfItIgnoresSignals) {
  Pipe output;
  Process process = spawn_probe({"ignore", "15", "ignore", "2", "write", "1", "ready", "pause"},
                                {{output.writer.get(), 1}});
  output.writer.close();
  ASSERT_TRUE(is_ready(output.reader.get()));
  process.signal(SIGTERM);
  process.signal(SIGINT);
  EXPECT_FALSE(process.poll_exit());
  process = Process();
  EXPECT_EQ(process.pid(), 0);
  EXPECT_EQ(read_to_end(output.reader.get()), "ready");
}

TEST(Process, AForkOfThisProcessDoesNotKillIt) {
  Process process = spawn_probe({"pause"});
  const pid_t fork = ::fork();
  if (fork == 0) {
    process = Process();
    ::_exit(0);
  }
  EXPECT_EQ(::waitpid(fork, nullptr, 0), fork);
  EXPECT_FALSE(process.poll_exit());
}

TEST(Process, MayDieWithItsParent) {
  Pipe output;
  const pid_t parent = ::fork();
  if (parent == 0) {
    SpawnPlan plan;
    plan.argv = probe_command({"write", "1", "ready", "pause"});
    plan.descriptors = {{output.writer.get(), 1}};
    plan.dies_with_parent = true;
    new Process(Process::spawn(plan));  // not destroyed: that would kill it
    ::_exit(is_ready(output.reader.get()) ? 0 : 1);
  }
  output.writer.close();
  int status = -1;
  EXPECT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_to_end(output.reader.get()), "ready");
}

TEST(Process, WhereThisProcessIgnoresItsChildrenNobodyKnowsHowItEnded) {
  const auto handled = ::signal(SIGCHLD, SIG_IGN);
  Pipe leash;
  Process process = spawn_probe({"await", "0", "exit", "3"}, {{leash.reader.get(), 0}});
  leash.writer.close();
  const ExitStatus exit = await_exit(process);
  ::signal(SIGCHLD, handled);
  EXPECT_FALSE(exit.code);
  EXPECT_FALSE(exit.signal);
}

TEST(Process, AMovedOneOwnsNothing) {
  Process process = spawn_probe({"pause"});
  const pid_t pid = process.pid();
  Process other = std::move(process);
  EXPECT_EQ(process.pid(), 0);  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_EQ(process.exit_descriptor(), -1);
  EXPECT_EQ(other.pid(), pid);
  EXPECT_FALSE(other.poll_exit());
}

}  // namespace
}  // namespace nodelay
