// SPDX-License-Identifier: MIT
#pragma once

#include <cpp11.hpp>

namespace nodelay {

/// A list's element `name`, R_NilValue where there is none. Allocates nothing.
SEXP list_element(SEXP list, const char* name);

/// The same as a C++ value. Throws as conversions of cpp11 do where it is of another type.
template <typename Value>
Value element(const cpp11::list& list, const char* name) {
  return cpp11::as_cpp<Value>(list_element(list, name));
}

/// True where `text` is one string and equals `expected`.
bool is_string(SEXP text, const char* expected);

}  // namespace nodelay
