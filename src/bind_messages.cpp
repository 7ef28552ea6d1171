// SPDX-License-Identifier: MIT
#include "r/base/conditions.h"
#include "r/main/messages.h"

using namespace nodelay;

// Sends one message of parallel's kind, a list with elements type, data and tag.
[[cpp11::register]] void node_send(SEXP pointer, SEXP message) {
  entry([&] { send_message(pointer, message); });
}

// Waits for the next value that the worker sends.
[[cpp11::register]] SEXP node_receive(SEXP pointer) {
  return entry([&] { return receive_message(handle_of(pointer)); });
}

// Waits for the next value of any of the nodes; a list of its index among them and the value.
[[cpp11::register]] cpp11::list nodes_receive_one(cpp11::list pointers) {
  return entry([&] { return receive_any_message(handles_of(pointers)); });
}

// Abandons all that the nodes have under way and tells their workers to stop. Nodes that
// cannot be used any more are passed over.
[[cpp11::register]] void nodes_give_up(cpp11::list pointers) {
  entry([&] { give_up(pointers); });
}
