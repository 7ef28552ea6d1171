// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace nodelay {

/// What there is to know about a machine and the job that runs on it: files, and
/// environment variables. All of hosts/ reads through this, so that tests can make up
/// a machine.
struct Machine {
  /// Stands for "/"; files are looked up below it.
  std::filesystem::path root;
  /// An environment variable, nothing where it is not set.
  std::function<std::optional<std::string>(const std::string& name)> environment;

  /// The value of an environment variable without blanks at its ends; nothing where it
  /// is not set or blank.
  std::optional<std::string> variable(const std::string& name) const;

  /// The whole content of the file that is called `path` on the machine ("/proc/mounts");
  /// nothing where it cannot be read.
  std::optional<std::string> file(const std::filesystem::path& path) const;

  /// The machine's own name, "" where it is unknown.
  std::string host_name() const;
};

/// The machine that this process runs on.
Machine this_machine();

}  // namespace nodelay
