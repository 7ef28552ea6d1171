// SPDX-License-Identifier: MIT
#pragma once

#include <nodelay/error.h>

#include <string>
#include <utility>

#include <cpp11.hpp>

namespace nodelay {

/// Raises an R condition of class nodelay_error_<kind>; `fields` become elements of
/// the condition. Unwinds as R errors do.
[[noreturn]] void raise(ErrorKind kind, const std::string& message,
                        const cpp11::writable::list& fields);

/// Runs the body of an entry point; an Error of the core becomes an R condition.
template <typename Body>
auto entry(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error& error) {
    using namespace cpp11::literals;
    raise(error.kind(), error.what(), cpp11::writable::list({"errno"_nm = error.errno_value()}));
  }
}

}  // namespace nodelay
