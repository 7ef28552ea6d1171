// SPDX-License-Identifier: MIT
#include "net/stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/system_call.h"

namespace nodelay {
namespace {

constexpr std::size_t kReadAheadBytes =
    std::size_t{64} * 1024;  // several small messages in one recv()
constexpr std::size_t kLargestStep =
    std::size_t{64} * 1024 * 1024;  // bytes reserved on a header's word
constexpr std::size_t kKeptCapacity = std::size_t{4} * 1024 * 1024;  // bytes kept between messages
constexpr std::size_t kMessagesAtOnce = 16;                          // in one sendmsg()

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
}

void Stream::post(Message message) {
  Outgoing outgoing;
  if (message.header) {
    message.header->body_bytes = message.body ? message.body->size() : 0;
    outgoing.header = encode_header(*message.header);
    outgoing.header_bytes = kHeaderBytes;
  }
  outgoing.body = std::move(message.body);
  if (outgoing.total_bytes() > 0) outbox_.push_back(std::move(outgoing));
}

Stream::Output Stream::flush() {
  while (!outbox_.empty()) {
    std::array<iovec, 2 * kMessagesAtOnce> parts{};
    std::size_t num_parts = 0;
    const std::size_t num_messages = std::min(outbox_.size(), kMessagesAtOnce);
    for (std::size_t i = 0; i < num_messages; ++i) {
      const Outgoing& outgoing = outbox_[i];
      std::size_t skipped = outgoing.sent_bytes;
      add_rest(parts, num_parts, outgoing.header.data(), outgoing.header_bytes, skipped);
      if (outgoing.body) {
        add_rest(parts, num_parts, outgoing.body->data(), outgoing.body->size(), skipped);
      }
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = num_parts;
    const ssize_t sent = retry_interrupted(
        [&] { return ::sendmsg(descriptor_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
    if (sent < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return Output::blocked;
      return Output::closed;
    }
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
  std::byte* tail = input_.reserve_tail(wanted);
  const ssize_t received =
      retry_interrupted([&] { return ::recv(descriptor_.get(), tail, wanted, MSG_DONTWAIT); });
  if (received > 0) {
    input_.commit(static_cast<std::size_t>(received));
    return Input::some;
  }
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Input::nothing;
  return Input::closed;
}

std::optional<Bytes> Stream::next() {
  if (!has_next() || is_malformed_) return std::nullopt;
  taken_bytes_ = splitter_->message_bytes();
  return unread().first(taken_bytes_);
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
