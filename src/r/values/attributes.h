// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <cpp11.hpp>

namespace nodelay {

/// How many attributes `value` has, where setting them one after the other on a fresh copy gives
/// the same again. So it is wherever R's own functions made them; not for dimensions that do not
/// fit, say, or a factor of doubles, which bytes from elsewhere can hold: nothing then. Runs no R
/// code.
std::optional<std::uint64_t> num_usual_attributes(SEXP value);

}  // namespace nodelay
