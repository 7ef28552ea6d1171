// SPDX-License-Identifier: MIT
#include "launch/worker_command.h"

#include <algorithm>

namespace nodelay {
namespace {

// "NAME=", where the word sets an environment variable for the command behind it.
std::string_view assigned_name(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return {};
  const std::string_view name = word.substr(0, equals);
  const bool is_name = std::all_of(name.begin(), name.end(), [](unsigned char character) {
    return std::isalnum(character) || character == '_';
  });
  if (!is_name || std::isdigit(static_cast<unsigned char>(name[0]))) return {};
  return word.substr(0, equals + 1);
}

std::string word_text(const Word& word, Shell shell) {
  if (word.is_raw) return word.text;
  if (shell != Shell::posix) return quoted(word.text, shell);
  const std::string_view name = assigned_name(word.text);
  const std::string_view value = std::string_view(word.text).substr(name.size());
  // The shell would take a quoted "NAME=" for a program.
  return name.empty() ? quoted(value, shell) : std::string(name) + shell_quoted(value);
}

// Words that no shell could misread stay unquoted, as people would write them.
std::string plain_text(const std::string& word, Shell shell) {
  const std::string posix = shell_quoted(word);
  return posix == word ? word : quoted(word, shell);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += ' ';
    text += part;
  }
  return text;
}

// Where the program does not know the option, R reads the variable.
std::string packages_variable(const WorkerCommand& command) {
  return "R_DEFAULT_PACKAGES=" + *command.default_packages;
}

}  // namespace

std::string command_text(const WorkerCommand& command, Shell shell) {
  std::vector<std::string> parts;
  const bool needs_variable = command.default_packages && !command.is_rscript;
  if (needs_variable && shell != Shell::windows) parts.push_back(packages_variable(command));
  if (command.niceness > 0) {
    parts.push_back("nice -n " + std::to_string(command.niceness));
    // It would take an assignment for the program.
    if (!command.program.empty() && !assigned_name(command.program[0].text).empty()) {
      parts.emplace_back("env");
    }
  }
  for (const Word& word : command.program) parts.push_back(word_text(word, shell));
  parts.insert(parts.end(), command.arguments_before.begin(), command.arguments_before.end());
  if (needs_variable && shell == Shell::windows) parts.push_back(packages_variable(command));
  if (command.default_packages && command.is_rscript) {
    parts.push_back("--default-packages=" + *command.default_packages);
  }
  for (const std::string& code : command.code) parts.push_back("-e " + quoted(code, shell));
  parts.insert(parts.end(), command.arguments_after.begin(), command.arguments_after.end());
  for (const std::string& setting : command.settings) parts.push_back(plain_text(setting, shell));
  return joined(parts);
}

bool begins_with_assignment(const WorkerCommand& command) {
  if (command.default_packages && !command.is_rscript) return true;
  return command.niceness == 0 && !command.program.empty() &&
         !assigned_name(command.program[0].text).empty();
}

std::optional<std::vector<std::string>> command_argv(const WorkerCommand& command) {
  std::vector<std::string> argv;
  if (command.niceness > 0) argv = {"nice", "-n", std::to_string(command.niceness)};
  for (const Word& word : command.program) {
    if (word.is_raw || !assigned_name(word.text).empty()) return std::nullopt;
    argv.push_back(word.text);
  }
  if (!command.arguments_before.empty() || !command.arguments_after.empty()) return std::nullopt;
  if (command.default_packages) {
    if (!command.is_rscript) return std::nullopt;
    argv.push_back("--default-packages=" + *command.default_packages);
  }
  for (const std::string& code : command.code) {
    argv.push_back("-e");
    argv.push_back(code);
  }
  argv.insert(argv.end(), command.settings.begin(), command.settings.end());
  return argv;
}

std::string remote_options_text(const RemoteShell& shell, std::uint16_t port) {
  std::vector<std::string> parts;
  if (!shell.log_path.empty()) {
    parts.push_back(shell.log_option + " " + quoted(shell.log_path, Shell::posix));
  }
  if (shell.tunnel) {
    parts.push_back("-R " + shell_quoted(std::to_string(shell.tunnel->remote_port) + ":" +
                                         shell.tunnel->master + ":" + std::to_string(port)));
  }
  if (!shell.user.empty()) parts.push_back("-l " + shell_quoted(shell.user));
  parts.insert(parts.end(), shell.options.begin(), shell.options.end());
  return joined(parts);
}

std::string remote_shell_text(const RemoteShell& shell, std::uint16_t port) {
  std::vector<std::string> parts;
  for (const Word& word : shell.program) parts.push_back(word_text(word, Shell::posix));
  parts.push_back(remote_options_text(shell, port));
  return joined(parts);
}

}  // namespace nodelay
