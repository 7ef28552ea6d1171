// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace nodelay {

/// Writes an integer as it travels: little-endian whatever the machine (docs/protocol.md).
template <typename Integer>
void put(std::byte* to, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    to[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}

/// Reads what put() wrote.
template <typename Integer>
Integer get(const std::byte* from) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  }
  return static_cast<Integer>(value);
}

}  // namespace nodelay
