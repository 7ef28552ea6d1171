// SPDX-License-Identifier: MIT
#include "worker/watch.h"

#include <gtest/gtest.h>

#include <future>

#include "fixture/peer.h"

namespace nodelay {
namespace {

constexpr std::chrono::milliseconds kTick{50};  // as in worker/watch.cpp

/// Something that another thread does and this one waits for.
class Event {
 public:
  void happen() {
    const std::lock_guard lock(mutex_);
    ++count_;
    condition_.notify_all();
  }

  int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

  /// False where it has not happened by the end of all patience.
  bool await(int count = 1) {
    std::unique_lock lock(mutex_);
    return condition_.wait_for(lock, kPatience, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  int count_ = 0;
};

// A worker's link with its watch. This thread is the R thread and the main process.
class WatchTest : public testing::Test {
 protected:
  Watch::Actions actions() {
    return {[this] { interrupt_.happen(); }, [this] { vanish(); }, [this] { tick_.happen(); }};
  }

  // In a worker this ends the process; here it ends with the test.
  void vanish() {
    vanish_.happen();
    EXPECT_TRUE(may_return_.await());
  }

  // Takes the next call off the link and begins it.
  void begin(std::uint64_t request) {
    std::optional<Link::Call> call;
    for (const TimePoint end = patience_end(); !(call = link_.take_call());) {
      ASSERT_LT(Clock::now(), end) << "no call came";
      link_.wait(end);
    }
    ASSERT_EQ(call->request, request);
    watch_.begin_call(request);
  }

  Event interrupt_;
  Event vanish_;
  Event may_return_;
  Event tick_;
  DescriptorPair pair_ = make_stream_pair();
  Peer main_{std::move(pair_.second)};
  Link link_{std::move(pair_.first)};
  Watch watch_{link_, actions()};
};

TEST_F(WatchTest, ACancelInterruptsTheRunningCallOnce) {
  main_.send(FrameKind::call, 1);
  begin(1);
  main_.send(FrameKind::cancel, 1);
  ASSERT_TRUE(interrupt_.await());
  main_.send(FrameKind::call, 2);
  EXPECT_TRUE(watch_.end_call()) << "it was interrupted";
  EXPECT_FALSE(watch_.end_call()) << "that was told already";
  begin(2);
  EXPECT_FALSE(watch_.end_call());
  EXPECT_EQ(interrupt_.count(), 1);
}

TEST_F(WatchTest, ACancelThatWasReadBeforeTheWatchingBeganInterruptsToo) {
  main_.send(FrameKind::call, 1);
  main_.send(FrameKind::cancel, 1);
  begin(1);
  EXPECT_TRUE(interrupt_.await());
  EXPECT_TRUE(watch_.end_call());
}

TEST_F(WatchTest, ACancelOfAnEarlierCallInterruptsNothing) {
  main_.send(FrameKind::call, 1);
  begin(1);
  watch_.end_call();
  main_.send(FrameKind::call, 2);
  begin(2);
  main_.send(FrameKind::cancel, 1);
  main_.send(FrameKind::cancel, 2);
  ASSERT_TRUE(interrupt_.await());
  EXPECT_TRUE(watch_.end_call());
  EXPECT_EQ(interrupt_.count(), 1);
}

TEST_F(WatchTest, TheEndOfTheStreamMakesTheWorkerVanishInTheMiddleOfACall) {
  main_.send(FrameKind::call, 1);
  begin(1);
  main_.close();
  EXPECT_TRUE(vanish_.await());
  may_return_.happen();
  watch_.end_call();
  EXPECT_TRUE(link_.is_closed());
}

TEST_F(WatchTest, AGoodbyeMakesTheWorkerVanishInTheMiddleOfACall) {
  main_.send(FrameKind::call, 1);
  begin(1);
  main_.send(FrameKind::bye, 0);
  EXPECT_TRUE(vanish_.await());
  may_return_.happen();
  watch_.end_call();
}

TEST_F(WatchTest, APingIsAnsweredInTheMiddleOfACall) {
  main_.receive();  // the hello
  main_.send(FrameKind::call, 1);
  begin(1);
  main_.send(FrameKind::ping, 7);
  const auto frame = main_.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, FrameKind::pong);
  EXPECT_EQ(frame->request, 7u);
  EXPECT_FALSE(watch_.end_call());
  EXPECT_EQ(interrupt_.count(), 0);
}

TEST_F(WatchTest, CallsShorterThanTheTickAreNotWatched) {
  for (std::uint64_t request = 1; request <= 2000; ++request) {
    main_.send(FrameKind::call, request);
    main_.send(FrameKind::cancel, request);
    const TimePoint begun_at = Clock::now();
    begin(request);
    const bool was_interrupted = watch_.end_call();
    const bool was_short = Clock::now() - begun_at < kTick;
    ASSERT_FALSE(was_interrupted && was_short) << "call " << request;
  }
}

TEST_F(WatchTest, ManyQuickCallsEachGetTheLinkBack) {
  main_.receive();  // the hello
  for (std::uint64_t request = 1; request <= 20'000; ++request) {
    main_.send(FrameKind::call, request, "call");
    begin(request);
    watch_.end_call();
    ASSERT_TRUE(link_.send(FrameKind::result, request, buffer_of("result")));
    const auto result = main_.receive();
    ASSERT_TRUE(result);
    ASSERT_EQ(result->request, request);
  }
}

TEST_F(WatchTest, CallsThatArriveWhileItWatchesComeOutInOrder) {
  main_.send(FrameKind::call, 1);
  begin(1);
  for (const std::uint64_t request : {2u, 3u, 4u}) {
    main_.send(FrameKind::call, request, "call " + std::to_string(request));
  }
  main_.send(FrameKind::cancel, 1);
  ASSERT_TRUE(interrupt_.await());
  watch_.end_call();
  main_.send(FrameKind::call, 5, "call 5");
  ASSERT_TRUE(link_.read_available());
  for (const std::uint64_t request : {2u, 3u, 4u, 5u}) {
    const auto call = link_.take_call();
    ASSERT_TRUE(call);
    EXPECT_EQ(call->request, request);
    EXPECT_EQ(text_of(call->body), "call " + std::to_string(request));
    EXPECT_FALSE(call->is_cancelled);
  }
}

TEST_F(WatchTest, AQueuedCallThatIsCancelledComesOutAsCancelled) {
  main_.send(FrameKind::call, 1);
  begin(1);
  main_.send(FrameKind::call, 2);
  main_.send(FrameKind::call, 3);
  main_.send(FrameKind::cancel, 2);
  main_.send(FrameKind::cancel, 1);
  ASSERT_TRUE(interrupt_.await());
  watch_.end_call();
  const auto second = link_.take_call();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->request, 2u);
  EXPECT_TRUE(second->is_cancelled);
  const auto third = link_.take_call();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->request, 3u);
  EXPECT_FALSE(third->is_cancelled);
}

TEST_F(WatchTest, ACallMayGoOnAfterItHadTheLinkForAnEvent) {
  main_.send(FrameKind::call, 1);
  begin(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(watch_.end_call());
    EXPECT_TRUE(link_.send(FrameKind::event, 1, buffer_of("news")));
    watch_.begin_call(1);
  }
  main_.send(FrameKind::cancel, 1);
  EXPECT_TRUE(interrupt_.await());
  EXPECT_TRUE(watch_.end_call());
}

TEST_F(WatchTest, LongCallsOneAfterTheOtherAreAllWatched) {
  for (std::uint64_t request = 1; request <= 3; ++request) {
    main_.send(FrameKind::call, request);
    begin(request);
    main_.send(FrameKind::cancel, request);
    ASSERT_TRUE(interrupt_.await(static_cast<int>(request)));
    EXPECT_TRUE(watch_.end_call());
  }
}

TEST_F(WatchTest, HousekeepingIsDoneWhileACallRuns) {
  main_.send(FrameKind::call, 1);
  begin(1);
  EXPECT_TRUE(tick_.await());
  EXPECT_FALSE(watch_.end_call());
}

TEST_F(WatchTest, ACallAfterALongRestIsWatched) {
  // The watch goes to sleep after twenty ticks; nothing shows when, so this waits longer.
  std::promise<void> nothing;
  nothing.get_future().wait_for(30 * kTick);
  main_.send(FrameKind::call, 1);
  begin(1);
  main_.send(FrameKind::cancel, 1);
  EXPECT_TRUE(interrupt_.await());
  EXPECT_TRUE(watch_.end_call());
}

}  // namespace
}  // namespace nodelay
