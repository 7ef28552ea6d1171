// SPDX-License-Identifier: MIT
#include "r/main/node_handle.h"

#include <nodelay/error.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "cluster/node_set.h"
#include "net/substitution.h"
#include "r/base/lists.h"
#include "r/main/loss.h"

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

// A bare worker's value says itself whether it is the outcome of a call: future's
// workers send other values in between.
bool is_outcome(SEXP value) {
  return TYPEOF(value) == VECSXP && is_string(list_element(value, "type"), "VALUE");
}

// The value of a reply; nothing where it is not wanted any more.
std::optional<SEXP> value_of(Node& node, Reply& reply) {
  SEXP value = R_NilValue;  // unprotected, but nothing below allocates
  try {
    value = read_out(node, reply);
  } catch (...) {
    if (!reply.ends_call) node.settle(true);
    throw;
  }
  if (!reply.ends_call && !node.settle(is_outcome(value))) return std::nullopt;
  return value;
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

NodeHandle* own_handle(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP) return nullptr;
  auto* handle = static_cast<NodeHandle*>(R_ExternalPtrAddr(pointer));
  return handle != nullptr && handle->session->is_owner() ? handle : nullptr;
}

std::vector<NodeHandle*> handles_of(const cpp11::list& pointers) {
  std::vector<NodeHandle*> handles;
  for (const SEXP pointer : pointers) handles.push_back(&handle_of(pointer));
  return handles;
}

void wait_for_any(const std::vector<NodeHandle*>& handles, TimePoint slice_end) {
  std::vector<Node*> nodes;
  for (const NodeHandle* handle : handles) nodes.push_back(handle->node.get());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  NodeSet(std::move(nodes), *handles.front()->session).wait(slice_end);
}

void ensure_running(const NodeHandle& handle) {
  if (!handle.node->is_stopped()) return;
  throw Error(ErrorKind::stopped, "Worker " + std::to_string(handle.node->identity().rank) +
                                      " was stopped at " + handle.stopped_at +
                                      ": start a new cluster to go on.");
}

std::optional<SEXP> next_value(Node& node) {
  while (auto reply = node.take_reply()) {
    if (const auto value = value_of(node, *reply)) return value;
  }
  return std::nullopt;
}

SEXP socket_connection(NodeHandle& handle) {
  if (handle.connection == R_NilValue) {
    handle.connection = make_connection(*handle.node);
  } else if (!handle.node->is_stopped()) {
    handle.node->ready_descriptor();  // passes over replies that nobody wants
  }
  return handle.connection;
}

void raise_timeout(const NodeHandle& handle) {
  handle.node->give_up_calls();
  std::ostringstream text;
  text << "Worker " << handle.node->identity().rank << " sent no reply within " << handle.timeout
       << " seconds (argument 'timeout'). It was told to stop.";
  throw Error(ErrorKind::timeout, text.str());
}

// Reading a value can run R code: finalizers, and the loading of packages.
SEXP read_out(Node& node, Reply& reply) {
  static Buffer spare;
  Buffer message = node.take_reply_out(std::exchange(spare, {}));
  const std::size_t header_bytes = node.protocol() == Protocol::framed ? kHeaderBytes : 0;
  const SEXP value = unserialize(message.bytes().subspan(header_bytes), std::move(reply.memory));
  if (message.capacity() <= kLargestSpare) spare = std::move(message);
  return value;
}

Reader reader_at(const Node& node) {
  if (node.protocol() == Protocol::bare) return Reader::base_r;
  return node.can_share_memory() ? Reader::nodelay_beside : Reader::nodelay;
}

void ensure_free(const NodeHandle& handle) {
  // The stack grows downwards: a burst that lies below this frame has ended, by an error that
  // its destructor did not see.
  const void* here = __builtin_frame_address(0);
  if (handle.burst == nullptr || static_cast<const void*>(handle.burst) < here) return;
  throw Error(
      ErrorKind::argument,
      "Worker " + std::to_string(handle.node->identity().rank) +
          " works on a call of its cluster, in the course of which it was used again: by a "
          "method for the elements of a list, say, or a finalizer. It can be when that call "
          "has ended.");
}

void say_farewell(Node& node, SEXP farewell, Encoding encoding) {
  if (node.is_stopped() || node.loss() || node.protocol() != Protocol::bare) return;
  node.post(serialize(farewell, encoding), false);
  node.send(Clock::now());
}

}  // namespace nodelay
