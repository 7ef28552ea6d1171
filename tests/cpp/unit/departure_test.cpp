// SPDX-License-Identifier: MIT
#include "launch/departure.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "cluster/session.h"
#include "fixture/probe.h"
#include "fixture/waiting.h"
#include "hosts/usable_cpus.h"

namespace nodelay {
namespace {

using std::chrono::milliseconds;

// A probe that ignores `signals` and has said so.
Process spawn_stubborn(const std::vector<int>& signals) {
  DescriptorPair pair = make_stream_pair();
  Steps steps;
  for (const int signal : signals) {
    steps.insert(steps.end(), {"ignore", std::to_string(signal)});
  }
  steps.insert(steps.end(), {"write", "1", "ready", "close", "1", "pause"});
  Process process = spawn_probe(steps, {{pair.second.get(), 1}});
  pair.second.close();
  EXPECT_EQ(read_to_end(pair.first.get()), "ready");
  return process;
}

Departure departure_of(Process process, TemporaryFolder folder = {}) {
  return {std::move(process), std::move(folder), Departure::Patience::usual, Clock::now()};
}

// Lets the departure's time pass without waiting, but for the end of a process that should
// have ended by then. Returns how long it would have taken.
milliseconds departure_time(Process process, milliseconds expected,
                            Departure::Patience patience = Departure::Patience::usual) {
  const TimePoint start = Clock::now();
  TimePoint now = start;
  Departure departure(std::move(process), {}, patience, now);
  while (!departure.advance(now)) {
    if (now - start >= expected && is_ready(departure.exit_descriptor())) continue;
    EXPECT_GT(departure.next_step_at(), now);
    now = departure.next_step_at();
    if (now - start > std::chrono::minutes(1)) {
      ADD_FAILURE() << "it never departs";
      break;
    }
  }
  return std::chrono::duration_cast<milliseconds>(now - start);
}

TEST(Departure, OfAProcessThatEndsByItselfNeedsNoSignal) {
  EXPECT_EQ(departure_time(spawn_probe({"exit", "0"}), milliseconds(0)), milliseconds(0));
}

TEST(Departure, BeginsWithAnInterrupt) {
  EXPECT_EQ(departure_time(spawn_stubborn({SIGTERM}), milliseconds(700)), milliseconds(700));
}

TEST(Departure, GoesOnToTerminate) {
  EXPECT_EQ(departure_time(spawn_stubborn({SIGINT}), milliseconds(1900)), milliseconds(1900));
}

TEST(Departure, EndsWithAKill) {
  EXPECT_EQ(departure_time(spawn_stubborn({SIGINT, SIGTERM}), milliseconds(2400)),
            milliseconds(2400));
}

TEST(Departure, WithoutPatienceBeginsAtOnce) {
  EXPECT_EQ(departure_time(spawn_stubborn({SIGTERM}), milliseconds(0), Departure::Patience::none),
            milliseconds(0));
  EXPECT_EQ(departure_time(spawn_stubborn({SIGINT}), milliseconds(1200), Departure::Patience::none),
            milliseconds(1200));
}

TEST(Departure, LeavesNoTemporaryFolder) {
  namespace fs = std::filesystem;
  const fs::path path = fs::temp_directory_path() / ("RtmpDeparture" + std::to_string(::getpid()));
  fs::create_directory(path);
  Session session;
  session.depart(departure_of(spawn_stubborn({SIGINT, SIGTERM}), TemporaryFolder(path)));
  EXPECT_TRUE(fs::exists(path)) << "the worker still runs";
  session.finish_departures();
  EXPECT_FALSE(fs::exists(path));
}

TEST(Departure, OfNoProcessIsOverAtOnce) {
  Departure departure(Process(), {}, Departure::Patience::usual, Clock::now());
  EXPECT_TRUE(departure.advance(Clock::now()));
}

TEST(Session, FinishingDeparturesLeavesNoProcess) {
  Session session;
  for (int i = 0; i < 3; ++i) session.depart(departure_of(spawn_probe({"exit", "0"})));
  session.finish_departures();
  session.finish_departures();
}

TEST(Session, FinishingDeparturesEndsAtItsDeadline) {
  Session session;
  session.depart(departure_of(spawn_stubborn({SIGINT, SIGTERM})));
  session.finish_departures(Clock::now());
}

TEST(Session, EndingItKillsWhoHasNotDeparted) {
  Session session;
  session.depart(departure_of(spawn_stubborn({SIGINT, SIGTERM})));
  session.advance_departures();
}

void work_at_a_time(Session& session, int num_workers) {
  for (int i = 0; i < num_workers; ++i) session.begin_work();
  for (int i = 0; i < num_workers; ++i) session.end_work();
}

TEST(Session, SpinningIsForNoMoreWorkersAtWorkThanCpus) {
  if (usable_cpus() < 2) GTEST_SKIP() << "there is one CPU only";
  Session session;
  EXPECT_TRUE(session.may_spin());
  work_at_a_time(session, 10'000);
  EXPECT_FALSE(session.may_spin());
}

TEST(Session, TheMainProcessHasACpuToItselfWhileItWaitsForOneWorkerAtATime) {
  if (usable_cpus() < 2) GTEST_SKIP() << "there is one CPU only";
  Session session;
  work_at_a_time(session, 2);
  EXPECT_FALSE(session.has_cpu_to_itself());
  work_at_a_time(session, 1);
  work_at_a_time(session, 1);
  EXPECT_TRUE(session.has_cpu_to_itself());
}

TEST(Session, SpinningIsBackAfterABurstOfFewWorkers) {
  if (usable_cpus() < 2) GTEST_SKIP() << "there is one CPU only";
  Session session;
  work_at_a_time(session, 10'000);
  work_at_a_time(session, 1);
  EXPECT_FALSE(session.may_spin()) << "the burst before was large";
  work_at_a_time(session, 1);
  EXPECT_TRUE(session.may_spin());
}

}  // namespace
}  // namespace nodelay
