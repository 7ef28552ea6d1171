// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

#include "base/descriptor.h"

namespace nodelay {

/// How many descriptors are open in this process.
std::size_t num_open_descriptors();

/// How many it may have open at most, once OpenFilesLimit has raised its limit. Throws
/// Error(system).
std::size_t most_open_descriptors();

/// Moves a descriptor to a number that select(2) does not know (1024 and above), so that the lower
/// ones stay free for those who use that, as R does. It stays where it is where
/// the limit of open files leaves no such number.
Descriptor moved_out_of_the_way(Descriptor descriptor);

/// This process's own limit of open files (RLIMIT_NOFILE, the soft one).
class OpenFilesLimit {
 public:
  /// Raises the limit, as far as may be, where so many descriptors more would not have
  /// room out of the way. Leaves it alone where they are few. Throws Error(system).
  void make_room_for(std::size_t num_descriptors);

  /// What it was before, which is right for the programs that this process starts; nothing where it
  /// was not raised.
  std::optional<std::size_t> original() const { return original_; }

 private:
  std::optional<std::size_t> original_;
};

}  // namespace nodelay
