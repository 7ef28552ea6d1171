// SPDX-License-Identifier: MIT
#pragma once

#include <cpp11.hpp>

// nodelay's own ways to run calls on a cluster: on every node, task by task, in slices.
namespace nodelay {

/// Whether every node of `cl` is one of nodelay's, so that what is below can be used.
bool consists_of_own_nodes(SEXP cl);

/// Calls `function` with the list `arguments` on every node of `cl`. A list of what that gave, in
/// the order of the nodes, with the attribute "has_errors" where one of them stands for an error.
/// Raises what became of a lost node; unwinds as R errors do. So do the others.
SEXP call_all(SEXP cl, SEXP function, SEXP arguments);

/// Calls `function` `num_tasks` times, with the lists that `make_arguments(i, i)` gives; a list of
/// the values, in the order of the tasks.
SEXP run_tasks(SEXP cl, SEXP function, int num_tasks, SEXP make_arguments, bool is_dynamic);

/// Calls `function` with the lists that `make_arguments(first, last)` gives for slices of
/// `num_elements` elements, each of a size that suits how long they take; a list of the values, in
/// the order of the slices.
SEXP run_sliced(SEXP cl, SEXP function, int num_elements, SEXP make_arguments);

}  // namespace nodelay
