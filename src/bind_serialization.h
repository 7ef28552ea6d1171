// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <cpp11.hpp>

#include "wire/buffer.h"

namespace nodelay {

enum class Encoding {
  native,  ///< this machine's byte order, for a worker of the same kind
  xdr,     ///< big-endian, for any worker
};

/// Serializes `value` in version 3 of R's format. Unwinds as R errors do.
std::shared_ptr<const Buffer> serialize(SEXP value, Encoding encoding);

/// Builds the value that `bytes` hold; the caller protects it. Unwinds as R errors do.
SEXP unserialize(Bytes bytes);

}  // namespace nodelay
