// SPDX-License-Identifier: MIT
#include "launch/exit_status.h"

#include <cstring>

namespace nodelay {

std::string describe(const ExitStatus& status) {
  if (status.code) return "exited with status " + std::to_string(*status.code);
  if (!status.signal) return "ended, nobody knows how";
  const char* name = ::sigabbrev_np(*status.signal);
  std::string text = "was killed by signal " + std::to_string(*status.signal);
  return name ? text + " (SIG" + name + ")" : text;
}

}  // namespace nodelay
