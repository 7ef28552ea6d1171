// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "hosts/machine.h"

namespace nodelay {

/// How many CPUs of this machine something allots to this process.
struct CoreCount {
  std::optional<int> cores;  // nothing: it does not say
  std::vector<std::string> warnings;
};

/// The hosts that a job scheduler allots to this job, each once for every worker that
/// may run on it.
struct HostList {
  std::optional<std::vector<std::string>> hosts;  // nothing: it does not name hosts
  std::vector<std::string> warnings;

  /// Adds `host` once for each of `num_workers`. Adds nothing and returns false where that
  /// is negative, or where the list would have more than 2^20 workers.
  bool add(const std::string& host, int num_workers);
};

/// The number in the first of these environment variables that is set. One that holds no
/// whole number is passed over with a warning.
CoreCount count_in_variables(const Machine& machine, std::initializer_list<const char*> names);

/// The content of the file that an environment variable names, and its warnings: nothing
/// without a warning where the variable is not set, with one where there is no such file.
struct NamedFile {
  std::optional<std::string> content;
  std::string path;
  std::vector<std::string> warnings;
};
NamedFile file_in_variable(const Machine& machine, const std::string& name);

}  // namespace nodelay
