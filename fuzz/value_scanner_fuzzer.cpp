// SPDX-License-Identifier: MIT
#include "wire/value_scanner.h"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace {

using State = nodelay::ValueScanner::State;

constexpr std::size_t kLongestPiece = 16;

struct Outcome {
  State state;
  std::size_t taken;
  bool operator==(const Outcome&) const = default;
};

Outcome feed_whole(nodelay::Bytes bytes) {
  nodelay::ValueScanner scanner;
  const std::size_t taken = scanner.feed(bytes);
  return {scanner.state(), taken};
}

// The last byte chooses the cuts, so that a plain value is a fine seed and a byte appended to it
// cuts it differently.
Outcome feed_in_pieces(nodelay::Bytes bytes) {
  std::minstd_rand random(bytes.empty() ? 0u : std::to_integer<unsigned>(bytes.back()));
  nodelay::ValueScanner scanner;
  std::size_t taken = 0;
  while (scanner.state() == State::going && taken < bytes.size()) {
    const auto rest = bytes.subspan(taken);
    const auto piece = std::min<std::size_t>(random() % (kLongestPiece + 1), rest.size());
    taken += scanner.feed(rest.first(piece));
  }
  return {scanner.state(), taken};
}

}  // namespace

// Where a value ends must not depend on how its bytes arrive, and a value that goes on has taken
// all bytes.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto whole = feed_whole(bytes);
  if (whole != feed_in_pieces(bytes)) std::abort();
  if (whole.taken > size || (whole.state == State::going && whole.taken < size)) std::abort();
  return 0;
}
