// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cpp11.hpp>

#include "cluster/node.h"
#include "r/values/payloads.h"

namespace nodelay {

/// Interrupts are looked for at least this often while R waits.
inline constexpr std::chrono::milliseconds kSlice{100};

class Burst;

/// What the handle of an R node points to.
struct NodeHandle {
  std::unique_ptr<Node> node;
  std::shared_ptr<Session> session;  // shared: see Session
  double timeout;                    // seconds to wait for a reply
  Encoding encoding;
  std::string stopped_at;  // time of day; empty: not stopped
  // The burst that has calls under way on it; null: none. R code that runs meanwhile must not use
  // it.
  const Burst* burst = nullptr;
  // What its worker keeps, see Burst. NULL: nothing.
  cpp11::sexp kept_function = R_NilValue;
  // R's own, see node_socket_connection(); NULL: nobody asked for it. Held here, since R warns of
  // connections that it closes itself.
  cpp11::sexp connection = R_NilValue;
};

/// Makes the external pointer that an R node holds, with the plan that the node was started
/// from (see handle_plan()). The node is stopped when it is garbage collected. The caller
/// protects it.
SEXP make_handle(std::unique_ptr<NodeHandle> handle, SEXP plan);

/// What `pointer` points to. Throws Error(stopped) where that was in another session, or
/// in the process that this one was forked from, and Error(argument) where it is no
/// node's handle.
NodeHandle& handle_of(SEXP pointer);

/// The same, but null where `pointer` points to no node of this very process.
NodeHandle* own_handle(SEXP pointer);

/// handle_of() each of them.
std::vector<NodeHandle*> handles_of(const cpp11::list& pointers);

/// Waits for news of any of the nodes, of which there is one at least, until `slice_end`.
void wait_for_any(const std::vector<NodeHandle*>& handles, TimePoint slice_end);

/// Builds the value of the node's last reply; the caller protects it. Unwinds as R errors do.
SEXP read_out(Node& node, Reply& reply);

/// How values may travel to the node's worker.
Reader reader_at(const Node& node);

/// Tells a base-R worker to end, by the message `farewell`; a nodelay worker is told by
/// Node::stop().
void say_farewell(Node& node, SEXP farewell, Encoding encoding);

/// Throws Error(stopped) where the node was stopped.
void ensure_running(const NodeHandle& handle);

/// Throws Error(argument) where a burst has calls under way on the node.
void ensure_free(const NodeHandle& handle);

/// The next wanted value that has been read; nothing where there is none. The caller protects it.
/// Unwinds as R errors do.
std::optional<SEXP> next_value(Node& node);

/// R's own connection to the node, made on first use and kept as long as the node.
SEXP socket_connection(NodeHandle& handle);

/// Gives up the node's calls and throws Error(timeout).
[[noreturn]] void raise_timeout(const NodeHandle& handle);

}  // namespace nodelay
