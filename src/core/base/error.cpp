// SPDX-License-Identifier: MIT
#include <nodelay/error.h>

#include <system_error>

namespace nodelay {

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::argument:
      return "argument";
    case ErrorKind::system:
      return "system";
    case ErrorKind::start_failed:
      return "start_failed";
    case ErrorKind::worker_lost:
      return "worker_lost";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::protocol:
      return "protocol";
    case ErrorKind::stopped:
      return "stopped";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(message), kind_(kind) {}

Error::Error(int errno_value, const std::string& doing)
    : std::runtime_error(doing + " failed: " + std::generic_category().message(errno_value)),
      kind_(ErrorKind::system),
      errno_value_(errno_value) {}

}  // namespace nodelay
