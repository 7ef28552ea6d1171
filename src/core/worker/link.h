// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "net/spin_budget.h"
#include "net/stream.h"
#include "worker/shared_cpu.h"

namespace nodelay {

/// The worker's end of the stream: takes calls, sends results. Used by one thread at
/// a time: the R thread, or while that runs a call the watch (see Watch).
class Link {
 public:
  /// A call, or the function that the plain calls behind it call.
  struct Call {
    FrameKind kind = FrameKind::call;
    std::uint64_t request = 0;  ///< 0: a function
    bool is_cancelled = false;  ///< its result is not wanted any more: do not begin
    std::uint8_t flags = 0;     ///< of its frame
    int shunned_cpu = 0;        ///< see FrameHeader
    Bytes body;                 ///< valid until the next call on this link
    Descriptor memory;          ///< shared, beside the body; may be empty
  };

  /// Sends the hello frame. `main_process` becomes readable when the main process ends;
  /// empty where only the stream tells.
  explicit Link(Descriptor connection, Descriptor main_process = Descriptor());

  /// The next call or function, in the order in which they were sent; nothing where none is here
  /// yet.
  std::optional<Call> take_call();

  /// Gives back the memory of the last call's body.
  void release_body();

  /// Waits until something has come in, a signal has arrived or `slice_end` has come.
  void wait(TimePoint slice_end);

  /// Reads what is there without waiting; returns true where something came.
  bool read_available();

  /// Looks through all that has been read while a call runs: remembers which calls are
  /// cancelled, puts those that have not begun aside and answers pings.
  void sort_input();

  /// Sends the outcome of a call, waiting for as long as the main process does not
  /// read. A payload without a body says that the call was cancelled. Returns false where the
  /// stream is at its end.
  bool send(FrameKind kind, std::uint64_t request, Payload payload);

  /// Whether shared memory may go with what is sent.
  bool can_share_memory() const { return stream_.can_share_memory(); }

  /// True once the main process has said goodbye, closed the stream or broken the protocol.
  bool is_closed() const { return is_closed_; }

  /// True once after the call `request` was cancelled while it ran.
  bool take_cancel(std::uint64_t request);

  /// Sends as much as the stream takes now of answers to pings that it did not take before.
  void send_rest();

  /// For a poll: the descriptor, and the events to wait for.
  int descriptor() const { return stream_.descriptor(); }
  short events() const { return stream_.has_output() ? POLLIN | POLLOUT : POLLIN; }

  /// The main process's descriptor, to poll beside the stream's; -1 where there is none.
  int main_process() const { return main_process_.get(); }

  /// The main process has ended, whatever the stream says.
  void lose_main_process() { is_closed_ = true; }

 private:
  struct Waiting {
    FrameKind kind;
    std::uint64_t request;
    bool is_cancelled;
    std::uint8_t flags;
    Buffer body;
    Descriptor memory;
  };

  std::optional<Bytes> next_message();
  std::optional<Call> sort(Bytes message);
  void look_at_cpu(int shunned_cpu);
  void cancel(std::uint64_t request);

  Stream stream_;
  Descriptor main_process_;
  std::deque<Waiting> waiting_;          // put aside by sort_input(), oldest first
  Buffer current_body_;                  // of a call that was put aside
  std::uint64_t cancelled_request_ = 0;  // was taken before it was cancelled; 0: none
  SpinBudget spin_;
  SharedCpu shared_cpu_;
  bool has_slept_ = false;   // since the last call
  bool is_to_move_ = false;  // to another CPU, with the next result
  bool is_closed_ = false;
};

}  // namespace nodelay
