// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>

#include <cpp11.hpp>

#include "wire/buffer.h"

namespace nodelay {

// Values in version 3 of R's own format, by R's own serializer: for base-R workers, and for what
// nodelay's format leaves to R. All end as R errors do; what they return is not protected.

/// The byte orders of R's format.
enum class Encoding {
  native,  ///< this machine's, for a worker of the same kind
  xdr,     ///< big-endian, for any worker
};

/// Gives an environment, external pointer or weak reference a number; called by R's serializer, so
/// it must not throw.
using Numbering = std::function<int(SEXP)>;

/// Appends `value` to `buffer`. With `numbering`, environments and the like are written as numbers.
void write_by_r(SEXP value, Encoding encoding, Buffer& buffer,
                const Numbering* numbering = nullptr);

/// Builds the value that `bytes` hold; `numbered`, a list, holds what they name by numbers.
SEXP read_by_r(Bytes bytes, SEXP numbered = R_NilValue);

/// Binds `symbol` to a promise that will evaluate `expression` in the environment `place`.
void bind_delayed(SEXP symbol, SEXP expression, SEXP place, SEXP environment);

/// Binds `symbol` to a promise of `expression` that has its value.
void bind_forced(SEXP symbol, SEXP expression, SEXP value, SEXP environment);

/// A string in the encoding `codeset` of another process, as R brings it to this process.
SEXP string_from(std::string_view codeset, std::string_view text);

/// The encoding of strings without a mark in this process, a name that goes with the locale.
/// Valid until the next call.
std::string_view native_codeset();

/// How many bytes `value` takes in R's format; both encodings take the same.
double serialized_bytes_of(SEXP value);

}  // namespace nodelay
