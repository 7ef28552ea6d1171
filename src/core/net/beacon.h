// SPDX-License-Identifier: MIT
#pragma once

#include "base/descriptor.h"

namespace nodelay {

/// A descriptor for those who only poll(): readable while one of the descriptors that it
/// watches is, or while it is raised. That a message has been read ahead shows on no
/// stream; on a beacon it does. Nothing can be read from it or written to it, so a stranger
/// who tries takes no byte from the stream behind it.
class Beacon {
 public:
  /// Watches `stream` and `process` (-1: none) for input, an end or an error. A watched
  /// descriptor that is closed drops out. Throws Error(system).
  Beacon(int stream, int process);

  /// Makes it readable, whatever is watched, or leaves that to what is watched.
  void set_raised(bool is_raised);

  /// The descriptor to poll for input. A duplicate of it outlives the beacon.
  int descriptor() const { return set_.get(); }

 private:
  void watch(int descriptor);

  Descriptor set_;    // of all that is watched
  Descriptor raise_;  // one of them; readable while raised
  bool is_raised_ = false;
};

}  // namespace nodelay
