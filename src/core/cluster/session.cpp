// SPDX-License-Identifier: MIT
#include "cluster/session.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "hosts/usable_cpus.h"
#include "net/poll.h"

namespace nodelay {

Session::Session() : owner_(::getpid()), usable_cpus_(usable_cpus()) {}

bool Session::is_owner() const {
  return ::getpid() == owner_;
}

void Session::begin_work() {
  if (num_at_work_ == 0) last_peak_ = std::exchange(peak_, 0);
  peak_ = std::max(peak_, ++num_at_work_);
}

void Session::advance_departures() {
  if (departures_.empty()) return;
  const TimePoint now = Clock::now();
  departures_.remove_if([now](Departure& departure) { return departure.advance(now); });
}

void Session::finish_departures(TimePoint deadline) {
  for (advance_departures(); !departures_.empty(); advance_departures()) {
    if (Clock::now() >= deadline) return;
    // Short enough where the kernel does not tell of a process's end.
    TimePoint until = Clock::now() + std::chrono::milliseconds(20);
    std::vector<pollfd> watched;
    for (const Departure& departure : departures_) {
      watched.push_back({departure.exit_descriptor(), POLLIN, 0});
    }
    poll_until(watched, until);
  }
}

}  // namespace nodelay
