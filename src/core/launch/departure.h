// SPDX-License-Identifier: MIT
#pragma once

#include "base/clock.h"
#include "launch/process.h"
#include "launch/temporary_folder.h"

namespace nodelay {

/// Sees a worker off whose stream has been closed: lets it end by itself, then
/// interrupts it (R then ends and removes its temporary folder), terminates it, kills
/// it, each after some patience. Never waits itself. Owns the worker's process and its
/// temporary folder, and leaves neither behind.
class Departure {
 public:
  enum class Patience {
    usual,  ///< it will notice that its stream is closed
    none,   ///< it will not: the first signal goes out at once
  };

  Departure(Process process, TemporaryFolder folder, Patience patience, TimePoint now);

  /// Sends the next signal when its time has come. Returns true once the process is gone.
  bool advance(TimePoint now);

  /// When advance() has something to do next.
  TimePoint next_step_at() const { return next_step_at_; }

  /// Readable once the process is gone; -1 where the kernel has no such thing.
  int exit_descriptor() const { return process_.exit_descriptor(); }

 private:
  TemporaryFolder folder_;  // first: it outlives the process
  Process process_;
  std::size_t step_ = 0;
  TimePoint next_step_at_;
};

}  // namespace nodelay
