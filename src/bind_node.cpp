// SPDX-License-Identifier: MIT
#include "bind_node.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sstream>
#include <utility>
#include <vector>

#include "bind_conditions.h"
#include "cluster/node_set.h"
#include "net/substitution.h"

namespace nodelay {
namespace {

constexpr std::size_t kLargestSpare = std::size_t{256} * 1024;  // bytes kept between replies

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

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%H:%M:%S", &local)};
}

void stop(NodeHandle& handle) {
  handle.node->stop();
  handle.stopped_at = time_of_day();
  if (handle.connection != R_NilValue) {
    cpp11::package("nodelay")["close_connection"](handle.connection);
  }
  handle.session->advance_departures();
}

// Whether the node owes more replies than R's function that sends now can have asked for. One
// of parallel's or snow's that work on a whole cluster has one call under way for each time
// that the node is in it: whoever asked for the others was interrupted or failed.
bool owes_others(SEXP pointer, const Node& node) {
  const auto expects = cpp11::package("nodelay")["num_expected_by_cluster_function"];
  return node.num_calls() >= static_cast<std::size_t>(cpp11::as_cpp<int>(expects(pointer)));
}

// A sender who is interrupted does not know that there is a call.
void send_all(Node& node) {
  try {
    while (!node.send(Clock::now() + kSlice)) cpp11::check_user_interrupt();
  } catch (...) {
    node.give_up_last_call();
    throw;
  }
  if (node.loss()) raise_loss(node);
}

// A bare worker's value says itself whether it is the outcome of a call: future's
// workers send other values in between.
bool is_outcome(SEXP value) {
  return TYPEOF(value) == VECSXP && is_string(list_element(value, "type"), "VALUE");
}

// The value of a reply; R_UnboundValue where it is not wanted any more.
SEXP value_of(Node& node, Reply& reply) {
  SEXP value = R_NilValue;  // unprotected, but nothing below allocates
  try {
    value = read_out(node, reply);
  } catch (...) {
    if (!reply.ends_call) node.settle(true);
    throw;
  }
  if (!reply.ends_call && !node.settle(is_outcome(value))) return R_UnboundValue;
  return value;
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

// Waits for news of any of the nodes, of which there is one at least, until `slice_end`.
void wait_for_any(const std::vector<NodeHandle*>& handles, TimePoint slice_end) {
  std::vector<Node*> nodes;
  for (const NodeHandle* handle : handles) nodes.push_back(handle->node.get());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  NodeSet(std::move(nodes), *handles.front()->session).wait(slice_end);
}

// Waits until `is_done(node)` holds for each of the nodes, at most `patience` seconds.
template <typename Claim>
void wait_until_all(std::vector<NodeHandle*> handles, double patience, Claim is_done) {
  const TimePoint deadline = seconds_from(Clock::now(), patience);
  for (;;) {
    std::erase_if(handles, [&](NodeHandle* handle) { return is_done(*handle->node); });
    const TimePoint now = Clock::now();
    if (handles.empty() || now >= deadline) return;
    wait_for_any(handles, std::min(deadline, now + kSlice));
    cpp11::check_user_interrupt();
  }
}

// Those that are of this very process and alive.
std::vector<NodeHandle*> living(const cpp11::list& pointers) {
  std::vector<NodeHandle*> handles;
  for (const SEXP pointer : pointers) {
    NodeHandle* handle = own_handle(pointer);
    if (handle != nullptr && handle->node->is_alive()) handles.push_back(handle);
  }
  return handles;
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

void ensure_running(const NodeHandle& handle) {
  if (!handle.node->is_stopped()) return;
  throw Error(ErrorKind::stopped, "Worker " + std::to_string(handle.node->identity().rank) +
                                      " was stopped at " + handle.stopped_at +
                                      ": start a new cluster to go on.");
}

SEXP next_value(Node& node) {
  while (auto reply = node.take_reply()) {
    const SEXP value = value_of(node, *reply);
    if (value != R_UnboundValue) return value;
  }
  return R_UnboundValue;
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
    ensure_free(handle);
    const bool is_call = is_string(type, "EXEC");
    if (!is_call && node.protocol() == Protocol::framed) return;  // nobody reads it there
    if (node.num_calls() > 0 && owes_others(pointer, node)) node.give_up_calls();
    node.post(make_payload(message, handle.encoding, reader_at(node)), is_call);
    send_all(node);
    handle.session->advance_departures();
  });
}

// Waits for the next value that the worker sends.
[[cpp11::register]] SEXP node_receive(SEXP pointer) {
  return entry([&] {
    ensure_free(handle_of(pointer));
    return receive(handle_of(pointer));
  });
}

// Waits for the next value of any of the nodes; a list of its index among them and the value.
[[cpp11::register]] cpp11::list nodes_receive_one(cpp11::list pointers) {
  using namespace cpp11::literals;
  return entry([&] {
    const std::vector<NodeHandle*> handles = handles_of(pointers);
    for (const NodeHandle* handle : handles) ensure_free(*handle);
    const TimePoint start = Clock::now();
    for (;;) {
      const NodeHandle* most_impatient = nullptr;  // of those that a reply is due from
      for (std::size_t i = 0; i < handles.size(); ++i) {
        Node& node = *handles[i]->node;
        const cpp11::sexp value = next_value(node);
        if (value != R_UnboundValue) {
          return cpp11::writable::list({"node"_nm = static_cast<int>(i) + 1, "value"_nm = value});
        }
        if (node.loss()) raise_loss(node);
        ensure_running(*handles[i]);
        if (node.num_calls() == 0 && node.protocol() == Protocol::framed) continue;
        if (!most_impatient || handles[i]->timeout < most_impatient->timeout) {
          most_impatient = handles[i];
        }
      }
      if (!most_impatient) {
        throw Error(ErrorKind::argument, "No worker of this cluster has a call to answer.");
      }
      if (Clock::now() >= seconds_from(start, most_impatient->timeout)) {
        raise_timeout(*most_impatient);
      }
      wait_for_any(handles, Clock::now() + kSlice);
      cpp11::check_user_interrupt();
    }
  });
}

// Abandons all that the nodes have under way and tells their workers to stop. Nodes that
// cannot be used any more are passed over.
[[cpp11::register]] void nodes_give_up(cpp11::list pointers) {
  entry([&] {
    for (const SEXP pointer : pointers) {  // raises nothing: another error is on its way
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
      if (handle->node->is_stopped()) continue;
      say_farewell(*handle->node, farewell, handle->encoding);
      stop(*handle);
    }
    for (NodeHandle* handle : handles_of(pointers)) handle->session->finish_departures();
  });
}

// Which of the workers are alive; NA for a node of another process. With `patience`, in seconds,
// a native worker that does not answer within that time counts as dead.
[[cpp11::register]] cpp11::writable::logicals nodes_alive(cpp11::list pointers, double patience) {
  return entry([&] {
    if (patience > 0) {
      const std::vector<NodeHandle*> asked = living(pointers);
      for (const NodeHandle* handle : asked) handle->node->ping();
      wait_until_all(asked, patience,
                     [](Node& node) { return !node.is_alive() || node.has_answered_ping(); });
    }
    cpp11::writable::logicals result;
    for (const SEXP pointer : pointers) {
      const NodeHandle* handle = own_handle(pointer);
      if (handle == nullptr) {
        result.push_back(NA_LOGICAL);
        continue;
      }
      Node& node = *handle->node;
      const bool is_alive = node.is_alive() && (patience <= 0 || node.has_answered_ping());
      result.push_back(is_alive ? TRUE : FALSE);
    }
    return result;
  });
}

// Sends a signal to the process groups of workers. Which of them got it; NA for a node of another
// process, and one that was started by hand.
[[cpp11::register]] cpp11::writable::logicals nodes_signal(cpp11::list pointers, int number) {
  return entry([&] {
    cpp11::writable::logicals result;
    for (const SEXP pointer : pointers) {
      const NodeHandle* handle = own_handle(pointer);
      const bool is_known = handle != nullptr && handle->node->pid() != 0;
      result.push_back(!is_known ? NA_LOGICAL : handle->node->signal(number) ? TRUE : FALSE);
    }
    return result;
  });
}

// After a signal that ends workers: waits for that, and stops those that are still there then.
[[cpp11::register]] void nodes_see_off(cpp11::list pointers) {
  entry([&] {
    constexpr double kPatience = 1;  // seconds
    const std::vector<NodeHandle*> handles = living(pointers);
    wait_until_all(handles, kPatience, [](Node& node) { return !node.is_alive(); });
    for (NodeHandle* handle : handles) {
      if (handle->node->is_alive()) stop(*handle);
    }
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
    if (handle == nullptr) return R_NilValue;
    if (handle->connection == R_NilValue) {
      handle->connection = make_connection(*handle->node);
    } else if (!handle->node->is_stopped()) {
      handle->node->ready_descriptor();  // passes over replies that nobody wants
    }
    return handle->connection;
  });
}
