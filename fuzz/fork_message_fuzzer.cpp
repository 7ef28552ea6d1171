// SPDX-License-Identifier: MIT
#include "wire/fork_message.h"

#include <algorithm>
#include <cstdlib>

// Whatever decodes must encode to the bytes that it was decoded from.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto request = nodelay::decode_fork_request(bytes);
  if (request && !std::ranges::equal(nodelay::encode_fork_request(*request), bytes)) std::abort();
  const auto answer = nodelay::decode_fork_answer(bytes);
  if (answer && !std::ranges::equal(nodelay::encode_fork_answer(*answer), bytes)) std::abort();
  return 0;
}
