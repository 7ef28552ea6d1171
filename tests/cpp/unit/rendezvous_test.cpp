// SPDX-License-Identifier: MIT
#include "net/rendezvous.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nodelay/error.h>
#include <sys/socket.h>

#include <future>

#include "fixture/caller.h"
#include "fixture/waiting.h"

namespace nodelay {
namespace {

// Drives the rendezvous until `num_arrivals` have come or patience is at its end.
std::vector<Arrival> await_arrivals(Rendezvous& rendezvous, std::size_t num_arrivals) {
  std::vector<Arrival> all;
  for (const TimePoint end = patience_end(); all.size() < num_arrivals && Clock::now() < end;) {
    std::vector<pollfd> watched;
    rendezvous.add_to(watched);
    poll_until(watched, end);
    for (Arrival& arrival : rendezvous.turn(Clock::now())) all.push_back(std::move(arrival));
  }
  return all;
}

// Drives the rendezvous until it has hung up on `caller`.
void expect_hang_up(Rendezvous& rendezvous, Caller& caller) {
  for (const TimePoint end = patience_end(); !caller.is_hung_up();) {
    ASSERT_LT(Clock::now(), end) << "still connected";
    std::vector<pollfd> watched;
    rendezvous.add_to(watched);
    poll_until(watched, Clock::now() + std::chrono::milliseconds(10));
    EXPECT_TRUE(rendezvous.turn(Clock::now()).empty());
  }
}

bool has_no_delay(int connection) {
  int value = 0;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &value, &size), 0);
  return value != 0;
}

TEST(Rendezvous, WhoeverKnowsTheTokenArrivesAndIsAnswered) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(7, token, true);
  Caller worker(rendezvous.port());
  worker.say(greeting_of(token, Loop::native));
  const auto arrivals = await_arrivals(rendezvous, 1);
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].worker, 7u);
  EXPECT_EQ(arrivals[0].loop, Loop::native);
  EXPECT_EQ(rendezvous.num_expected(), 0u);
  EXPECT_EQ(worker.hear(kTokenHalfBytes), token.main_half);
}

TEST(Rendezvous, NoDelayIsSetWhereItIsAskedFor) {
  for (const bool wanted : {true, false}) {
    Rendezvous rendezvous({});
    const Token token = Token::random();
    rendezvous.expect(0, token, wanted);
    Caller worker(rendezvous.port());
    worker.say(greeting_of(token, Loop::native));
    const auto arrivals = await_arrivals(rendezvous, 1);
    ASSERT_EQ(arrivals.size(), 1u);
    EXPECT_EQ(has_no_delay(arrivals[0].connection.get()), wanted);
  }
}

TEST(Rendezvous, ATokenMaySayItselfInPiecesOfAnySize) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, true);
  Caller worker(rendezvous.port());
  for (const char byte : greeting_of(token, Loop::native)) {
    EXPECT_TRUE(rendezvous.turn(Clock::now()).empty());
    worker.say({byte});
  }
  EXPECT_EQ(await_arrivals(rendezvous, 1).size(), 1u);
}

TEST(Rendezvous, WhatFollowsTheTokenBelongsToTheStream) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, true);
  Caller worker(rendezvous.port());
  worker.say(greeting_of(token, Loop::base) + "and the stream");
  const auto arrivals = await_arrivals(rendezvous, 1);
  ASSERT_EQ(arrivals.size(), 1u);
  worker.hang_up();
  EXPECT_EQ(read_to_end(arrivals[0].connection.get()), "and the stream");
}

TEST(Rendezvous, AStrangerWithTheWrongBytesIsDroppedWithoutAnAnswer) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, true);
  for (const std::string& said :
       {std::string(kTokenHalfBytes + 1, '0'), token.main_half + "n", token.worker_half + "?",
        greeting_of(Token::random(), Loop::native),
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(100, ' ')}) {
    Caller stranger(rendezvous.port());
    stranger.say(said);
    expect_hang_up(rendezvous, stranger);
    EXPECT_EQ(stranger.heard(), "");
  }
  EXPECT_EQ(rendezvous.num_expected(), 1u);
}

TEST(Rendezvous, AStrangerWhoSaysTooLittleIsHeardForTenSecondsOnly) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, true);
  Caller silent(rendezvous.port());
  Caller half(rendezvous.port());
  half.say(token.worker_half.substr(0, kTokenHalfBytes / 2));
  const TimePoint now = Clock::now();
  for (std::vector<pollfd> watched; watched.size() < 3;) {
    watched.clear();
    ASSERT_TRUE(rendezvous.turn(now).empty());
    rendezvous.add_to(watched);
  }
  rendezvous.turn(now + std::chrono::milliseconds(9'999));
  EXPECT_FALSE(silent.is_hung_up());
  EXPECT_FALSE(half.is_hung_up());
  rendezvous.turn(now + std::chrono::milliseconds(10'001));
  EXPECT_TRUE(silent.is_hung_up());
  EXPECT_TRUE(half.is_hung_up());
}

TEST(Rendezvous, AStrangerWhoLeavesIsForgotten) {
  Rendezvous rendezvous({});
  rendezvous.expect(0, Token::random(), true);
  Caller stranger(rendezvous.port());
  ASSERT_TRUE(rendezvous.turn(Clock::now()).empty());
  stranger.hang_up();
  std::vector<pollfd> watched;
  do {
    rendezvous.turn(Clock::now());
    watched.clear();
    rendezvous.add_to(watched);
  } while (watched.size() > 1);
}

TEST(Rendezvous, ATokenOpensOnce) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, true);
  rendezvous.expect(1, Token::random(), true);
  Caller worker(rendezvous.port());
  worker.say(greeting_of(token, Loop::native));
  ASSERT_EQ(await_arrivals(rendezvous, 1).size(), 1u);
  Caller replayer(rendezvous.port());
  replayer.say(greeting_of(token, Loop::native));
  expect_hang_up(rendezvous, replayer);
}

TEST(Rendezvous, ManyStrangersDoNotKeepAWorkerOut) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, true);
  std::vector<Caller> silent;
  for (int i = 0; i < 300; ++i) silent.emplace_back(rendezvous.port());
  Caller worker(rendezvous.port());
  worker.say(greeting_of(token, Loop::native));
  EXPECT_EQ(await_arrivals(rendezvous, 1).size(), 1u);
}

TEST(Rendezvous, ManyWorkersMayComeAtTheSameTime) {
  constexpr std::size_t kNumWorkers = 300;
  Rendezvous rendezvous({});
  std::vector<Caller> workers;
  for (std::size_t i = 0; i < kNumWorkers; ++i) {
    const Token token = Token::random();
    rendezvous.expect(i, token, true);
    workers.emplace_back(rendezvous.port());
    workers.back().say(greeting_of(token, Loop::native));
  }
  std::size_t num_arrivals = 0;
  while (std::size_t more = rendezvous.turn(Clock::now()).size()) num_arrivals += more;
  EXPECT_EQ(num_arrivals, kNumWorkers);
}

TEST(Rendezvous, WhoeverIsSilentForAWhileIsTakenForAnUnknownWorkerThatIsExpected) {
  Rendezvous rendezvous({});
  rendezvous.expect_unknown(5, true);
  Caller worker(rendezvous.port());
  const TimePoint now = Clock::now();
  for (std::vector<pollfd> watched; watched.size() < 2;) {
    watched.clear();
    ASSERT_TRUE(rendezvous.turn(now).empty());
    rendezvous.add_to(watched);
  }
  const auto arrivals = rendezvous.turn(now + std::chrono::seconds(1));
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].worker, 5u);
  EXPECT_EQ(arrivals[0].loop, Loop::base);
  EXPECT_EQ(rendezvous.num_expected(), 0u);
}

TEST(Rendezvous, AWorkerThatIsNotExpectedAnyMoreIsAStranger) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, true);
  rendezvous.forget(0);
  Caller worker(rendezvous.port());
  worker.say(greeting_of(token, Loop::native));
  expect_hang_up(rendezvous, worker);
}

TEST(Rendezvous, ListensOnTheOneOfItsPortsThatIsFree) {
  const Rendezvous other({});
  const QuietPort quiet;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Rendezvous({other.port(), quiet.port()}).port(), quiet.port());
  }
}

TEST(Rendezvous, WhereNoPortIsFreeTheErrorNamesThem) {
  const Rendezvous first({});
  try {
    const Rendezvous second({first.port()});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.errno_value(), EADDRINUSE);
    EXPECT_NE(std::string(error.what()).find(std::to_string(first.port())), std::string::npos);
  }
}

// Runs the worker's side in a thread of its own.
std::future<Descriptor> meet(std::uint16_t port, Token token,
                             std::chrono::milliseconds patience = kPatience) {
  return std::async(std::launch::async,
                    [=] { return meet_main(port, token, true, Clock::now() + patience); });
}

TEST(MeetMain, BothSidesMeet) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, true);
  auto meeting = meet(rendezvous.port(), token);
  EXPECT_EQ(await_arrivals(rendezvous, 1).size(), 1u);
  const Descriptor connection = meeting.get();
  EXPECT_TRUE(has_no_delay(connection.get()));
}

TEST(MeetMain, WhereNobodyListensIsAnError) {
  const QuietPort quiet;
  try {
    meet_main(quiet.port(), Token::random(), true, patience_end());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.errno_value(), ECONNREFUSED);
  }
}

TEST(MeetMain, AMainProcessThatDoesNotKnowTheTokenIsRefused) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, {token.worker_half, Token::random().main_half}, true);
  auto meeting = meet(rendezvous.port(), token);
  EXPECT_EQ(await_arrivals(rendezvous, 1).size(), 1u);
  try {
    meeting.get();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::protocol);
  }
}

TEST(MeetMain, AMainProcessThatSaysNothingIsLeftAtTheDeadline) {
  const Rendezvous rendezvous({});
  auto meeting = meet(rendezvous.port(), Token::random(), std::chrono::milliseconds(20));
  try {
    meeting.get();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.errno_value(), ETIMEDOUT);
  }
}

}  // namespace
}  // namespace nodelay
