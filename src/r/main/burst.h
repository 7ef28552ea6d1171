// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/node_set.h"
#include "r/main/node_handle.h"

namespace nodelay {

/// A function that calls are made of, written once for each kind of reader, however many calls and
/// workers get it. Borrows the R value.
class FunctionBody {
 public:
  /// `is_kept`: workers keep it from a burst before, so that it need not be looked at again.
  FunctionBody(SEXP function, bool is_kept);

  SEXP function() const { return function_; }

  /// Whether calls of one copy of it cannot see what the calls before did. Others get a copy each,
  /// with its enclosing environment, as from package parallel.
  bool is_immutable() const { return is_immutable_; }

  /// For a worker with nodelay. Unwinds as R errors do.
  const Payload& payload(Reader reader);

  /// Whether it takes much memory at those who have it.
  bool is_large() const;

  /// Writes the arguments of a call for a worker that has the function. Unwinds as R errors do.
  Payload make_arguments(SEXP arguments, Reader reader);

 private:
  SEXP function_;
  bool is_immutable_;
  std::array<Payload, kNumReaders> payloads_;
  References known_;  // what the function refers to
};

/// One call of a function in the forms that different workers take, each made once, when it is
/// first needed, however many get it. Borrows both.
class CallBody {
 public:
  CallBody(FunctionBody& function, SEXP arguments) : function_(function), arguments_(arguments) {}

  /// The whole call for a base-R worker, the arguments for others. Unwinds as R errors do.
  const Payload& payload(const NodeHandle& handle);

 private:
  FunctionBody& function_;
  SEXP arguments_;
  std::array<Payload, kNumEncodings> whole_;
  std::array<Payload, kNumReaders> arguments_only_;
};

/// Calls of one function that are under way on the nodes of a cluster until all have been answered:
/// sent without waiting, several at a time to each node, and their results taken as they come.
/// Whatever ends a burst early, an interrupt or a lost worker, gives up the rest of it.
class Burst {
 public:
  struct Result {
    std::size_t node;  // index among the distinct nodes
    std::size_t task;
    SEXP value;  // not protected
  };

  /// Begins with no call under way: gives up what others left behind. Until its end the nodes can
  /// be used by nobody else: R code that runs meanwhile gets an Error(argument). A node may be
  /// there several times. Throws Error(stopped), or raises what became of a lost node. Borrows
  /// `function`.
  Burst(const std::vector<NodeHandle*>& handles, SEXP function);
  ~Burst();
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  std::size_t num_nodes() const { return members_.size(); }

  /// Which of the distinct nodes the one at `position` of the cluster is.
  std::size_t node_at(std::size_t position) const { return node_of_position_[position]; }

  /// Queues a call of the function. It is sent by flush() or next(), or by a later post() where
  /// that comes some time after: so that several short ones go out together and none waits for the
  /// making of others.
  void post(std::size_t node, std::size_t task, CallBody& call);

  /// The function of the burst, for the bodies of its calls.
  FunctionBody& function() { return function_; }

  /// Sends what was queued, as far as the kernel takes it now; the rest goes out while the burst
  /// waits.
  void flush();

  std::size_t num_under_way() const { return num_under_way_; }
  std::size_t num_under_way(std::size_t node) const { return members_[node].tasks.size(); }

  /// Waits for the next result of any node. Raises what became of a lost worker, and a time
  /// limit of a node that has passed without news from any.
  Result next();

 private:
  // Marks a node as used by a burst for as long as it exists.
  class Claim {
   public:
    Claim(NodeHandle& handle, const Burst& burst) : handle_(&handle) { handle.burst = &burst; }
    Claim(Claim&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Claim& operator=(Claim&&) = delete;
    ~Claim() {
      if (handle_ != nullptr) handle_->burst = nullptr;
    }

   private:
    NodeHandle* handle_;
  };

  struct Member {
    NodeHandle* handle;
    Claim claim;
    std::vector<std::size_t> tasks;  // under way, oldest first; few
    bool is_to_flush = false;
    bool has_function = false;  // its worker, before the calls that are posted now
  };

  std::optional<std::size_t> find(const NodeHandle& handle) const;
  void wait();
  void begin_waiting();
  std::optional<SEXP> take_value(const Member& member);
  void ensure_answerable(const Member& member) const;

  void post_function(Member& member);
  void take_function_back() noexcept;

  FunctionBody function_;
  std::vector<Member> members_;
  std::vector<std::size_t> node_of_position_;
  std::size_t num_under_way_ = 0;
  std::vector<std::size_t> to_flush_;
  TimePoint unsent_since_;              // the first of to_flush_
  std::vector<std::size_t> with_news_;  // nodes that may have a result to take, the next one last
  std::optional<NodeSet> set_;          // none before the first wait
  TimePoint last_news_;                 // while next() waits
};

}  // namespace nodelay
