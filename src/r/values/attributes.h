// SPDX-License-Identifier: MIT
#pragma once

#include <cpp11.hpp>

namespace nodelay {

/// Whether setting the attributes of `value` one after the other on a fresh copy gives the same
/// again. So it is wherever R's own functions made them; not for dimensions that do not fit, say,
/// or a factor of doubles, which bytes from elsewhere can hold. Runs no R code.
bool has_usual_attributes(SEXP value);

}  // namespace nodelay
