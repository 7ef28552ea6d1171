// SPDX-License-Identifier: MIT
#include "net/stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/system_call.h"
#include "net/descriptor_passing.h"

namespace nodelay {
namespace {

constexpr std::size_t kReadAheadBytes =
    std::size_t{64} * 1024;  // several small messages in one recv()
constexpr std::size_t kLargestStep =
    std::size_t{64} * 1024 * 1024;  // bytes reserved on a header's word
constexpr std::size_t kKeptCapacity = std::size_t{4} * 1024 * 1024;  // bytes kept between messages
constexpr std::size_t kMessagesAtOnce = 16;                          // in one sendmsg()

// Memories that may have come for messages that were not taken yet; far more than calls that are
// under way, and few enough for any limit of open files.
constexpr std::size_t kMostMemories = 256;

using Control = ControlSpace<4>;

bool is_local_socket(int descriptor) {
  int domain = AF_UNSPEC;
  socklen_t size = sizeof domain;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

// Whether a send that failed may succeed once the peer has read something.
bool is_full(int error) {
  // The last one: too many descriptors are on their way.
  return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ETOOMANYREFS;
}

// The part of `bytes` that is left after `skipped` of them.
void add_rest(std::array<iovec, 2 * kMessagesAtOnce>& parts, std::size_t& num_parts,
              const std::byte* bytes, std::size_t num_bytes, std::size_t& skipped) {
  const std::size_t skip = std::min(skipped, num_bytes);
  skipped -= skip;
  if (skip == num_bytes) return;
  parts[num_parts++] = {const_cast<std::byte*>(bytes + skip), num_bytes - skip};
}

}  // namespace

Stream::Stream(Descriptor descriptor, std::unique_ptr<Splitter> splitter)
    : descriptor_(std::move(descriptor)), splitter_(std::move(splitter)) {
  set_nonblocking(descriptor_.get());
  can_share_memory_ = is_local_socket(descriptor_.get());
}

void Stream::post(Message message) {
  Outgoing outgoing;
  outgoing.payload = std::move(message.payload);
  if (message.header) {
    message.header->body_bytes = outgoing.body_bytes();
    if (outgoing.payload.memory) message.header->flags |= kHasMemory;
    outgoing.header = encode_header(*message.header);
    outgoing.header_bytes = kHeaderBytes;
  }
  if (outgoing.total_bytes() > 0) outbox_.push_back(std::move(outgoing));
}

// How many of the messages go out in one call: shared memory goes with the first of them only.
std::size_t Stream::num_at_once() const {
  const std::size_t most = std::min(outbox_.size(), kMessagesAtOnce);
  for (std::size_t i = 1; i < most; ++i) {
    if (outbox_[i].is_to_hand_over()) return i;
  }
  return most;
}

Stream::Output Stream::flush() {
  while (!outbox_.empty()) {
    std::array<iovec, 2 * kMessagesAtOnce> parts{};
    std::size_t num_parts = 0;
    const std::size_t num_messages = num_at_once();
    for (std::size_t i = 0; i < num_messages; ++i) {
      const Outgoing& outgoing = outbox_[i];
      std::size_t skipped = outgoing.sent_bytes;
      add_rest(parts, num_parts, outgoing.header.data(), outgoing.header_bytes, skipped);
      if (const Buffer* body = outgoing.payload.body.get()) {
        add_rest(parts, num_parts, body->data(), body->size(), skipped);
      }
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = num_parts;
    Control control;
    if (outbox_.front().is_to_hand_over()) {
      const int descriptor = outbox_.front().payload.memory->descriptor();
      attach_descriptors(message, control.bytes, {&descriptor, 1});
    }
    const ssize_t sent = retry_interrupted(
        [&] { return ::sendmsg(descriptor_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
    if (sent < 0) return is_full(errno) ? Output::blocked : Output::closed;
    count_sent(static_cast<std::size_t>(sent));
  }
  return Output::all_sent;
}

void Stream::count_sent(std::size_t num_bytes) {
  while (num_bytes > 0) {
    Outgoing& front = outbox_.front();
    const std::size_t part = std::min(num_bytes, front.total_bytes() - front.sent_bytes);
    front.sent_bytes += part;
    num_bytes -= part;
    if (front.sent_bytes == front.total_bytes()) outbox_.pop_front();
  }
}

Stream::Input Stream::fill() {
  drop_taken();
  input_.drop_front(std::exchange(read_at_, 0));
  std::size_t wanted = kReadAheadBytes;
  if (!is_malformed_ && splitter_->look(unread()) == Splitter::State::partial) {
    // A long message is read to its end and no further, so that nothing is moved.
    wanted = std::clamp(splitter_->missing_bytes(), kReadAheadBytes, kLargestStep);
  }
  iovec part{input_.reserve_tail(wanted), wanted};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (can_share_memory_) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
  }
  const ssize_t received = retry_interrupted(
      [&] { return ::recvmsg(descriptor_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
  if (received > 0) {
    if (message.msg_controllen > 0) keep_descriptors(message);
    // This process has no room for another descriptor: whose message it was cannot be told later.
    if ((message.msg_flags & MSG_CTRUNC) != 0) is_malformed_ = true;
    input_.commit(static_cast<std::size_t>(received));
    return Input::some;
  }
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Input::nothing;
  return Input::closed;
}

// A peer that hands over what no message has announced, or nothing where one has, has lost its
// place.
void Stream::keep_descriptors(msghdr& message) {
  for (Descriptor& descriptor : take_descriptors(message)) {
    memories_.push_back(std::move(descriptor));
  }
  if (memories_.size() > kMostMemories) is_malformed_ = true;
}

std::optional<Bytes> Stream::next() {
  taken_memory_.close();
  if (!has_next() || is_malformed_) return std::nullopt;
  if (splitter_->has_memory()) {
    if (memories_.empty()) {
      is_malformed_ = true;
      return std::nullopt;
    }
    taken_memory_ = std::move(memories_.front());
    memories_.pop_front();
  }
  taken_bytes_ = splitter_->message_bytes();
  return unread().first(taken_bytes_);
}

Buffer Stream::take_out(Buffer spare) {
  spare.clear();
  const bool is_alone = read_at_ == 0 && taken_bytes_ == input_.size();
  if (is_alone) {
    std::swap(input_, spare);
  } else {
    spare.append(unread().data(), taken_bytes_);
  }
  drop_taken();
  return spare;
}

bool Stream::has_next() {
  drop_taken();
  if (!is_malformed_ && !unread().empty()) {
    const Splitter::State state = splitter_->look(unread());
    if (state == Splitter::State::complete) return true;
    is_malformed_ = state == Splitter::State::malformed;
  }
  return is_malformed_;
}

void Stream::drop_taken() {
  if (taken_bytes_ == 0) return;
  splitter_->next();
  read_at_ += std::exchange(taken_bytes_, 0);
  if (read_at_ < input_.size()) return;
  read_at_ = 0;
  input_.clear();
  if (input_.capacity() > kKeptCapacity) input_.reset();
}

}  // namespace nodelay
