// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <cpp11.hpp>

#include "net/payload.h"
#include "r/values/by_r.h"

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

/// Builds the value that `bytes` hold in either format, some of it perhaps over the shared memory
/// that came with them; the caller protects it. Unwinds as R errors do. Throws Error(protocol)
/// where the bytes are broken, or that memory is not sealed.
SEXP unserialize(Bytes bytes, Descriptor memory = {});

}  // namespace nodelay
