// SPDX-License-Identifier: MIT
#include "bind_node.h"

#include <cstring>
#include <ctime>
#include <vector>

#include "bind_conditions.h"
#include "net/poll.h"
#include "net/substitution.h"

namespace nodelay {
namespace {

SEXP handle_tag() {
  return Rf_install("nodelay_node");
}

// Closes R's connection to a node that nobody can use any more. No error may leave a finalizer.
void close_connection_silently(SEXP connection) {
  SEXP name = PROTECT(Rf_mkString("nodelay"));
  SEXP package = PROTECT(R_FindNamespace(name));
  SEXP call = PROTECT(Rf_lang2(Rf_install("close_connection"), connection));
  int has_failed = 0;
  R_tryEvalSilent(call, package, &has_failed);
  UNPROTECT(3);
}

void finalize_handle(SEXP pointer) {
  auto* handle = static_cast<NodeHandle*>(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
  if (handle == nullptr) return;
  if (handle->connection != R_NilValue) close_connection_silently(handle->connection);
  delete handle;
}

// A connection of R's own whose descriptor is the node's beacon, so that socketSelect() and the
// like, which take no descriptor and no other kind of connection, tell when a reply waits.
SEXP make_connection(Node& node) {
  cpp11::package package("nodelay");
  Substitution substitution;
  const cpp11::sexp connection = package["open_connection"](static_cast<int>(substitution.port()));
  if (node.is_stopped()) {
    package["close_connection"](connection);
  } else {
    substitution.put(node.ready_descriptor());
  }
  return connection;
}

void ensure_running(const NodeHandle& handle) {
  if (!handle.node->is_stopped()) return;
  throw Error(ErrorKind::stopped, "Worker " + std::to_string(handle.node->identity().rank) +
                                      " was stopped at " + handle.stopped_at +
                                      ": start a new cluster to go on.");
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%H:%M:%S", &local)};
}

// Whether R's function that sends now is one of parallel's or snow's that work on a
// whole cluster. Such a function never has two calls under way on one node: where a node
// still owes a reply, whoever asked for it was interrupted or failed.
bool is_sent_by_cluster_function() {
  return cpp11::as_cpp<bool>(cpp11::package("nodelay")["is_within_cluster_function"]());
}

bool send_all(Node& node) {
  while (!node.send(Clock::now() + kSlice)) cpp11::check_user_interrupt();
  return !node.loss();
}

// A bare worker's value says itself whether it is the outcome of a call: future's
// workers send other values in between.
bool is_outcome(SEXP value) {
  return TYPEOF(value) == VECSXP && is_string(list_element(value, "type"), "VALUE");
}

// The value of a reply; R_UnboundValue where it is not wanted any more.
SEXP value_of(Node& node, const Reply& reply) {
  SEXP value = R_NilValue;  // unprotected, but nothing below allocates
  try {
    value = unserialize(reply.body);
  } catch (...) {
    node.release_reply();
    if (!reply.ends_call) node.settle(true);
    throw;
  }
  node.release_reply();
  if (!reply.ends_call && !node.settle(is_outcome(value))) return R_UnboundValue;
  return value;
}

// The next wanted value that has been read; R_UnboundValue where there is none.
SEXP next_value(Node& node) {
  while (const auto reply = node.take_reply()) {
    const SEXP value = value_of(node, *reply);
    if (value != R_UnboundValue) return value;
  }
  return R_UnboundValue;
}

[[noreturn]] void raise_timeout(NodeHandle& handle) {
  handle.node->give_up_calls();
  throw Error(ErrorKind::timeout, "Worker " + std::to_string(handle.node->identity().rank) +
                                      " sent no reply within " +
                                      std::to_string(static_cast<long>(handle.timeout)) +
                                      " seconds (argument 'timeout'). It was told to stop.");
}

void ensure_reply_is_due(const Node& node) {
  if (node.num_calls() > 0 || node.protocol() == Protocol::bare) return;
  throw Error(ErrorKind::argument,
              "Worker " + std::to_string(node.identity().rank) +
                  " has no call to answer: send one first. An interrupted call is given up.");
}

SEXP receive(NodeHandle& handle) {
  Node& node = *handle.node;
  const TimePoint deadline = seconds_from(Clock::now(), handle.timeout);
  for (bool is_first = true;; is_first = false) {
    const SEXP value = next_value(node);
    if (value != R_UnboundValue) return value;
    if (node.loss()) raise_loss(node);
    ensure_running(handle);
    ensure_reply_is_due(node);
    if (!is_first) cpp11::check_user_interrupt();  // not before a reply that is about to come
    const TimePoint now = Clock::now();
    if (now >= deadline) raise_timeout(handle);
    node.wait(std::min(deadline, now + kSlice));
  }
}

std::vector<NodeHandle*> handles_of(const cpp11::list& pointers) {
  std::vector<NodeHandle*> handles;
  for (const SEXP pointer : pointers) handles.push_back(&handle_of(pointer));
  return handles;
}

// Nothing where this is no node of this very process.
NodeHandle* own_handle(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP) return nullptr;
  auto* handle = static_cast<NodeHandle*>(R_ExternalPtrAddr(pointer));
  return handle != nullptr && handle->session->is_owner() ? handle : nullptr;
}

void wait_for_any(const std::vector<NodeHandle*>& handles) {
  std::vector<pollfd> watched;
  for (const NodeHandle* handle : handles) {
    watched.push_back({handle->node->stream_descriptor(), handle->node->events(), 0});
    watched.push_back({handle->node->exit_descriptor(), POLLIN, 0});
  }
  if (poll_until(watched, Clock::now() + kSlice) == 0) return;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    Node& node = *handles[i]->node;
    if (watched[2 * i].revents & POLLOUT) node.send(Clock::now());
    const bool has_read = watched[2 * i].revents != 0 && node.read_available();
    if (!has_read && watched[2 * i + 1].revents != 0) node.look_after();
  }
}

}  // namespace

SEXP make_handle(std::unique_ptr<NodeHandle> handle, SEXP plan) {
  return cpp11::unwind_protect([&] {
    const SEXP pointer = PROTECT(R_MakeExternalPtr(nullptr, handle_tag(), R_NilValue));
    // A weak reference, since what that refers to is not serialized with a node, and may
    // itself refer to the node without keeping it from being collected.
    R_SetExternalPtrProtected(pointer, R_MakeWeakRef(pointer, plan, R_NilValue, FALSE));
    R_RegisterCFinalizerEx(pointer, finalize_handle, FALSE);
    R_SetExternalPtrAddr(pointer, handle.release());
    UNPROTECT(1);
    return pointer;
  });
}

NodeHandle& handle_of(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != handle_tag()) {
    throw Error(ErrorKind::argument, "This is not a node of a nodelay cluster.");
  }
  auto* handle = static_cast<NodeHandle*>(R_ExternalPtrAddr(pointer));
  if (handle == nullptr) {
    throw Error(ErrorKind::stopped,
                "This node belongs to another R session (it was saved, or sent to a worker): a "
                "cluster can only be used where it was made.");
  }
  if (!handle->session->is_owner()) {
    throw Error(ErrorKind::stopped,
                "This node belongs to process " + std::to_string(handle->session->owner()) +
                    ", from which this one was forked: a cluster can only be used where it was "
                    "made.");
  }
  return *handle;
}

void say_farewell(Node& node, SEXP farewell, Encoding encoding) {
  if (node.is_stopped() || node.loss() || node.protocol() != Protocol::bare) return;
  node.post(serialize(farewell, encoding), false);
  node.send(Clock::now());
}

SEXP list_element(SEXP list, const char* name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  if (TYPEOF(list) != VECSXP || TYPEOF(names) != STRSXP) return R_NilValue;
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    if (std::strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  return R_NilValue;
}

bool is_string(SEXP text, const char* expected) {
  return TYPEOF(text) == STRSXP && Rf_xlength(text) == 1 &&
         std::strcmp(CHAR(STRING_ELT(text, 0)), expected) == 0;
}

}  // namespace nodelay

using namespace nodelay;

// Sends one message of parallel's kind, a list with elements type, data and tag.
[[cpp11::register]] void node_send(SEXP pointer, SEXP message) {
  entry([&] {
    NodeHandle& handle = handle_of(pointer);
    Node& node = *handle.node;
    const SEXP type = list_element(message, "type");
    if (is_string(type, "DONE")) return;  // see nodes_stop()
    if (node.loss()) raise_loss(node);
    ensure_running(handle);
    if (node.num_calls() > 0 && is_sent_by_cluster_function()) node.give_up_calls();
    node.post(serialize(message, handle.encoding), is_string(type, "EXEC"));
    if (!send_all(node)) raise_loss(node);
  });
}

// Waits for the next value that the worker sends.
[[cpp11::register]] SEXP node_receive(SEXP pointer) {
  return entry([&] { return receive(handle_of(pointer)); });
}

// Waits for the next value of any of the nodes; a list of its index among them and the value.
[[cpp11::register]] cpp11::list nodes_receive_one(cpp11::list pointers) {
  using namespace cpp11::literals;
  return entry([&] {
    const std::vector<NodeHandle*> handles = handles_of(pointers);
    for (;;) {
      bool is_reply_due = false;
      for (std::size_t i = 0; i < handles.size(); ++i) {
        Node& node = *handles[i]->node;
        const cpp11::sexp value = next_value(node);
        if (value != R_UnboundValue) {
          return cpp11::writable::list({"node"_nm = static_cast<int>(i) + 1, "value"_nm = value});
        }
        if (node.loss()) raise_loss(node);
        ensure_running(*handles[i]);
        is_reply_due = is_reply_due || node.num_calls() > 0 || node.protocol() == Protocol::bare;
      }
      if (!is_reply_due) {
        throw Error(ErrorKind::argument, "No worker of this cluster has a call to answer.");
      }
      wait_for_any(handles);
      cpp11::check_user_interrupt();
    }
  });
}

// Abandons all that the nodes have under way and tells their workers to stop. Nodes that
// cannot be used any more are passed over.
[[cpp11::register]] void nodes_give_up(cpp11::list pointers) {
  entry([&] {
    for (const SEXP pointer : pointers) {
      const NodeHandle* handle = own_handle(pointer);
      if (handle == nullptr || handle->node->loss() || handle->node->is_stopped()) continue;
      handle->node->give_up_calls();
    }
  });
}

// Ends the workers, all at the same time, and waits until they are gone. `farewell` is the
// message that ends a base-R worker.
[[cpp11::register]] void nodes_stop(cpp11::list pointers, SEXP farewell) {
  entry([&] {
    for (NodeHandle* handle : handles_of(pointers)) {
      Node& node = *handle->node;
      if (node.is_stopped()) continue;
      say_farewell(node, farewell, handle->encoding);
      node.stop();
      handle->stopped_at = time_of_day();
      if (handle->connection != R_NilValue) {
        cpp11::package("nodelay")["close_connection"](handle->connection);
      }
      handle->session->advance_departures();
    }
    for (NodeHandle* handle : handles_of(pointers)) handle->session->finish_departures();
  });
}

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

// A list: state ("running", "lost" or "stopped"), pid, and text of a loss.
[[cpp11::register]] cpp11::list node_state(SEXP pointer) {
  using namespace cpp11::literals;
  return entry([&] {
    NodeHandle& handle = handle_of(pointer);
    Node& node = *handle.node;
    node.look_after();
    const char* state = node.is_stopped() ? "stopped" : node.loss() ? "lost" : "running";
    return cpp11::writable::list(
        {"state"_nm = state, "pid"_nm = static_cast<int>(node.pid()),
         "text"_nm = node.loss() ? describe(node, *node.loss()) : std::string()});
  });
}

// R's own connection to the node, made on first use and kept as long as the node; NULL in
// another process than the node's.
[[cpp11::register]] SEXP node_socket_connection(SEXP pointer) {
  return entry([&]() -> SEXP {
    NodeHandle* handle = own_handle(pointer);
    if (handle == nullptr) return R_NilValue;
    if (handle->connection == R_NilValue) {
      handle->connection = make_connection(*handle->node);
    } else if (!handle->node->is_stopped()) {
      handle->node->ready_descriptor();  // passes over replies that nobody wants
    }
    return handle->connection;
  });
}
