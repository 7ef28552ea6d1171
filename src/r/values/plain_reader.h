// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include <cpp11.hpp>

#include "wire/buffer.h"

namespace nodelay {

/// What follows the header of a value that read_plain_value() may be able to read: a small one,
/// written by the same version of R in the same locale. Nothing for others. Unwinds as R
/// errors do.
std::optional<Bytes> plain_content(Bytes bytes);

/// Builds the value of such content as R's own unserializer does, but in less time: that one makes
/// a call for every four bytes. Null for values that are left to R, broken ones among them, of
/// which R then tells. The caller protects it. Ends by an R error where memory runs short or a
/// string is broken.
SEXP read_plain_value(Bytes content);

}  // namespace nodelay
