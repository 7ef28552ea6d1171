// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/buffer.h"

namespace nodelay {

/// Finds where one value in R's serialization format ends, without building it.
/// Base-R workers send such values with no frame around them. The scanner may be
/// fed in pieces cut anywhere: it keeps its place between them. It knows versions
/// 2 and 3 in the XDR ("X\n") and native ("B\n") encodings; see R's serialize.c
/// and "Serialization Formats" in the manual R Internals. It allocates a few bytes
/// for each level of nesting, never for a length that the input claims.
class ValueScanner {
 public:
  enum class State {
    going,      ///< the value goes on past the bytes seen so far
    complete,   ///< the value has ended
    malformed,  ///< the bytes are no serialized value
  };

  ValueScanner();

  /// Looks at the bytes that follow those of the calls before. Returns how many of
  /// them belong to the value: all of them while it is going, fewer where it ends
  /// or breaks among them. A finished or broken scanner takes none.
  std::size_t feed(Bytes bytes);

  State state() const { return state_; }

  /// Makes ready for the next value.
  void restart();

  // Private members: see the implementation.
};

}  // namespace nodelay
