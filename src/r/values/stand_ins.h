// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <cpp11.hpp>

#include "net/shared_memory.h"
#include "r/values/packed_list.h"

namespace nodelay {

/// Replaces parts of a value, while that is serialized for a process with nodelay, by stand-ins
/// that travel faster. A large vector of numbers, logical values or bytes goes to shared memory: it
/// is copied once, however many workers get it, and not at all by those. A list of many small
/// vectors goes as a few long ones (see ListPacking).
class StandIns {
 public:
  /// Without `may_share_memory` only lists get stand-ins.
  explicit StandIns(bool may_share_memory) : may_share_memory_(may_share_memory) {}

  /// True where it is plain to see that `value` gets no stand-in: it is small, or a list of small
  /// vectors alone.
  bool needs_none(SEXP value) const;

  /// `value`, or a copy of it in which stand-ins take the place of such vectors and lists: of
  /// itself, or of the elements of lists in it. To be serialized and forgotten. Unwinds as
  /// R errors do. The caller protects it.
  SEXP stand_in(SEXP value);

  /// The memory, sealed; null where nothing was put there.
  std::shared_ptr<const SharedMemory> take_memory();

 private:
  SEXP stand_in(SEXP value, int depth);
  SEXP stand_in_for_elements(SEXP list, int depth);
  SEXP stand_in_for_list(SEXP list, SEXP packed);
  SEXP stand_in_for_vector(SEXP vector);
  bool may_have_stand_in(SEXP value) const;

  bool may_share_memory_;  // false also once there was none
  std::optional<SharedMemory> memory_;
  ListPacking packing_;
};

/// While it exists, stand-ins that are unserialized become what they stand for; vectors lie over
/// `memory`.
class StandInReading {
 public:
  /// `memory` may be null: then a stand-in for a vector is an error.
  explicit StandInReading(const SharedMemory* memory);
  ~StandInReading();
  StandInReading(const StandInReading&) = delete;
  StandInReading& operator=(const StandInReading&) = delete;

 private:
  const SharedMemory* previous_;  // reading a value can make R read another
};

/// Defines their classes, when the package is loaded.
void define_stand_ins(DllInfo* dll);

}  // namespace nodelay
