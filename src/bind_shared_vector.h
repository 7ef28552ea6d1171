// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <cpp11.hpp>

#include "net/shared_memory.h"

namespace nodelay {

/// Puts the large vectors of a value into shared memory while that is serialized, so that
/// they are copied once, however many workers get them, and not at all by those.
/// What is serialized in place of such a vector is where its elements are.
class VectorSharing {
 public:
  /// `value`, or a shallow copy of it in which stand-ins take the place of the large vectors of
  /// numbers, logical values and bytes: of itself, or of the elements of lists in it. To be
  /// serialized and forgotten. Unwinds as R errors do. The caller protects it.
  SEXP stand_in(SEXP value);

  /// The memory, sealed; null where nothing was put there.
  std::shared_ptr<const SharedMemory> take_memory();

 private:
  SEXP stand_in(SEXP value, int depth);
  SEXP stand_in_for_list(SEXP list, int depth);
  SEXP stand_in_for_vector(SEXP vector);

  std::optional<SharedMemory> memory_;
  bool has_failed_ = false;  // there is no memory to share: everything goes in the stream
};

/// While it exists, stand-ins that are unserialized become vectors over `memory`.
class VectorTaking {
 public:
  /// `memory` may be null: then a stand-in is an error.
  explicit VectorTaking(const SharedMemory* memory);
  ~VectorTaking();
  VectorTaking(const VectorTaking&) = delete;
  VectorTaking& operator=(const VectorTaking&) = delete;

 private:
  const SharedMemory* previous_;  // reading a value can make R read another
};

}  // namespace nodelay
