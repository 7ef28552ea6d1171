// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"

namespace nodelay {

/// Waits for many descriptors at once at a cost that grows with the number of those that
/// are ready, not of all. The descriptors are borrowed: none is closed
/// while the poller waits for it.
class Poller {
 public:
  enum class Interest { input, input_and_output };

  /// `token` names a descriptor in what wait() returns.
  struct Ready {
    std::size_t token;
    bool has_input;  ///< something can be read, or the peer has closed
    bool has_room;   ///< output can be written
  };

  /// Throws Error(system).
  Poller();

  /// Begins to watch `descriptor`. Throws Error(system).
  void add(int descriptor, Interest interest, std::size_t token);

  /// Changes what is waited for at a descriptor that is watched. Throws Error(system).
  void change(int descriptor, Interest interest, std::size_t token);

  /// Waits until a descriptor is ready, a signal arrives or `deadline` has come. The result is
  /// valid until the next call; empty after a signal or the deadline. Throws Error(system).
  std::span<const Ready> wait(TimePoint deadline);

 private:
  Descriptor queue_;
  std::vector<Ready> ready_;
};

}  // namespace nodelay
