// SPDX-License-Identifier: MIT
#pragma once

#include <nodelay/error.h>

#include <string>
#include <utility>

#include <cpp11.hpp>

#include "cluster/node.h"

namespace nodelay {

/// Raises an R condition of class nodelay_error_<kind>; `fields` become elements of
/// the condition. Unwinds as R errors do.
[[noreturn]] void raise(ErrorKind kind, const std::string& message,
                        const cpp11::writable::list& fields);

/// Raises what became of a lost node as nodelay_error_worker_lost.
[[noreturn]] void raise_loss(const Node& node);

/// The fields by which conditions name a node and what became of it.
cpp11::writable::list loss_fields(const Node& node);

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
