// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include <cpp11.hpp>

#include "net/payload.h"
#include "r/values/by_r.h"
#include "r/values/references.h"

namespace nodelay {

inline constexpr std::size_t kNumEncodings = 2;

/// Who will read a value, and so how it may travel.
enum class Reader {
  base_r,          ///< in R's format alone
  nodelay,         ///< in nodelay's
  nodelay_beside,  ///< on this machine: with large vectors in shared memory too
};

inline constexpr std::size_t kNumReaders = 3;

/// Buffers of up to this many bytes are kept for the next value, to be written or to be read.
inline constexpr std::size_t kLargestSpare = std::size_t{256} * 1024;

/// `value` in R's format. Unwinds as R errors do.
std::shared_ptr<const Buffer> serialize(SEXP value, Encoding encoding);

/// `value` as `reader` may get it; `encoding` is for base R. Unwinds as R errors do.
Payload make_payload(SEXP value, Encoding encoding, Reader reader);

/// The same for a reader with nodelay that has read `known` before, which then also holds what
/// this value has: for a function, and the arguments of calls of it.
Payload make_payload(SEXP value, Reader reader, References& known);

/// Builds the value that `bytes` hold in either format, some of it perhaps over the shared memory
/// that came with them; the caller protects it. Unwinds as R errors do. Throws Error(protocol)
/// where the bytes are broken, or that memory is not sealed.
SEXP unserialize(Bytes bytes, Descriptor memory = {});

/// A function as it came, for calls that each get a copy of it.
class KeptValue {
 public:
  KeptValue() = default;
  /// Copies `bytes`. Throws Error(protocol) where the memory is not sealed.
  KeptValue(Bytes bytes, Descriptor memory);

  Bytes bytes() const { return bytes_.bytes(); }
  const std::optional<SharedMemory>& memory() const { return memory_; }

 private:
  Buffer bytes_;
  std::optional<SharedMemory> memory_;
};

/// A new copy of what was kept. As unserialize() otherwise.
SEXP read_kept(const KeptValue& kept);

/// A list of two: a new copy of what was kept, and the value of `bytes`, which may refer to what is
/// in that. As unserialize() otherwise.
SEXP unserialize_with(const KeptValue& kept, Bytes bytes, Descriptor memory);

}  // namespace nodelay
