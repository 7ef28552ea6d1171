// SPDX-License-Identifier: MIT
#include "launch/command_line.h"

namespace nodelay {
namespace {

constexpr std::string_view kLettersAndDigits =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool consists_of(std::string_view text, std::string_view allowed) {
  for (const char character : text) {
    if (kLettersAndDigits.find(character) == std::string_view::npos &&
        allowed.find(character) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string in_single_quotes(std::string_view word) {
  std::string text = "'";
  for (const char character : word) {
    if (character == '\'') {
      text += "'\\''";
    } else {
      text += character;
    }
  }
  return text + "'";
}

// The rules by which Windows programs split their command line: a backslash counts only in
// front of a double quote, where two stand for one ("Parsing C command-line arguments" in
// Microsoft's C runtime documentation).
std::string in_double_quotes(std::string_view word) {
  std::string text = "\"";
  std::size_t num_backslashes = 0;
  for (const char character : word) {
    if (character == '"') text.append(num_backslashes + 1, '\\');
    num_backslashes = character == '\\' ? num_backslashes + 1 : 0;
    text += character;
  }
  return text.append(num_backslashes, '\\') + "\"";
}

}  // namespace

std::string quoted(std::string_view word, Shell shell) {
  switch (shell) {
    case Shell::posix:
      return in_single_quotes(word);
    case Shell::windows:
      return in_double_quotes(word);
    case Shell::none:
      break;
  }
  return std::string(word);
}

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && consists_of(word, "_-+=./:,@%")) return std::string(word);
  return in_single_quotes(word);
}

std::string shell_command(const std::vector<std::string>& argv) {
  if (argv.size() == 3 && argv[0] == "sh" && argv[1] == "-c") return argv[2];
  std::string command;
  for (const std::string& word : argv) {
    if (!command.empty()) command += ' ';
    command += shell_quoted(word);
  }
  return command;
}

std::string r_string(std::string_view text) {
  if (consists_of(text, "_-+=./:,@")) return '"' + std::string(text) + '"';
  std::string code = "rawToChar(as.raw(c(";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0) code += ',';
    code += std::to_string(static_cast<unsigned char>(text[i]));
  }
  return code + ")))";
}

}  // namespace nodelay
