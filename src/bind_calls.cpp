// SPDX-License-Identifier: MIT
#include "r/base/conditions.h"
#include "r/main/schedules.h"

using namespace nodelay;

// Whether every node of `cl` is one of nodelay's, so that what is below can be used.
[[cpp11::register]] bool is_own_cluster(SEXP cl) {
  return consists_of_own_nodes(cl);
}

// Calls `fun` with the list `args` on every node, see call_all(). NULL where one of the nodes is
// not nodelay's.
[[cpp11::register]] SEXP cluster_call(SEXP cl, SEXP fun, SEXP args) {
  if (!consists_of_own_nodes(cl)) return R_NilValue;
  return entry([&] { return call_all(cl, fun, args); });
}

// Runs tasks one by one, see run_tasks().
[[cpp11::register]] SEXP cluster_run(SEXP cl, SEXP fun, int num_tasks, SEXP make_arguments,
                                     bool is_dynamic) {
  return entry([&] { return run_tasks(cl, fun, num_tasks, make_arguments, is_dynamic); });
}

// Runs slices of elements, see run_sliced().
[[cpp11::register]] SEXP cluster_run_slices(SEXP cl, SEXP fun, int num_elements,
                                            SEXP make_arguments) {
  return entry([&] { return run_sliced(cl, fun, num_elements, make_arguments); });
}
