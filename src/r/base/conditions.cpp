// SPDX-License-Identifier: MIT
#include "r/base/conditions.h"

namespace nodelay {

void raise(ErrorKind kind, const std::string& message, const cpp11::writable::list& fields) {
  cpp11::package("nodelay")["signal_error"](name_of(kind), message, fields);
  cpp11::stop("signal_error() returned");  // it never does
}

}  // namespace nodelay
