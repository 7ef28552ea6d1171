// SPDX-License-Identifier: MIT
#pragma once

#include <nodelay/frame.h>
#include <sys/socket.h>

#include <deque>
#include <memory>
#include <optional>

#include "base/descriptor.h"
#include "net/payload.h"
#include "net/splitter.h"
#include "wire/buffer.h"

namespace nodelay {

/// One message on its way out.
struct Message {
  std::optional<FrameHeader> header;  ///< none on a stream of bare values
  Payload payload;
};

/// The one bidirectional stream between a main process and a worker: messages are
/// queued and written with as few system calls as there are, read ahead and split.
/// It never waits: whoever owns it polls. Used by one thread at a time.
class Stream {
 public:
  enum class Output { all_sent, blocked, closed };
  enum class Input { nothing, some, closed };

  /// `descriptor` must be a stream socket; it is made nonblocking.
  Stream(Descriptor descriptor, std::unique_ptr<Splitter> splitter);

  /// Queues a message; flush() sends it. A header's body_bytes, and kHasMemory among its flags, are
  /// filled in here. Memory needs a header, and a stream that can_share_memory().
  void post(Message message);

  /// Sends as much as the kernel takes now, several messages in one call.
  Output flush();

  /// Reads once, as much as is there.
  Input fill();

  /// The message at the front of what was read, header included, until the next
  /// call of next() or fill(); nothing where it is not complete yet or is malformed.
  std::optional<Bytes> next();

  /// True once the peer sent bytes that cannot be a message; nothing can be read then.
  bool is_malformed() const { return is_malformed_; }

  /// The shared memory beside the message that next() returned; empty where there is none.
  Descriptor take_memory() { return std::move(taken_memory_); }

  /// Whether the other end is on this machine and can be handed descriptors.
  bool can_share_memory() const { return can_share_memory_; }

  /// Gives back the memory of the message that next() returned.
  void release() { drop_taken(); }

  /// The same, and gives that message, header included, to the caller, in exchange for memory to
  /// use: that which the caller got before, or none.
  Buffer take_out(Buffer spare);

  /// True where next() would return a message or find malformed bytes: they have left the
  /// kernel, so no poll of descriptor() tells of them. As next() does, gives back the
  /// memory of the message before.
  bool has_next();

  bool has_output() const { return !outbox_.empty(); }

  /// True where part of a message was read when the peer closed.
  bool has_partial_input() const { return input_.size() > read_at_ + taken_bytes_; }

  /// The descriptor to poll: for input always, for output while has_output().
  int descriptor() const { return descriptor_.get(); }

  /// Ends the stream for this process and the peer alike.
  void close() { descriptor_.close(); }

 private:
  struct Outgoing {
    HeaderBytes header{};
    std::size_t header_bytes = 0;  // 0: a bare value
    Payload payload;
    std::size_t sent_bytes = 0;

    std::size_t body_bytes() const { return payload.body ? payload.body->size() : 0; }
    std::size_t total_bytes() const { return header_bytes + body_bytes(); }
    // The descriptor goes with the first byte.
    bool is_to_hand_over() const { return payload.memory && sent_bytes == 0; }
  };

  Bytes unread() const { return input_.bytes().subspan(read_at_); }
  void drop_taken();
  std::size_t num_at_once() const;
  void count_sent(std::size_t num_bytes);
  void keep_descriptors(msghdr& message);

  Descriptor descriptor_;
  std::unique_ptr<Splitter> splitter_;
  std::deque<Outgoing> outbox_;
  Buffer input_;
  std::size_t read_at_ = 0;      // in input_: where the first message begins that is still there
  std::size_t taken_bytes_ = 0;  // from there on, handed out by next()
  bool can_share_memory_ = false;
  std::deque<Descriptor> memories_;  // received, of messages that were not taken yet
  Descriptor taken_memory_;
  bool is_malformed_ = false;
};

}  // namespace nodelay
