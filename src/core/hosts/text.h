// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace nodelay {

/// What separates words in files and variables.
inline constexpr std::string_view kBlanks = " \t\r\n";

/// `text` without blanks at its ends.
std::string_view trimmed(std::string_view text);

/// The non-empty pieces of `text` between characters of `separators`. They refer to
/// `text`.
std::vector<std::string_view> split(std::string_view text, std::string_view separators);

/// The lines of `text` that are not blank, trimmed. They refer to `text`.
std::vector<std::string_view> lines_of(std::string_view text);

/// The whole number that all of `text` spells, with or without a sign; nothing where it
/// spells none, or one that an int has no room for.
std::optional<int> whole_number(std::string_view text);

}  // namespace nodelay
