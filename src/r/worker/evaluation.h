// SPDX-License-Identifier: MIT
#pragma once

#include <cpp11.hpp>

namespace nodelay {

/// What do.call() of this version of R puts around each argument: quote or base::quote. Functions
/// see it in their calls.
cpp11::sexp quoting_function();

/// Calls `function`, or the one of that name, with the list `arguments` as parallel:::workCommand()
/// does: by do.call(), in a fresh frame below that of its namespace, which is `enclosure`. `quote`
/// is quoting_function(). Ends as R errors do; the caller protects the value.
SEXP evaluate(SEXP function, SEXP arguments, SEXP enclosure, SEXP quote);

}  // namespace nodelay
