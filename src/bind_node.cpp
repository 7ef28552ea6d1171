// SPDX-License-Identifier: MIT
#include "r/base/conditions.h"
#include "r/main/node_handle.h"

using namespace nodelay;

// The plan that the node was started from, see node_plan() in R/makeNodePSOCK.R.
[[cpp11::register]] SEXP handle_plan(SEXP pointer) {
  return entry([&] {
    handle_of(pointer);
    return R_WeakRefValue(R_ExternalPtrProtected(pointer));
  });
}

// The node's worker runs on this machine and leaves its temporary folder to this process
// where it is killed.
[[cpp11::register]] void node_own_folder(SEXP pointer, std::string path) {
  entry([&] { handle_of(pointer).node->set_temporary_folder(TemporaryFolder(path)); });
}

// A list: state ("running", "lost" or "stopped"), pid, text of a loss, and R's connection to the
// node, NULL where nobody has asked for it.
[[cpp11::register]] cpp11::list node_state(SEXP pointer) {
  using namespace cpp11::literals;
  return entry([&] {
    NodeHandle& handle = handle_of(pointer);
    Node& node = *handle.node;
    node.look_after();
    const char* state = node.is_stopped() ? "stopped" : node.loss() ? "lost" : "running";
    return cpp11::writable::list(
        {"state"_nm = state, "pid"_nm = static_cast<int>(node.pid()),
         "text"_nm = node.loss() ? describe(node, *node.loss()) : std::string(),
         "connection"_nm = handle.connection});
  });
}

// R's own connection to the node, made on first use and kept as long as the node; NULL in
// another process than the node's.
[[cpp11::register]] SEXP node_socket_connection(SEXP pointer) {
  return entry([&]() -> SEXP {
    NodeHandle* handle = own_handle(pointer);
    return handle == nullptr ? R_NilValue : socket_connection(*handle);
  });
}
