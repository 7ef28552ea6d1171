// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/node.h"
#include "net/rendezvous.h"

namespace nodelay {

/// How one worker is to be started.
struct NodePlan {
  enum class Output { in_memory, file, inherited };

  int rank = 1;      ///< 1-based, unique in its cluster
  std::string host;  ///< name of its machine, for messages
  Protocol protocol = Protocol::framed;
  bool uses_tcp = false;  ///< else a socket pair, which only a framed worker can use
  bool has_no_delay = true;
  std::vector<std::string> environment;  ///< all of it, "NAME=value"
  Output output = Output::in_memory;
  std::string output_path;  ///< of Output::file
  /// The command; `port` is the loopback port to come to, 0 without TCP.
  std::function<std::vector<std::string>(std::uint16_t port)> command;
  /// A serialized call that makes the worker ready; its result is the worker's first word.
  std::shared_ptr<const Buffer> set_up_call;
};

/// How many more workers the limit of open files has room for. Throws Error(system).
std::size_t num_startable_workers();

/// Brings the workers of one cluster up, all at the same time: starts their processes,
/// meets those that come over TCP, sends each its set-up call and waits for the replies.
/// The first worker that cannot be started fails the whole; destroying a
/// startup that is not done leaves no worker behind.
class Startup {
 public:
  enum class Progress { going, ready, failed };

  /// Starts every process. `ports`: those to listen on, see Rendezvous. `patience`: seconds
  /// without any progress after which the start has failed. Throws
  /// Error(start_failed) where a program cannot be executed, Error(system) otherwise.
  Startup(std::shared_ptr<Session> session, std::vector<NodePlan> plans,
          const std::vector<std::uint16_t>& ports, double patience);

  /// Goes on until `slice_end`, a signal, or an end.
  Progress turn(TimePoint slice_end);

  /// How many workers are ready.
  std::size_t num_ready() const { return num_ready_; }

  /// After `failed`: the node that failed; its loss() says why.
  const Node& failed_node() const { return *nodes_[*failed_]; }

  /// After `failed`: true where the worker had not ended but taken too long.
  bool is_too_late() const { return is_too_late_; }

  /// After `ready`: the nodes in the order of the plans, and what each set-up call gave.
  std::vector<std::unique_ptr<Node>> take_nodes() { return std::move(nodes_); }
  const Buffer& set_up_reply(std::size_t node) const { return replies_[node]; }

  /// The port that was listened on; 0 where no worker uses TCP.
  std::uint16_t port() const { return rendezvous_ ? rendezvous_->port() : 0; }

 private:
  void launch(std::size_t node);
  void connect(std::size_t node, Descriptor connection);
  void meet_arrivals();
  void look_at_nodes();
  void take_set_up_reply(std::size_t node);
  void poll_for_news(TimePoint slice_end);
  void give_up_late_ones();

  std::shared_ptr<Session> session_;  // shared: see Session
  std::vector<NodePlan> plans_;
  double patience_;
  std::optional<Rendezvous> rendezvous_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Buffer> replies_;
  std::vector<bool> is_ready_;
  std::size_t num_ready_ = 0;
  std::optional<std::size_t> failed_;
  bool is_too_late_ = false;
  TimePoint last_progress_;
};

}  // namespace nodelay
