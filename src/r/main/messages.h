// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <cpp11.hpp>

#include "r/main/node_handle.h"

// Messages of package parallel's kind, to and from single nodes: what its cluster functions are
// made of.
namespace nodelay {

/// Sends one message, a list with elements type, data and tag, to the node of the handle
/// `pointer`. Raises what became of a lost node; throws Error(stopped), Error(argument).
void send_message(SEXP pointer, SEXP message);

/// Waits for the next value that the worker sends; the caller protects it. Raises what became of a
/// lost node; throws Error(stopped), Error(timeout), Error(argument) where none is due.
SEXP receive_message(NodeHandle& handle);

/// Waits for the next value of any of the nodes; a list of its index among them and the value.
/// Fails as receive_message() does.
cpp11::list receive_any_message(const std::vector<NodeHandle*>& handles);

/// Abandons all that the nodes have under way and tells their workers to stop. Nodes that cannot be
/// used any more are passed over.
void give_up(const cpp11::list& pointers);

}  // namespace nodelay
