// SPDX-License-Identifier: MIT
#pragma once

#include "wire/buffer.h"

namespace nodelay {

// The numbers of R's format, from "R Internals", section "Serialization Formats", and
// src/main/serialize.c of R. Types of items that are no types of R values:
inline constexpr int kReferenceItem = 255;
inline constexpr int kNullItem = 254;
inline constexpr int kGlobalEnvironmentItem = 253;
inline constexpr int kMissingArgumentItem = 251;
inline constexpr int kEmptyEnvironmentItem = 242;
inline constexpr int kBaseEnvironmentItem = 241;

// Flags of an item: type, these, and levels; of a reference, its index.
inline constexpr int kTypeMask = 0xff;
inline constexpr int kIsObject = 1 << 8;
inline constexpr int kHasAttributes = 1 << 9;
inline constexpr int kHasTag = 1 << 10;
inline constexpr int kLevelsShift = 12;
inline constexpr int kReferenceShift = 8;

// Levels of a string: its encoding, where that is not the locale's. They are R's own, of Defn.h.
inline constexpr int kBytesLevel = 1 << 1;
inline constexpr int kLatin1Level = 1 << 2;
inline constexpr int kUtf8Level = 1 << 3;
inline constexpr int kAsciiLevel = 1 << 6;
inline constexpr int kNotWrittenLevels = 1 << 5 | 1;  // of this process only

inline constexpr int kMissingStringLength = -1;

// Values that nodelay reads and writes itself are no larger: for larger ones R is as fast.
inline constexpr int kMostPlainParts = 10'000;
inline constexpr int kDeepestPlainPart = 64;

/// What stands in front of every value that this process writes in its native format: version,
/// and the encoding of strings without a mark, which goes with the locale. Valid until the next
/// call. Runs R code for the first value in a locale; unwinds as R errors do.
Bytes plain_format_header();

}  // namespace nodelay
