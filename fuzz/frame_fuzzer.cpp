// SPDX-License-Identifier: MIT
#include <nodelay/frame.h>

#include <algorithm>
#include <cstdlib>

// Whatever decodes must encode to the bytes that it was decoded from.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (size >= nodelay::kHeaderBytes) {
    const auto header = nodelay::decode_header(bytes.first<nodelay::kHeaderBytes>());
    if (header && !std::ranges::equal(nodelay::encode_header(*header),
                                      bytes.first<nodelay::kHeaderBytes>())) {
      std::abort();
    }
  }
  const auto hello = nodelay::decode_hello(bytes);
  if (hello && !std::ranges::equal(nodelay::encode_hello(*hello), bytes)) std::abort();
  return 0;
}
