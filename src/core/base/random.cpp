// SPDX-License-Identifier: MIT
#include "base/random.h"

#include <sys/random.h>

#include "base/system_call.h"

namespace nodelay {

void fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t filled = system_call("reading random bytes",
                                       [&] { return ::getrandom(bytes.data(), bytes.size(), 0); });
    bytes = bytes.subspan(static_cast<std::size_t>(filled));
  }
}

std::uint64_t random_below(std::uint64_t bound) {
  std::uint64_t value = 0;
  fill_random(std::as_writable_bytes(std::span(&value, 1)));
  return value % bound;  // the bias is below bound / 2^64
}

}  // namespace nodelay
