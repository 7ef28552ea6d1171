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

/// One call of a function in the forms that different workers take, each made once, when it
/// is first needed, however many get it. Borrows the R values.
class CallBody {
 public:
  CallBody(SEXP function, SEXP arguments) : function_(function), arguments_(arguments) {}

  /// For a worker that does not keep the function. Unwinds as R errors do.
  const Payload& whole(const NodeHandle& handle);

  /// For a framed worker that keeps the function. Unwinds as R errors do.
  const Payload& arguments_only(const NodeHandle& handle);

 private:
  enum Form { whole_form, arguments_form, num_forms };

  Payload& slot(const NodeHandle& handle, Form form);

  SEXP function_;
  SEXP arguments_;
  std::array<Payload, kNumEncodings * kNumReaders * num_forms> payloads_;
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
    bool has_function = false;  // its worker keeps the function, or is about to
  };

  std::optional<std::size_t> find(const NodeHandle& handle) const;
  void wait();
  void begin_waiting();
  void take_note(Member& member, SEXP value);
  std::optional<SEXP> take_value(const Member& member);
  void ensure_answerable(const Member& member) const;

  SEXP function_;
  bool may_be_kept_;  // by the workers: see docs/protocol.md, "Plain calls"
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
