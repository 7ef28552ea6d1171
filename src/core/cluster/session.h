// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <list>

#include "base/clock.h"
#include "launch/departure.h"

namespace nodelay {

/// What all nodes of one main process share. Owned jointly by them, so that it lives
/// until the last one is gone. Used by R's main thread only.
class Session {
 public:
  Session();

  /// False in a process that was forked from the one that made the session: workers
  /// belong to that one.
  bool is_owner() const;

  pid_t owner() const { return owner_; }

  /// One more worker, or one fewer, may be at work.
  void add_worker() { ++num_workers_; }
  void remove_worker() { --num_workers_; }

  /// Whether a process may spin while it waits: no more workers than usable CPUs.
  bool may_spin() const { return num_workers_ <= usable_cpus_; }

  /// Takes over a worker whose stream has been closed and sees it off.
  void depart(Process process);

  /// Drives departures without waiting; called wherever the session is in use.
  void advance_departures();

  /// Waits until every departing worker is gone.
  void finish_departures();

 private:
  pid_t owner_;
  int num_workers_ = 0;
  int usable_cpus_;
  std::list<Departure> departures_;
};

}  // namespace nodelay
