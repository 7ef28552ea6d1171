// SPDX-License-Identifier: MIT
#include "r/main/loss.h"

#include "r/base/conditions.h"

namespace nodelay {
namespace {

using namespace cpp11::literals;

SEXP integer_or_na(const std::optional<int>& value) {
  return cpp11::as_sexp(value ? *value : NA_INTEGER);
}

}  // namespace

cpp11::writable::list loss_fields(const Node& node) {
  const Loss& loss = *node.loss();
  const ExitStatus exit = loss.exit.value_or(ExitStatus{});
  return cpp11::writable::list(
      {"node"_nm = node.identity().rank, "pid"_nm = static_cast<int>(node.pid()),
       "host"_nm = node.identity().host, "command"_nm = node.identity().command,
       "status"_nm = integer_or_na(exit.code), "signal"_nm = integer_or_na(exit.signal),
       "stderr"_nm = loss.last_lines});
}

void raise_loss(const Node& node) {
  const Loss& loss = *node.loss();
  raise(ErrorKind::worker_lost,
        describe(node, loss) +
            "\nThe other workers of its cluster stay usable: leave this one out, "
            "as in cl[-" +
            std::to_string(node.identity().rank) + "], or start a new cluster.",
        loss_fields(node));
}

}  // namespace nodelay
