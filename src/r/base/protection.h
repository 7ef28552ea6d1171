// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include <cpp11.hpp>

namespace nodelay {

/// Runs `body`, which calls R's C interface and may throw: an R error in it becomes cpp11's
/// exception, and its own exceptions pass, but not through R. What `body` owns must live outside of
/// it. Returns what `body` does, unprotected. Not for use inside itself.
template <typename Body>
SEXP protected_from_jumps(Body body) {
  std::exception_ptr thrown;
  SEXP result = cpp11::unwind_protect([&]() -> SEXP {
    try {
      return body();
    } catch (...) {
      thrown = std::current_exception();
      return R_NilValue;
    }
  });
  if (thrown) std::rethrow_exception(thrown);
  return result;
}

}  // namespace nodelay
