// SPDX-License-Identifier: MIT
#pragma once

namespace nodelay {

/// Learns whether a worker and its main process keep to one CPU, where each has to wait until the
/// other gives it up, although there are more. A kernel that wakes a sleeping worker beside
/// the process that woke it leaves both there for as long as neither sleeps: a call then takes
/// half as long again (measured on a virtual machine of two CPUs: 50 us, not 36).
/// A value: whoever owns it tells what happens and moves the worker.
class SharedCpu {
 public:
  /// A call has come to the CPU `own` from a main process that wants `shunned` to itself; both
  /// counted from 1, 0: none. `was_quick`: the worker had not slept. Returns true where
  /// the worker should move when it has answered. Before that the main process might fall
  /// asleep over it, and wake beside the worker once more.
  bool should_leave(int own, int shunned, bool was_quick);

 private:
  // A move costs about as much as 15 to 30 calls on a shared CPU lose. A few calls in a row, as
  // interactive work makes them, are over before it pays.
  static constexpr int kLeastPatience = 16;
  static constexpr int kMostPatience = 128;
  static constexpr int kPaid = 16;  // calls apart after which a move was worth its price

  int num_shared_ = 0;             // quick calls in a row that met the main process
  int num_apart_ = kPaid;          // calls since the last move that did not; at most kPaid
  int patience_ = kLeastPatience;  // shared calls before the next move
};

}  // namespace nodelay
