// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/descriptor.h"

namespace nodelay {

/// Puts a descriptor in the place of one that other code of this process opens and keeps to
/// itself. That code is made to connect to port(); its socket is then the only one of this
/// process whose peer is that port, so nothing has to be accepted, and a stranger who
/// connects as well disturbs nobody.
class Substitution {
 public:
  /// Listens on a free port of 127.0.0.1. Throws Error(system).
  Substitution();

  /// Where to connect to.
  std::uint16_t port() const { return port_; }

  /// Makes the number of the socket that was connected to port() a duplicate of
  /// `descriptor`. Whoever has that number closes it; that does no harm to
  /// `descriptor`. Throws Error(system) where there is no such socket.
  void put(int descriptor);

 private:
  Descriptor listener_;
  std::uint16_t port_;
};

}  // namespace nodelay
