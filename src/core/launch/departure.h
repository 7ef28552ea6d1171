// SPDX-License-Identifier: MIT
#pragma once

#include "base/clock.h"
#include "launch/process.h"

namespace nodelay {

/// Sees a worker off whose stream has been closed: lets it end by itself, then
/// interrupts it (R then ends and removes its temporary folder), terminates it, kills
/// it, each after some patience. Never waits itself.
class Departure {
 public:
  Departure(Process process, TimePoint now);

  /// Sends the next signal when its time has come. Returns true once the process is gone.
  bool advance(TimePoint now);

  /// When advance() has something to do next.
  TimePoint next_step_at() const { return next_step_at_; }

  /// Readable once the process is gone; -1 where the kernel has no such thing.
  int exit_descriptor() const { return process_.exit_descriptor(); }

 private:
  Process process_;
  std::size_t step_ = 0;
  TimePoint next_step_at_;
};

}  // namespace nodelay
