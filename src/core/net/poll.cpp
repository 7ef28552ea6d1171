// SPDX-License-Identifier: MIT
#include "net/poll.h"

#include <nodelay/error.h>

#include <cerrno>

namespace nodelay {

int poll_until(std::span<pollfd> watched, TimePoint deadline) {
  constexpr std::chrono::milliseconds kMost = std::chrono::hours(1);
  const int timeout = poll_milliseconds(Clock::now(), deadline, kMost);
  const int num_ready = ::poll(watched.data(), watched.size(), timeout);
  if (num_ready >= 0) return num_ready;
  if (errno != EINTR) throw Error(errno, "waiting for a worker");
  for (pollfd& entry : watched) entry.revents = 0;
  return 0;
}

}  // namespace nodelay
