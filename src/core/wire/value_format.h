// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace nodelay {

// The numbers of nodelay's format of values; docs/protocol.md, "Values", is their grammar.

/// The first byte of a value in this format. R's own format begins with 'A', 'B' or 'X'.
inline constexpr std::byte kValueMagic{'N'};

/// What an item is. The numbers are the protocol's; they take five bits of an item's first byte.
enum class Item : std::uint8_t {
  null = 0,
  global_environment = 1,
  base_environment = 2,
  base_namespace = 3,
  empty_environment = 4,
  missing_argument = 5,
  reference = 6,
  symbol = 7,
  logical = 8,  ///< four bytes each, as R keeps them
  integer = 9,
  real = 10,     ///< doubles
  complex = 11,  ///< two doubles each
  raw = 12,
  strings = 13,
  list = 14,
  expression = 15,
  pairlist = 16,
  call = 17,
  closure = 18,
  object = 19,  ///< of S4, without data of its own
  shared = 20,  ///< a vector whose elements lie in shared memory
  by_r = 21,    ///< in R's own format
  run = 22,     ///< of vectors that are alike, in a list only
  new_environment = 23,
  new_pointer = 24,
  new_weak_reference = 25,
  new_foreign = 26,  ///< something that R knows by name: a namespace, an attached package
};

inline constexpr std::uint8_t kItemMask = 0x1f;
inline constexpr std::uint8_t kLastItem = 26;

/// Flags of an item's first byte.
inline constexpr std::uint8_t kHasAttributes = 0x20;
inline constexpr std::uint8_t kIsS4 = 0x40;

/// How a variable is bound in an environment, and a flag beside that.
enum class BindingKind : std::uint8_t { value = 0, active = 1, delayed = 2, forced = 3 };
inline constexpr std::uint8_t kBindingMask = 0x0f;
inline constexpr std::uint8_t kIsLocked = 0x10;

/// The encoding of a string.
enum class StringEncoding : std::uint8_t { native = 0, utf8 = 1, latin1 = 2, bytes = 3 };

/// A string that is among so many of the last ones is not written again. The table of a reader
/// stays in the nearest cache.
inline constexpr std::uint64_t kRecentStrings = 4096;
inline constexpr std::uint64_t kRecentSymbols = 64;

/// A value that is longer travels in parts of about this many bytes: while one is written another
/// is on its way and a third is read, and none leaves the caches.
inline constexpr std::size_t kPartBytes = std::size_t{128} * 1024;

/// A part ends between two tokens, or among the bytes of elements and strings that are longer.
inline constexpr std::size_t kLongestUncut = 4096;

/// Vectors of a list in one run, at most: so many elements can stand in a few bytes.
inline constexpr std::uint64_t kLongestRun = 256;

/// Places in the table of an environment, at most: memory that is taken for a number.
inline constexpr int kLargestTable = 1 << 20;

/// Bytes of the longest number.
inline constexpr std::size_t kLongestNumber = 10;

/// How many bytes each element of a vector takes; 0 where they have no fixed size.
constexpr std::size_t element_bytes(Item item) {
  switch (item) {
    case Item::logical:
    case Item::integer:
      return 4;
    case Item::real:
      return 8;
    case Item::complex:
      return 16;
    case Item::raw:
      return 1;
    default:
      return 0;
  }
}

}  // namespace nodelay
