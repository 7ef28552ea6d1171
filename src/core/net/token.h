// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nodelay {

/// Bytes of each half of a token as it travels: 32 random bytes in hexadecimal.
inline constexpr std::size_t kTokenHalfBytes = 64;

/// The secret of one worker. It goes to the worker in its environment, never on a
/// command line. When they meet, the worker says its half first and the main
/// process answers with the other, so that each knows the other before a byte of R
/// data is read.
struct Token {
  std::string worker_half;
  std::string main_half;

  /// Throws Error(system) where the kernel gives no random bytes.
  static Token random();

  /// Reads what text() wrote; nothing where it is not that.
  static std::optional<Token> parse(std::string_view text);

  std::string text() const { return worker_half + main_half; }
};

/// Compares in a time that does not depend on where the two differ.
bool equal_secrets(std::string_view left, std::string_view right);

}  // namespace nodelay
