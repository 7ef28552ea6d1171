// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/forker.h"
#include "cluster/node.h"
#include "net/rendezvous.h"

namespace nodelay {

/// How one worker is to be started.
struct NodePlan {
  enum class Output { in_memory, file, inherited };
  enum class Greeting {
    none,         ///< over a socket pair, which it inherits: nodelay's loop only
    environment,  ///< over TCP, with its token in its environment
    input,        ///< over TCP, with its token as the first line of its standard input
    unknown,      ///< over TCP, by a command of the user's own that knows no token
  };
  /// What is started, given the port to come to (0 without TCP) and the token (empty where there
  /// is none). An empty command: somebody starts it by hand, and has been told so.
  using Command = std::function<std::vector<std::string>(std::uint16_t port, const Token& token)>;

  int rank = 1;             ///< 1-based, unique in its cluster
  std::string host;         ///< name of its machine, for messages
  bool is_remote = false;   ///< it does not run on this machine
  bool notices_end = true;  ///< it ends by itself when this process does, as nodelay's loop does
  Greeting greeting = Greeting::none;
  bool has_no_delay = true;
  std::vector<std::string> environment;  ///< all of it, "NAME=value"
  Output output = Output::in_memory;
  std::string output_path;  ///< of Output::file
  /// Where the program that reaches its machine writes about itself; empty: its standard error.
  std::string remote_log_path;
  Command command;
  bool may_be_forked = false;  ///< by a template; greeting is none then
  int tries = 1;               ///< how many times it is started before that counts as failed
  double delay = 0;            ///< seconds between two tries
  /// A serialized call that makes the worker ready; its result is the worker's first word.
  std::shared_ptr<const Buffer> set_up_call;
};

/// How many more workers a process that may have so many files open has room for.
std::size_t num_startable_workers(std::size_t most_open_files);

/// Brings the workers of one cluster up, all at the same time: starts their processes,
/// meets those that come over TCP, sends each its set-up call and waits for the replies.
/// The first worker that cannot be started fails the whole; destroying a
/// startup that is not done leaves no worker behind.
class Startup {
 public:
  enum class Progress { going, ready, failed };

  struct Terms {
    std::vector<std::uint16_t> ports;   ///< to listen on, see Rendezvous
    Reach reach = Reach::this_machine;  ///< where workers connect from
    double patience = 120;  ///< seconds without any progress after which the start has failed
  };

  /// Starts every process but those that a template will fork. Throws Error(start_failed) where a
  /// program cannot be executed, Error(system) otherwise.
  Startup(std::shared_ptr<Session> session, std::vector<NodePlan> plans, const Terms& terms);

  /// Goes on until `slice_end`, a signal, or an end. Throws as the constructor does.
  Progress turn(TimePoint slice_end);

  /// How many workers are ready.
  std::size_t num_ready() const { return num_ready_; }

  /// After `failed`: the node that failed; its loss() says why.
  const Node& failed_node() const { return *nodes_[*failed_]; }

  /// After `failed`: how that node was to be started.
  const NodePlan& failed_plan() const { return plans_[*failed_]; }

  /// After `failed`: how many times that node was started.
  int num_tries() const { return attempts_[*failed_].num_tries; }

  /// After `failed`: true where the worker had not ended but taken too long.
  bool is_too_late() const { return is_too_late_; }

  /// After `ready`: the nodes in the order of the plans, and what each set-up call gave.
  std::vector<std::unique_ptr<Node>> take_nodes() { return std::move(nodes_); }
  const Buffer& set_up_reply(std::size_t node) const { return attempts_[node].reply; }

  /// The port that was listened on; 0 where no worker uses TCP.
  std::uint16_t port() const { return rendezvous_ ? rendezvous_->port() : 0; }

 private:
  struct Attempt {
    int num_tries = 0;
    std::optional<TimePoint> next_try_at;  // the last try failed, there will be another
    bool is_to_be_forked = false;
    bool is_ready = false;
    Buffer reply;  // of the set-up call
  };

  /// All that a worker is started with: the plan borrows the rest.
  struct Launch {
    SpawnPlan spawn;
    Descriptor input;
    OutputLog log;
    DescriptorPair stream;  // empty without a socket pair; its second end is the worker's
  };

  void launch(std::size_t node);
  Launch prepare(std::size_t node, std::vector<std::string> argv, const Token& token) const;
  void start(std::size_t node, Launch launch);
  void take_over(std::size_t node, Process process, Launch launch);
  void fork_workers(TimePoint slice_end);
  void expect(std::size_t node, const Token& token);
  void connect(std::size_t node, Descriptor connection, Protocol protocol);
  void meet_arrivals();
  void look_at(std::size_t node);
  void try_again_or_fail(std::size_t node);
  void take_set_up_reply(std::size_t node);
  void poll_for_news(TimePoint slice_end);
  void give_up_late_ones();

  std::shared_ptr<Session> session_;  // shared: see Session
  std::vector<NodePlan> plans_;
  double patience_;
  std::optional<Rendezvous> rendezvous_;
  std::vector<std::unique_ptr<Node>> nodes_;  // in the order of the plans; null before the start
  std::vector<Attempt> attempts_;             // for each node
  Forker forker_;
  std::deque<std::size_t> to_be_forked_;  // nodes, the next one first
  std::optional<Launch> forking_;         // of that one, once its turn has come
  std::size_t num_ready_ = 0;
  std::optional<std::size_t> failed_;
  bool is_too_late_ = false;
  TimePoint last_progress_;
};

}  // namespace nodelay
