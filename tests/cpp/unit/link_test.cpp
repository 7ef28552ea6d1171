// SPDX-License-Identifier: MIT
#include "worker/link.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>

#include "fixture/peer.h"

namespace nodelay {
namespace {

// A worker's link; the test plays its main process.
class LinkTest : public testing::Test {
 protected:
  void expect_call(std::uint64_t request, const std::string& body, bool is_cancelled = false) {
    std::optional<Link::Call> call;
    for (const TimePoint end = patience_end(); !(call = link_.take_call());) {
      ASSERT_FALSE(link_.is_closed());
      ASSERT_LT(Clock::now(), end) << "no call came";
      link_.wait(end);
    }
    EXPECT_EQ(call->request, request);
    EXPECT_EQ(text_of(call->body), body);
    EXPECT_EQ(call->is_cancelled, is_cancelled);
  }

  void expect_closed() {
    for (const TimePoint end = patience_end(); !link_.take_call() && !link_.is_closed();) {
      ASSERT_LT(Clock::now(), end) << "not closed";
      link_.wait(end);
    }
    EXPECT_TRUE(link_.is_closed());
  }

  DescriptorPair pair_ = make_stream_pair();
  Link link_{std::move(pair_.first)};
  Peer main_{std::move(pair_.second)};
};

TEST_F(LinkTest, SaysHelloWithItsProcessId) {
  const auto frame = main_.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, FrameKind::hello);
  const auto hello = decode_hello(bytes_of(frame->body));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->protocol_version, kProtocolVersion);
  EXPECT_EQ(hello->pid, static_cast<std::uint32_t>(::getpid()));
}

TEST_F(LinkTest, CallsComeInTheOrderInWhichTheyWereSent) {
  main_.send_hello();
  for (const std::uint64_t request : {1u, 2u, 3u}) {
    main_.send(FrameKind::call, request, "call " + std::to_string(request));
  }
  for (const std::uint64_t request : {1u, 2u, 3u}) {
    expect_call(request, "call " + std::to_string(request));
  }
  EXPECT_FALSE(link_.take_call());
}

TEST_F(LinkTest, CallsThatWerePutAsideComeBeforeLaterOnes) {
  main_.send(FrameKind::call, 1, "first");
  main_.send(FrameKind::call, 2, "");
  ASSERT_TRUE(link_.read_available());
  link_.sort_input();
  main_.send(FrameKind::call, 3, "third");
  expect_call(1, "first");
  expect_call(2, "");
  expect_call(3, "third");
}

TEST_F(LinkTest, AFunctionComesBeforeTheCallsThatWereSentBehindItAlsoWherePutAside) {
  for (const bool is_put_aside : {false, true}) {
    main_.send(FrameKind::function, 0, "function");
    main_.send(FrameKind::call, 1, "call");
    ASSERT_TRUE(link_.read_available());
    if (is_put_aside) link_.sort_input();
    const auto function = link_.take_call();
    ASSERT_TRUE(function);
    EXPECT_EQ(function->kind, FrameKind::function);
    EXPECT_EQ(text_of(function->body), "function");
    expect_call(1, "call");
  }
}

TEST_F(LinkTest, ACallStaysReadableUntilItIsReleased) {
  const std::string body = patterned(100'000);
  main_.send(FrameKind::call, 1, body);
  for (std::size_t read = 0; read < 10 && link_.read_available(); ++read) link_.sort_input();
  expect_call(1, body);
  link_.release_body();
  EXPECT_FALSE(link_.take_call());
}

TEST_F(LinkTest, ACancelledCallThatWasPutAsideComesOutAsCancelled) {
  main_.send(FrameKind::call, 1, "first");
  main_.send(FrameKind::call, 2, "second");
  main_.send(FrameKind::cancel, 2);
  ASSERT_TRUE(link_.read_available());
  link_.sort_input();
  expect_call(1, "first");
  expect_call(2, "second", true);
  EXPECT_FALSE(link_.take_cancel(2)) << "it was told with the call";
}

TEST_F(LinkTest, ACancelOfTheRunningCallIsToldOnce) {
  main_.send(FrameKind::call, 1, "first");
  expect_call(1, "first");
  EXPECT_FALSE(link_.take_cancel(1));
  main_.send(FrameKind::cancel, 1);
  ASSERT_TRUE(link_.read_available());
  link_.sort_input();
  EXPECT_FALSE(link_.take_cancel(2));
  EXPECT_TRUE(link_.take_cancel(1));
  EXPECT_FALSE(link_.take_cancel(1));
}

TEST_F(LinkTest, ACancelThatComesTooLateDisturbsNoOtherCall) {
  main_.send(FrameKind::call, 1, "first");
  expect_call(1, "first");
  EXPECT_TRUE(link_.send(FrameKind::result, 1, buffer_of("done")));
  main_.send(FrameKind::cancel, 1);
  main_.send(FrameKind::call, 2, "second");
  expect_call(2, "second");
  link_.sort_input();
  EXPECT_FALSE(link_.take_cancel(2));
}

TEST_F(LinkTest, ResultsAndEventsArriveAsTheyWereSent) {
  EXPECT_TRUE(link_.send(FrameKind::event, 1, buffer_of("news")));
  EXPECT_TRUE(link_.send(FrameKind::result, 1, {}));
  EXPECT_EQ(main_.receive()->kind, FrameKind::hello);
  auto frame = main_.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, FrameKind::event);
  EXPECT_EQ(frame->body, "news");
  frame = main_.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, FrameKind::result);
  EXPECT_EQ(frame->request, 1u);
  EXPECT_EQ(frame->body, "");
}

TEST_F(LinkTest, ABigResultIsSentWhileBigCallsComeIn) {
  const std::string body = patterned(4'000'000);
  auto main_side = std::async(std::launch::async, [&] {
    main_.send(FrameKind::call, 1, body);  // needs the link to read
    main_.receive();
    return main_.receive();
  });
  EXPECT_TRUE(link_.send(FrameKind::result, 0, buffer_of(body)));
  expect_call(1, body);
  const auto result = main_side.get();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->body == body);
}

TEST_F(LinkTest, ASendToAMainProcessThatIsGoneSaysSo) {
  main_.close();
  EXPECT_FALSE(link_.send(FrameKind::result, 1, buffer_of(patterned(4'000'000))));
  EXPECT_TRUE(link_.is_closed());
}

TEST_F(LinkTest, AGoodbyeComesAfterTheCallsBeforeIt) {
  main_.send(FrameKind::call, 1, "first");
  main_.send(FrameKind::bye, 0);
  expect_call(1, "first");
  expect_closed();
}

TEST_F(LinkTest, TheEndOfTheStreamComesAfterTheCallsBeforeIt) {
  main_.send(FrameKind::call, 1, "first");
  main_.close();
  expect_call(1, "first");
  expect_closed();
}

TEST_F(LinkTest, BytesThatAreNoFrameCloseIt) {
  main_.send_raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect_closed();
}

TEST_F(LinkTest, FramesOfAWorkerCloseIt) {
  main_.send(FrameKind::result, 1, "a result");
  expect_closed();
}

TEST_F(LinkTest, APongOfTheMainProcessClosesIt) {
  main_.send(FrameKind::pong, 1);
  expect_closed();
}

TEST_F(LinkTest, PingsAreAnsweredInOrderBetweenCalls) {
  main_.send(FrameKind::ping, 1);
  main_.send(FrameKind::ping, 2);
  main_.send(FrameKind::call, 1, "first");
  expect_call(1, "first");
  EXPECT_EQ(main_.receive()->kind, FrameKind::hello);
  for (const std::uint64_t ping : {1u, 2u}) {
    const auto frame = main_.receive();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->kind, FrameKind::pong);
    EXPECT_EQ(frame->request, ping);
    EXPECT_EQ(frame->body, "");
  }
}

TEST_F(LinkTest, PongsThatTheStreamDoesNotTakeWaitForRoomAndNotTheCaller) {
  constexpr std::uint64_t kManyPings = 5'000;  // more pongs than a socket holds
  EXPECT_EQ(main_.receive()->kind, FrameKind::hello);
  for (std::uint64_t ping = 1; ping <= kManyPings; ++ping) {
    main_.send(FrameKind::ping, ping);
    while (link_.read_available()) link_.sort_input();
  }
  EXPECT_EQ(link_.events(), POLLIN | POLLOUT);
  for (std::uint64_t ping = 1; ping <= kManyPings; ++ping) {
    if (link_.events() & POLLOUT) link_.send_rest();
    const auto frame = main_.receive();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->request, ping);
  }
  EXPECT_EQ(link_.events(), POLLIN);
}

TEST_F(LinkTest, AnotherVersionClosesIt) {
  main_.send_hello(kProtocolVersion + 1);
  expect_closed();
}

TEST_F(LinkTest, AfterTheProtocolIsBrokenNoCallIsTaken) {
  main_.send_hello(kProtocolVersion + 1);
  main_.send(FrameKind::call, 1, "not to be trusted");
  ASSERT_TRUE(link_.read_available());
  EXPECT_FALSE(link_.take_call());
  EXPECT_TRUE(link_.is_closed());
}

TEST_F(LinkTest, AWaitWithNothingToReadEndsWithItsSlice) {
  link_.wait(Clock::now() + std::chrono::milliseconds(5));
  EXPECT_FALSE(link_.take_call());
  EXPECT_FALSE(link_.is_closed());
}

}  // namespace
}  // namespace nodelay
