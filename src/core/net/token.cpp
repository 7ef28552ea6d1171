// SPDX-License-Identifier: MIT
#include "net/token.h"

#include <array>

#include "base/random.h"

namespace nodelay {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string random_half() {
  std::array<std::byte, kTokenHalfBytes / 2> bytes{};
  fill_random(bytes);
  std::string half;
  half.reserve(kTokenHalfBytes);
  for (const std::byte byte : bytes) {
    half += kHexDigits[std::to_integer<unsigned>(byte) >> 4];
    half += kHexDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return half;
}

}  // namespace

Token Token::random() {
  return {random_half(), random_half()};
}

std::optional<Token> Token::parse(std::string_view text) {
  if (text.size() != 2 * kTokenHalfBytes) return std::nullopt;
  if (text.find_first_not_of(kHexDigits) != std::string_view::npos) return std::nullopt;
  return Token{std::string(text.substr(0, kTokenHalfBytes)),
               std::string(text.substr(kTokenHalfBytes))};
}

bool equal_secrets(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(left[i]) ^
                                        static_cast<unsigned char>(right[i]));
  }
  return difference == 0;
}

}  // namespace nodelay
