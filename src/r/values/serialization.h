// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <cpp11.hpp>

#include "net/payload.h"
#include "wire/buffer.h"

namespace nodelay {

enum class Encoding {
  native,  ///< this machine's byte order, for a worker of the same kind
  xdr,     ///< big-endian, for any worker
};

inline constexpr std::size_t kNumEncodings = 2;

/// Who will read a value, and so how it may travel.
enum class Reader {
  base_r,          ///< in R's format alone
  nodelay,         ///< with stand-ins for lists of small vectors
  nodelay_beside,  ///< on this machine: with large vectors in shared memory too
};

inline constexpr std::size_t kNumReaders = 3;

/// Buffers of up to this many bytes are kept for the next value, to be written or to be read.
inline constexpr std::size_t kLargestSpare = std::size_t{256} * 1024;

/// Serializes `value` in version 3 of R's format. Unwinds as R errors do.
std::shared_ptr<const Buffer> serialize(SEXP value, Encoding encoding);

/// The same, by R's own serializer whatever the value.
std::shared_ptr<const Buffer> serialize_by_r(SEXP value, Encoding encoding);

/// The same, as `reader` may get it.
Payload make_payload(SEXP value, Encoding encoding, Reader reader);

/// How many bytes `value` takes in version 3 of R's format; both encodings take the same.
double serialized_bytes_of(SEXP value);

/// Builds the value that `bytes` hold, some of it perhaps over the shared memory that came with
/// them; the caller protects it. Unwinds as R errors do. Throws Error(protocol) where that memory
/// is not sealed.
SEXP unserialize(Bytes bytes, Descriptor memory = {});

}  // namespace nodelay
