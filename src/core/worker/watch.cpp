// SPDX-License-Identifier: MIT
#include "worker/watch.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <exception>

#include "base/system_call.h"
#include "net/poll.h"

namespace nodelay {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{50};  // a call younger than one or two of these is short
constexpr int kIdleTicks = 20;     // then the thread goes to sleep
constexpr milliseconds kHousekeeping{1000};

// Signals are for the R thread.
std::thread start_without_signals(std::function<void()> run) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Watch::Watch(Link& link, Actions actions) : link_(link), actions_(std::move(actions)) {
  DescriptorPair pair = make_stream_pair();
  wake_reader_ = std::move(pair.first);
  wake_writer_ = std::move(pair.second);
  thread_ = start_without_signals([this] {
    try {
      run();
    } catch (const std::exception&) {
      actions_.vanish();  // out of memory, say: without a watch the worker cannot be trusted to end
    }
  });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(sleep_mutex_);
    is_ending_ = true;
  }
  sleep_condition_.notify_one();
  thread_.join();
}

void Watch::begin_call(std::uint64_t request) {
  running_request_.store(request);
  if (is_asleep_.exchange(false)) {
    const std::lock_guard lock(sleep_mutex_);
    sleep_condition_.notify_one();
  }
}

bool Watch::end_call() {
  running_request_.store(0);
  // Either this sees that the thread is watching, or the thread sees that no call is
  // running: both sides store first and look afterwards.
  if (is_watching_.load()) {
    const char wake = 0;
    retry_interrupted([&] { return ::send(wake_writer_.get(), &wake, 1, MSG_NOSIGNAL); });
    const std::lock_guard lock(link_mutex_);  // wait until it has let go
  }
  return has_interrupted_.exchange(false);
}

void Watch::run() {
  std::unique_lock lock(sleep_mutex_);
  int num_idle_ticks = 0;
  std::uint64_t seen_request = 0;
  while (!is_ending_) {
    if (num_idle_ticks >= kIdleTicks) {
      if (!sleep_until_work(lock)) return;
      num_idle_ticks = 0;
    }
    sleep_condition_.wait_for(lock, kTick);
    const std::uint64_t request = running_request_.load();
    num_idle_ticks = request == 0 ? num_idle_ticks + 1 : 0;
    if (request != 0 && request == seen_request && !is_ending_) {
      lock.unlock();
      watch_call(request);
      lock.lock();
    }
    seen_request = request;
  }
}

// False where the watch is ending.
bool Watch::sleep_until_work(std::unique_lock<std::mutex>& lock) {
  is_asleep_.store(true);
  sleep_condition_.wait(
      lock, [this] { return is_ending_ || !is_asleep_.load() || running_request_.load() != 0; });
  is_asleep_.store(false);
  return !is_ending_;
}

void Watch::watch_call(std::uint64_t request) {
  const std::lock_guard lock(link_mutex_);
  is_watching_.store(true);
  while (running_request_.load() == request) {
    link_.sort_input();
    if (link_.is_closed()) actions_.vanish();
    if (link_.take_cancel(request)) {
      has_interrupted_.store(true);
      actions_.interrupt();
    }
    std::array<pollfd, 3> watched{{{link_.descriptor(), link_.events(), 0},
                                   {wake_reader_.get(), POLLIN, 0},
                                   {link_.main_process(), POLLIN, 0}}};
    if (poll_until(watched, Clock::now() + kHousekeeping) == 0) {
      actions_.tick();
      // It may have been lost on a program that the call is waiting for.
      if (has_interrupted_.load()) actions_.interrupt();
    }
    if (watched[2].revents != 0) link_.lose_main_process();
    if (watched[1].revents != 0) break;
    if (watched[0].revents & POLLOUT) link_.send_rest();
    if (watched[0].revents != 0) link_.read_available();
  }
  is_watching_.store(false);
  std::array<char, 16> wakes{};
  while (::recv(wake_reader_.get(), wakes.data(), wakes.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace nodelay
