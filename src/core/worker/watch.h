// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "base/descriptor.h"
#include "worker/link.h"

namespace nodelay {

/// Keeps an eye on the stream while the R thread is busy with a long call: turns a
/// cancel frame into an interrupt, answers pings, and ends the process when the main
/// process is gone.
/// One thread, which sleeps while there is nothing to watch and looks in only when a call
/// has run for about 50 ms, so that short calls pay nothing but two atomic operations.
///
/// While it watches, the link is the watch's; between begin_call() and end_call() the
/// R thread must not touch it.
class Watch {
 public:
  /// Both run on the watch's thread.
  struct Actions {
    std::function<void()> interrupt;  ///< stop the running call
    std::function<void()> vanish;     ///< end this process; must not return
    std::function<void()> tick;       ///< some housekeeping, every second or so of work
  };

  Watch(Link& link, Actions actions);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// The R thread begins the call `request` (never 0).
  void begin_call(std::uint64_t request);

  /// The R thread is done with it and has the link back. Returns true where the call was
  /// interrupted: the interrupt may still be pending.
  bool end_call();

 private:
  void run();
  bool sleep_until_work(std::unique_lock<std::mutex>& lock);
  void watch_call(std::uint64_t request);

  Link& link_;
  Actions actions_;
  Descriptor wake_reader_;
  Descriptor wake_writer_;
  std::atomic<std::uint64_t> running_request_{0};  // 0: none
  std::atomic<bool> is_watching_{false};           // the link is the watch's
  std::atomic<bool> is_asleep_{false};             // begin_call() has to wake the thread
  std::atomic<bool> has_interrupted_{false};
  std::mutex link_mutex_;   // held while watching
  std::mutex sleep_mutex_;  // for sleep_condition_ and is_ending_
  std::condition_variable sleep_condition_;
  bool is_ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace nodelay
