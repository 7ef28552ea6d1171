// SPDX-License-Identifier: MIT
#include "r/main/messages.h"

#include <nodelay/error.h>

#include <algorithm>
#include <string>

#include "r/base/lists.h"
#include "r/main/loss.h"

namespace nodelay {
namespace {

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

void ensure_reply_is_due(const Node& node) {
  if (node.num_calls() > 0 || node.protocol() == Protocol::bare) return;
  throw Error(ErrorKind::argument,
              "Worker " + std::to_string(node.identity().rank) +
                  " has no call to answer: send one first. An interrupted call is given up.");
}

}  // namespace

void send_message(SEXP pointer, SEXP message) {
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
}

SEXP receive_message(NodeHandle& handle) {
  ensure_free(handle);
  Node& node = *handle.node;
  const TimePoint deadline = seconds_from(Clock::now(), handle.timeout);
  for (bool is_first = true;; is_first = false) {
    if (const auto value = next_value(node)) return *value;
    if (node.loss()) raise_loss(node);
    ensure_running(handle);
    ensure_reply_is_due(node);
    if (!is_first) cpp11::check_user_interrupt();  // not before a reply that is about to come
    const TimePoint now = Clock::now();
    if (now >= deadline) raise_timeout(handle);
    node.wait(std::min(deadline, now + kSlice));
  }
}

cpp11::list receive_any_message(const std::vector<NodeHandle*>& handles) {
  using namespace cpp11::literals;
  for (const NodeHandle* handle : handles) ensure_free(*handle);
  const TimePoint start = Clock::now();
  for (;;) {
    const NodeHandle* most_impatient = nullptr;  // of those that a reply is due from
    for (std::size_t i = 0; i < handles.size(); ++i) {
      Node& node = *handles[i]->node;
      if (const auto next = next_value(node)) {
        const cpp11::sexp value(*next);
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
}

void give_up(const cpp11::list& pointers) {
  for (const SEXP pointer : pointers) {  // raises nothing: another error is on its way
    const NodeHandle* handle = own_handle(pointer);
    if (handle == nullptr || handle->node->loss() || handle->node->is_stopped()) continue;
    handle->node->give_up_calls();
  }
}

}  // namespace nodelay
