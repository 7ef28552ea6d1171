// SPDX-License-Identifier: MIT
#pragma once

#include <cpp11.hpp>

#include "wire/buffer.h"

namespace nodelay {

/// Appends `value` to `buffer` as R's own serializer does in version 3 of its native format, byte
/// for byte, but in less time: that one makes a table of 1,099 entries for each value, which
/// takes longer than a small value. Returns false, with anything in `buffer`, for values that
/// are left to R: with functions, environments other than the well-known ones, ALTREP vectors,
/// or very many parts. Runs no R code but for the first value in a locale; throws
/// std::bad_alloc.
bool write_plain_value(SEXP value, Buffer& buffer);

}  // namespace nodelay
