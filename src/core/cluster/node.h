// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cluster/session.h"
#include "launch/output_log.h"
#include "launch/process.h"
#include "launch/temporary_folder.h"
#include "net/beacon.h"
#include "net/spin_budget.h"
#include "net/stream.h"

namespace nodelay {

/// How the worker at the other end speaks.
enum class Protocol {
  framed,  ///< nodelay's own loop: frames of docs/protocol.md
  bare,    ///< base R's loop: serialized values with nothing around them
};

/// What a node is called in messages.
struct NodeIdentity {
  int rank = 0;            ///< 1-based, unique in its cluster
  std::string host;        ///< name of its machine
  std::string command;     ///< what was started, quoted for a shell
  bool is_remote = false;  ///< the process that was started is not the worker but ssh or its kin
};

/// Why a node cannot be used any more.
struct Loss {
  std::string reason;              ///< "was killed by signal 9 (SIGKILL)"
  std::optional<ExitStatus> exit;  ///< of its process, where that has ended
  std::string last_lines;          ///< of its standard error; may be empty
  bool was_in_call = false;        ///< a call was running on it
};

/// A value from a worker.
struct Reply {
  Bytes body;         ///< valid until the next call on the node
  Descriptor memory;  ///< shared, beside the body; may be empty
  /// Whether it is the outcome of the oldest call. Unknown from a bare worker: there the
  /// caller looks into the value and tells Node::settle().
  std::optional<bool> ends_call;
};

/// One worker as the main process sees it: its process, its stream, the calls that it
/// owes replies to. Calls are answered in order. A node that is lost or stopped
/// stays so. Nothing here waits but wait() and the wait inside send(); both return
/// when their slice of time is over.
class Node {
 public:
  Node(std::shared_ptr<Session> session, NodeIdentity identity);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const NodeIdentity& identity() const { return identity_; }
  Protocol protocol() const { return protocol_; }
  /// Its process id, also after its end; 0 before the start.
  pid_t pid() const { return pid_; }

  /// The worker has been started as `process`, writing to `log`. A worker that was
  /// started by hand has no process here.
  void set_process(Process process, OutputLog log);

  /// The worker's temporary folder, removed once its process has ended.
  void set_temporary_folder(TemporaryFolder folder) { folder_ = std::move(folder); }

  /// The stream to the worker is there; to a framed worker a hello goes first.
  void set_stream(Descriptor connection, Protocol protocol);
  bool has_stream() const { return stream_.has_value(); }

  /// Whether shared memory may go with a call.
  bool can_share_memory() const {
    return protocol_ == Protocol::framed && stream_ && stream_->can_share_memory();
  }

  /// Queues a call; a framed worker gets `flags` with it. Where `wants_reply` is false the worker
  /// will send nothing back (base R ignores messages of unknown type).
  void post(Payload payload, bool wants_reply, std::uint8_t flags = 0);

  /// Queues the function that the plain calls behind it call, to a framed worker.
  void post_function(Payload payload, std::uint8_t flags);

  /// Sends what is queued until `slice_end`, reading what comes in meanwhile so that two
  /// full streams cannot block each other. Returns true when all is sent or the
  /// node is lost.
  bool send(TimePoint slice_end);

  /// The next value for the caller, without waiting; replies to calls that were given
  /// up are dropped.
  std::optional<Reply> take_reply();

  /// Only after a reply with unknown `ends_call`: says whether it was the outcome of the
  /// oldest call. Returns false where that call was given up: drop the value.
  bool settle(bool ends_call);

  /// The caller is done with the body of the last reply: gives back its memory.
  void release_reply();

  /// Gives the last reply to the caller, for whom it then stays valid
  /// whatever else is done with the node. A framed worker's has its header in front.
  /// `spare`: see Stream::take_out().
  Buffer take_reply_out(Buffer spare = {});

  /// Waits until something has been read, the worker is lost, a signal has arrived or
  /// `slice_end` has come. Returns true after one of the first two.
  bool wait(TimePoint slice_end);

  /// Reads what is there without waiting. Returns true where it read something or the
  /// worker is lost.
  bool read_available();

  /// Abandons every call sent so far: their replies will be dropped, and a worker of
  /// nodelay's own is told to stop working on them.
  void give_up_calls();

  /// Abandons the call that was posted last, whose sender will not know of it.
  void give_up_last_call();

  /// Calls whose results are still to be taken.
  std::size_t num_calls() const { return num_wanted_; }

  /// Why the worker is lost; nothing while it is there.
  const std::optional<Loss>& loss() const { return loss_; }

  /// Whether the worker is there, as far as its process and its stream tell. Reads what has
  /// come; notices what look_after() does. A process that was suspended is there.
  bool is_alive();

  /// Sends a signal to the worker's process group; to ssh or its kin where the worker is
  /// remote. Returns false where there is no process here, or it has ended.
  bool signal(int number);

  /// Asks a framed worker for a sign of life; does nothing to a bare one, which can give none.
  void ping();

  /// Whether the last ping has been answered, or none is due; looks through all that has
  /// been read.
  bool has_answered_ping();

  /// Notices a worker whose process has ended although its stream is still open (a
  /// child of its own holds it). Returns true where the node is lost.
  bool look_after();

  /// Sends the end of the conversation, closes the stream and hands the process to the
  /// session's departures. Does nothing the second time.
  void stop();

  /// The same where nobody may come back to see the worker off, as when a node is
  /// destroyed: a busy base-R worker, which does not notice, is interrupted at once.
  void stop_abruptly();

  bool is_stopped() const { return is_stopped_; }

  /// For a poll over many nodes: the stream's descriptor (-1: none) with the events to
  /// wait for, and the process's.
  int stream_descriptor() const { return stream_ ? stream_->descriptor() : -1; }
  short events() const { return has_output() ? POLLIN | POLLOUT : POLLIN; }
  bool has_output() const { return stream_ && stream_->has_output(); }
  int exit_descriptor() const { return process_.exit_descriptor(); }

  /// For a poll by those who know of nothing but descriptors: readable while a reply has
  /// come, whole or in part, and for good once the worker is lost. Made on first use;
  /// nothing can be read from it. Not of a stopped node. Throws Error(system).
  int ready_descriptor();

  /// Marks the node as lost for a reason found outside, such as a time limit.
  void lose(std::string reason);

 private:
  struct Call {
    std::uint64_t request;
    bool is_given_up;
  };

  struct Received {
    Bytes bytes;
    Descriptor memory;
  };
  struct PutAside {
    Buffer bytes;
    Descriptor memory;
  };

  std::optional<Reply> take_framed(Received message);
  std::optional<Received> next_message();
  void put_aside(Bytes message);
  void take_hello(Bytes body);
  bool drop_given_up();
  void take_pong(std::uint64_t ping);
  void drop_front_call();
  void give_up(Call& call);
  std::uint32_t shunned_cpu() const;
  void trim_log_now_and_then();
  void update_beacon();
  void forget_calls();
  void lose_peer();
  void break_off(std::string reason);
  void stop_with(Departure::Patience patience);
  void let_process_go(Departure::Patience patience);

  std::shared_ptr<Session> session_;  // shared: see Session
  NodeIdentity identity_;
  Protocol protocol_ = Protocol::framed;
  TemporaryFolder folder_;  // before the process, which it outlives
  Process process_;
  pid_t pid_ = 0;
  OutputLog log_;
  TimePoint next_trim_at_{};
  std::optional<Stream> stream_;
  std::deque<Call> calls_;      // oldest first; each owes one result
  std::size_t num_wanted_ = 0;  // of calls_, not given up
  std::uint64_t last_request_ = 0;
  std::uint64_t last_ping_ = 0;
  std::uint64_t last_pong_ = 0;
  std::deque<PutAside> put_aside_;  // messages that were read before a pong, oldest first
  Buffer current_message_;          // that was put aside
  SpinBudget spin_;
  std::optional<Beacon> beacon_;  // none: nobody asked for it
  std::optional<Loss> loss_;
  bool is_stopped_ = false;
};

/// "Worker 2 (pid 4711 on localhost)", the subject of a sentence.
std::string name_of(const Node& node);

/// One sentence on what became of a node, with its last lines below where there are
/// any: "Worker 2 (pid 4711 on localhost) was killed by signal 9 (SIGKILL) ...".
std::string describe(const Node& node, const Loss& loss);

}  // namespace nodelay
