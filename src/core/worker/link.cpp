// SPDX-License-Identifier: MIT
#include "worker/link.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hosts/affinity.h"
#include "hosts/cpu_load.h"
#include "net/poll.h"
#include "net/spin.h"

namespace nodelay {

Link::Link(Descriptor connection, Descriptor main_process)
    : stream_(std::move(connection), std::make_unique<FrameSplitter>()),
      main_process_(std::move(main_process)) {
  auto body = std::make_shared<Buffer>();
  const auto hello = encode_hello({kProtocolVersion, static_cast<std::uint32_t>(::getpid())});
  body->append(hello.data(), hello.size());
  send(FrameKind::hello, 0, Payload(std::move(body)));
}

std::optional<Link::Call> Link::take_call() {
  if (!waiting_.empty()) {
    Waiting& front = waiting_.front();
    current_body_ = std::move(front.body);
    Call call{front.kind, front.request,         front.is_cancelled,     front.flags,
              0,          current_body_.bytes(), std::move(front.memory)};
    waiting_.pop_front();
    return call;
  }
  while (const auto message = next_message()) {
    if (auto call = sort(*message)) {
      if (call->kind == FrameKind::call) look_at_cpu(call->shunned_cpu);
      return call;
    }
  }
  return std::nullopt;
}

void Link::look_at_cpu(int shunned_cpu) {
  const bool was_quick = !std::exchange(has_slept_, false);
  is_to_move_ = shared_cpu_.should_leave(current_cpu() + 1, shunned_cpu, was_quick);
}

void Link::release_body() {
  current_body_.reset();
  stream_.release();
}

bool Link::read_available() {
  if (is_closed_) return true;
  switch (stream_.fill()) {
    case Stream::Input::nothing:
      return false;
    case Stream::Input::some:
      return true;
    case Stream::Input::closed:
      is_closed_ = true;
      return true;
  }
  return false;
}

void Link::sort_input() {
  while (const auto message = next_message()) {
    auto call = sort(*message);
    if (!call) continue;
    waiting_.push_back(
        {call->kind, call->request, false, call->flags, {}, std::move(call->memory)});
    waiting_.back().body.append(call->body.data(), call->body.size());
  }
}

// Nothing after the end, even where more has been read.
std::optional<Bytes> Link::next_message() {
  if (is_closed_) return std::nullopt;
  const auto message = stream_.next();
  is_closed_ = stream_.is_malformed();
  return message;
}

// The call, where the message is one.
std::optional<Link::Call> Link::sort(Bytes message) {
  const auto header = decode_header(message.first<kHeaderBytes>());
  const Bytes body = message.subspan(kHeaderBytes);
  switch (header->kind) {
    case FrameKind::call:
      spin_.set_allowed((header->flags & kMaySpin) != 0);
      return Call{FrameKind::call,
                  header->request,
                  false,
                  header->flags,
                  static_cast<int>(header->shunned_cpu),
                  body,
                  stream_.take_memory()};
    case FrameKind::function:
      return Call{FrameKind::function, 0, false, header->flags, 0, body, stream_.take_memory()};
    case FrameKind::cancel:
      cancel(header->request);
      return std::nullopt;
    case FrameKind::ping:
      stream_.post({FrameHeader{FrameKind::pong, 0, header->request, 0}, {}});
      send_rest();
      return std::nullopt;
    case FrameKind::hello: {
      const auto hello = decode_hello(body);
      if (!hello || hello->protocol_version != kProtocolVersion) is_closed_ = true;
      return std::nullopt;
    }
    case FrameKind::bye:
    case FrameKind::result:
    case FrameKind::event:
    case FrameKind::pong:
      is_closed_ = true;
      return std::nullopt;
  }
  return std::nullopt;
}

void Link::cancel(std::uint64_t request) {
  const auto call = std::find_if(waiting_.begin(), waiting_.end(),
                                 [&](const Waiting& each) { return each.request == request; });
  if (call == waiting_.end()) {
    cancelled_request_ = request;
  } else {
    call->is_cancelled = true;
  }
}

bool Link::take_cancel(std::uint64_t request) {
  if (cancelled_request_ != request) return false;
  cancelled_request_ = 0;
  return true;
}

void Link::wait(TimePoint slice_end) {
  if (read_available()) return;
  const TimePoint start = Clock::now();
  const auto look = [this] { return read_available(); };
  if (spin(spin_, start, look, [] { return is_crowded(); })) return;
  has_slept_ = true;
  std::array<pollfd, 2> watched{
      {{stream_.descriptor(), events(), 0}, {main_process_.get(), POLLIN, 0}}};
  if (poll_until(watched, slice_end) == 0) return;
  if (watched[1].revents != 0) lose_main_process();
  if (watched[0].revents & POLLOUT) send_rest();
  if (read_available()) spin_.answered(Clock::now() - start);
}

void Link::send_rest() {
  if (!is_closed_ && stream_.flush() == Stream::Output::closed) is_closed_ = true;
}

bool Link::send(FrameKind kind, std::uint64_t request, Payload payload) {
  const bool moves = kind == FrameKind::result && std::exchange(is_to_move_, false);
  const std::uint8_t flags = moves ? kMoves : 0;
  stream_.post({FrameHeader{kind, flags, request, 0}, std::move(payload)});
  while (!is_closed_) {
    switch (stream_.flush()) {
      case Stream::Output::all_sent:
        if (moves) leave_cpu(current_cpu());
        return true;
      case Stream::Output::closed:
        is_closed_ = true;
        return false;
      case Stream::Output::blocked:
        break;
    }
    std::array<pollfd, 2> watched{
        {{stream_.descriptor(), POLLIN | POLLOUT, 0}, {main_process_.get(), POLLIN, 0}}};
    poll_until(watched, Clock::now() + std::chrono::hours(1));
    if (watched[1].revents != 0) lose_main_process();
    if (watched[0].revents & (POLLIN | POLLHUP | POLLERR)) read_available();
  }
  return false;
}

}  // namespace nodelay
