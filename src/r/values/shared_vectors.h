// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <cpp11.hpp>

#include "net/shared_memory.h"
#include "wire/value_format.h"

namespace nodelay {

/// Below this a vector is copied through the stream in less time than it takes to share it.
inline constexpr std::size_t kSmallestShared = std::size_t{256} * 1024;  // bytes

/// The R type of vectors of numbers, logical values or bytes; NILSXP for other items.
SEXPTYPE type_of(Item item);

/// A vector of `length` elements that lie at `offset` of `memory`, and stay there: what is written
/// to it is seen by nobody else. Where they cannot be mapped, or are a small part of the memory, an
/// ordinary vector with a copy. Ends by an R error where there is no such place in the memory;
/// the caller protects the result.
SEXP vector_over(const SharedMemory& memory, Item item, std::uint64_t offset, std::uint64_t length);

/// Defines the classes of such vectors, when the package is loaded.
void define_shared_vectors(DllInfo* dll);

}  // namespace nodelay
