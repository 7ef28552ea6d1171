// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "bind_node.h"
#include "cluster/node_set.h"

namespace nodelay {

/// One call of a function in the forms that different workers take, each made once, when it
/// is first needed, however many get it. Borrows the R values.
class CallBody {
 public:
  CallBody(SEXP function, SEXP arguments) : function_(function), arguments_(arguments) {}

  /// For a worker with no function of its own; unwinds as R errors do.
  Payload whole(const NodeHandle& handle);

  /// For a framed worker that has kept the function; unwinds as R errors do.
  Payload arguments_only(const NodeHandle& handle) const {
    return make_payload(arguments_, handle.encoding, handle.node->can_share_memory());
  }

 private:
  SEXP function_;
  SEXP arguments_;
  // By protocol, encoding and whether memory may be shared.
  std::map<std::tuple<Protocol, Encoding, bool>, Payload> payloads_;
};

/// Calls that are under way on the nodes of a cluster until all have been answered: sent
/// without waiting, several at a time to each node, and their results taken as they come.
/// Whatever ends a burst early, an interrupt or a lost worker, gives up the rest of it.
class Burst {
 public:
  struct Result {
    std::size_t node;  // index among the distinct nodes
    std::size_t task;
    SEXP value;  // not protected
  };

  /// Begins with no call under way: gives up what others left behind. A node may be there
  /// several times. Throws Error(stopped), or raises what became of a lost node.
  explicit Burst(const std::vector<NodeHandle*>& handles);
  ~Burst();
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  std::size_t num_nodes() const { return members_.size(); }

  /// Which of the distinct nodes the one at `position` of the cluster is.
  std::size_t node_at(std::size_t position) const { return node_of_position_[position]; }

  /// Queues a call, which next() sends. `is_one_of_many`: calls of the same function will
  /// follow, or have gone before, and workers may all work with one copy of it.
  void post(std::size_t node, std::size_t task, CallBody& call, bool is_one_of_many = false);

  std::size_t num_under_way() const { return num_under_way_; }
  std::size_t num_under_way(std::size_t node) const { return members_[node].tasks.size(); }

  /// Waits for the next result of any node. Raises what became of a lost worker, and a time
  /// limit of a node that has passed without news from any.
  Result next();

 private:
  struct Member {
    NodeHandle* handle;
    std::deque<std::size_t> tasks;  // under way, oldest first
    bool is_to_flush = false;
    bool has_function = false;  // its worker keeps that of the calls before
  };

  void flush();
  void wait();
  SEXP take_value(const Member& member);
  void ensure_answerable(const Member& member) const;

  std::vector<Member> members_;
  std::vector<std::size_t> node_of_position_;
  std::size_t num_under_way_ = 0;
  std::vector<std::size_t> to_flush_;
  std::deque<std::size_t> with_news_;  // nodes that may have a result to take
  std::unique_ptr<NodeSet> set_;
  TimePoint last_news_;
};

}  // namespace nodelay
