// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace nodelay {

/// How a process ended. Both empty: it ended, but somebody else took the news
/// (SIGCHLD ignored in this process).
struct ExitStatus {
  std::optional<int> code;
  std::optional<int> signal;
};

/// "exited with status 3" or "was killed by signal 9 (SIGKILL)".
std::string describe(const ExitStatus& status);

}  // namespace nodelay
