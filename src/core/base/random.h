// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nodelay {

/// Fills `bytes` from the kernel's random source, fit for secrets. R's own random
/// numbers are never touched. Throws Error(system).
void fill_random(std::span<std::byte> bytes);

/// A random number below `bound` (> 0).
std::uint64_t random_below(std::uint64_t bound);

}  // namespace nodelay
