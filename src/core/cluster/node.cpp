// SPDX-License-Identifier: MIT
#include "cluster/node.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/open_files.h"
#include "hosts/affinity.h"
#include "hosts/cpu_load.h"
#include "net/poll.h"
#include "net/spin.h"

namespace nodelay {
namespace {

// A process that ends closes its stream some time before it can be reaped.
constexpr std::chrono::milliseconds kReapPatience{500};

std::unique_ptr<Splitter> make_splitter(Protocol protocol) {
  if (protocol == Protocol::framed) return std::make_unique<FrameSplitter>();
  return std::make_unique<ValueSplitter>();
}

std::shared_ptr<const Buffer> hello_body() {
  auto body = std::make_shared<Buffer>();
  const auto bytes = encode_hello({kProtocolVersion, static_cast<std::uint32_t>(::getpid())});
  body->append(bytes.data(), bytes.size());
  return body;
}

}  // namespace

Node::Node(std::shared_ptr<Session> session, NodeIdentity identity)
    : session_(std::move(session)), identity_(std::move(identity)) {
  session_->enter(*this);
}

Node::~Node() {
  stop_abruptly();
  forget_calls();
  session_->leave(*this);
}

void Node::set_process(Process process, OutputLog log) {
  process_ = std::move(process);
  pid_ = process_.pid();
  log_ = std::move(log);
  log_.close_standard_output();
}

void Node::set_stream(Descriptor connection, Protocol protocol) {
  protocol_ = protocol;
  stream_.emplace(moved_out_of_the_way(std::move(connection)), make_splitter(protocol_));
  if (protocol_ == Protocol::framed) {
    stream_->post({FrameHeader{FrameKind::hello, 0, 0, 0}, hello_body()});
  }
}

void Node::post(Payload payload, bool wants_reply, std::uint8_t flags) {
  if (wants_reply && calls_.empty()) session_->begin_work();
  trim_log_now_and_then();
  Message message{std::nullopt, std::move(payload)};
  if (protocol_ == Protocol::framed) {
    if (session_->may_spin()) flags |= kMaySpin;
    message.header = FrameHeader{FrameKind::call, flags, last_request_ + 1, 0, shunned_cpu()};
  }
  stream_->post(std::move(message));
  if (!wants_reply) return;
  calls_.push_back({++last_request_, false});
  ++num_wanted_;
}

void Node::post_function(Payload payload, std::uint8_t flags) {
  stream_->post({FrameHeader{FrameKind::function, flags, 0, 0}, std::move(payload)});
}

// A worker that is waited for by spinning should not have to run on the same CPU.
std::uint32_t Node::shunned_cpu() const {
  if (identity_.is_remote || !session_->has_cpu_to_itself()) return 0;
  return static_cast<std::uint32_t>(current_cpu() + 1);
}

void Node::trim_log_now_and_then() {
  constexpr std::chrono::seconds kInterval{1};
  const TimePoint now = Clock::now();
  if (!log_.is_in_memory() || now < next_trim_at_) return;
  next_trim_at_ = now + kInterval;
  trim_log(log_.standard_error());
}

bool Node::send(TimePoint slice_end) {
  while (!loss_ && stream_) {
    switch (stream_->flush()) {
      case Stream::Output::all_sent:
        return true;
      case Stream::Output::closed:
        lose_peer();
        return true;
      case Stream::Output::blocked:
        break;
    }
    if (Clock::now() >= slice_end) return false;
    std::array<pollfd, 2> watched{
        {{stream_->descriptor(), POLLIN | POLLOUT, 0}, {process_.exit_descriptor(), POLLIN, 0}}};
    if (poll_until(watched, slice_end) == 0) return false;
    if (watched[0].revents & (POLLIN | POLLHUP | POLLERR)) read_available();
    if (watched[0].revents == 0) look_after();
  }
  return true;
}

std::optional<Reply> Node::take_reply() {
  while (stream_) {
    auto message = next_message();
    if (!message) {
      if (stream_->is_malformed() && !loss_) lose("sent bytes that are not nodelay's protocol");
      if (loss_) forget_calls();
      update_beacon();
      return std::nullopt;
    }
    if (protocol_ == Protocol::bare) return Reply{message->bytes, {}, std::nullopt};
    if (auto reply = take_framed(std::move(*message))) return reply;
  }
  return std::nullopt;
}

void Node::release_reply() {
  if (stream_) stream_->release();
  current_message_.reset();
  update_beacon();
}

Buffer Node::take_reply_out(Buffer spare) {
  Buffer message;
  if (!current_message_.empty()) {
    message = std::move(current_message_);
  } else if (stream_) {
    message = stream_->take_out(std::move(spare));
  }
  release_reply();
  return message;
}

std::optional<Node::Received> Node::next_message() {
  if (put_aside_.empty()) {
    const auto bytes = stream_->next();
    if (!bytes) return std::nullopt;
    return Received{*bytes, stream_->take_memory()};
  }
  PutAside front = std::move(put_aside_.front());
  put_aside_.pop_front();
  current_message_ = std::move(front.bytes);
  return Received{current_message_.bytes(), std::move(front.memory)};
}

void Node::ping() {
  if (protocol_ != Protocol::framed || !stream_ || loss_ || is_stopped_) return;
  stream_->post({FrameHeader{FrameKind::ping, 0, ++last_ping_, 0}, {}});
  send(Clock::now());
}

bool Node::has_answered_ping() {
  while (stream_ && protocol_ == Protocol::framed) {
    const auto message = stream_->next();
    if (!message) break;
    put_aside(*message);
  }
  update_beacon();
  return last_pong_ == last_ping_;
}

// What is not a pong is for take_reply(), later.
void Node::put_aside(Bytes message) {
  const auto header = decode_header(message.first<kHeaderBytes>());
  if (header->kind == FrameKind::pong) {
    take_pong(header->request);
  } else {
    put_aside_.emplace_back();
    put_aside_.back().bytes.append(message.data(), message.size());
    put_aside_.back().memory = stream_->take_memory();
  }
}

void Node::take_pong(std::uint64_t ping) {
  if (ping > last_pong_ && ping <= last_ping_) {
    last_pong_ = ping;
  } else {
    break_off("answered a ping that was not sent");
  }
}

// Nothing where the frame is not for the caller.
std::optional<Reply> Node::take_framed(Received message) {
  const auto header = decode_header(message.bytes.first<kHeaderBytes>());
  const Bytes body = message.bytes.subspan(kHeaderBytes);
  if (header->kind == FrameKind::hello) {
    take_hello(body);
    return std::nullopt;
  }
  if (header->kind == FrameKind::pong) {
    take_pong(header->request);
    return std::nullopt;
  }
  const bool ends_call = header->kind == FrameKind::result;
  const bool is_from_worker = ends_call || header->kind == FrameKind::event;
  if (!is_from_worker || calls_.empty() || header->request != calls_.front().request) {
    break_off("sent a frame that answers no call");
    return std::nullopt;
  }
  if (header->flags & kMoves) spin_.expect_delay();
  if (!settle(ends_call)) return std::nullopt;
  return Reply{body, std::move(message.memory), ends_call};
}

void Node::take_hello(Bytes body) {
  const auto hello = decode_hello(body);
  if (hello && hello->protocol_version == kProtocolVersion) return;
  break_off("speaks version " + (hello ? std::to_string(hello->protocol_version) : "?") +
            " of nodelay's protocol, this process version " + std::to_string(kProtocolVersion) +
            "; install the same version of nodelay at both ends");
}

bool Node::settle(bool ends_call) {
  if (calls_.empty()) return true;  // a bare worker spoke unasked
  const bool is_wanted = !calls_.front().is_given_up;
  if (ends_call) drop_front_call();
  return is_wanted;
}

// A lost worker owes nothing any more once all that it had sent has been taken.
void Node::forget_calls() {
  if (!calls_.empty()) session_->end_work();
  calls_.clear();
  num_wanted_ = 0;
}

void Node::drop_front_call() {
  if (!calls_.front().is_given_up) --num_wanted_;
  calls_.pop_front();
  if (calls_.empty()) session_->end_work();
}

bool Node::read_available() {
  if (loss_ || !stream_) return true;
  switch (stream_->fill()) {
    case Stream::Input::some:
      update_beacon();
      return true;
    case Stream::Input::nothing:
      return false;
    case Stream::Input::closed:
      lose_peer();
      return true;
  }
  return false;
}

int Node::ready_descriptor() {
  // A reply that nobody wants would look like one that somebody waits for. (A bare
  // worker's cannot be told apart here: see Node::settle().)
  while (protocol_ == Protocol::framed && drop_given_up()) {
  }
  // So would an answer to a ping.
  if (!has_answered_ping() && read_available()) has_answered_ping();
  if (!beacon_) beacon_.emplace(stream_descriptor(), exit_descriptor());
  update_beacon();
  return beacon_->descriptor();
}

// Drops, or reads towards, the next frame of a call that was given up; false where there
// is nothing more of that.
bool Node::drop_given_up() {
  if (loss_ || calls_.empty() || !calls_.front().is_given_up) return false;
  auto message = next_message();
  if (!message) return read_available();
  take_framed(std::move(*message));
  return true;
}

void Node::update_beacon() {
  if (beacon_)
    beacon_->set_raised(loss_ || !put_aside_.empty() || (stream_ && stream_->has_next()));
}

bool Node::wait(TimePoint slice_end) {
  if (read_available()) return true;
  const TimePoint start = Clock::now();
  spin_.set_allowed(session_->may_spin());
  const auto look = [this] { return read_available(); };
  if (spin(spin_, start, look, [] { return is_crowded(); })) return true;
  std::array<pollfd, 2> watched{
      {{stream_->descriptor(), events(), 0}, {process_.exit_descriptor(), POLLIN, 0}}};
  if (poll_until(watched, slice_end) == 0) {
    trim_log_now_and_then();
    return process_.exit_descriptor() < 0 && look_after();
  }
  if (watched[0].revents & POLLOUT) send(Clock::now());
  if (read_available()) {
    spin_.answered(Clock::now() - start);
    return true;
  }
  return watched[1].revents != 0 && look_after();
}

void Node::give_up_last_call() {
  if (calls_.empty() || calls_.back().is_given_up) return;
  give_up(calls_.back());
}

void Node::give_up_calls() {
  for (Call& call : calls_) {
    if (!call.is_given_up) give_up(call);
  }
  if (stream_ && !loss_) send(Clock::now());
}

void Node::give_up(Call& call) {
  call.is_given_up = true;
  --num_wanted_;
  if (protocol_ != Protocol::framed || !stream_ || loss_) return;
  stream_->post({FrameHeader{FrameKind::cancel, 0, call.request, 0}, {}});
}

bool Node::look_after() {
  if (!loss_ && !is_stopped_ && process_.poll_exit()) lose_peer();
  return loss_.has_value();
}

bool Node::is_alive() {
  if (is_stopped_) return false;
  read_available();
  return !look_after();
}

bool Node::signal(int number) {
  if (is_stopped_ || look_after() || process_.pid() == 0) return false;
  process_.signal(number);
  return true;
}

// The stream is at its end or the process is; the other follows soon.
void Node::lose_peer() {
  if (loss_) return;
  const TimePoint patience_end = Clock::now() + kReapPatience;
  while (process_.pid() != 0 && !process_.poll_exit() && Clock::now() < patience_end) {
    pollfd watched{process_.exit_descriptor(), POLLIN, 0};
    poll_until({&watched, 1}, Clock::now() + std::chrono::milliseconds(10));
  }
  // Its last replies may not have been read yet.
  while (stream_ && stream_->fill() == Stream::Input::some) continue;
  if (const auto& exit = process_.poll_exit()) return lose(describe(*exit));
  const bool is_cut = stream_ && stream_->has_partial_input();
  lose(is_cut ? "closed its connection in the middle of a message" : "closed its connection");
}

void Node::lose(std::string reason) {
  if (loss_) return;
  loss_.emplace();
  loss_->reason = std::move(reason);
  loss_->exit = process_.poll_exit();
  loss_->last_lines = log_.last_lines();
  loss_->was_in_call = num_wanted_ > 0;
  if (stream_) stream_->close();  // what has been read stays there to be taken
  update_beacon();
  let_process_go(Departure::Patience::usual);
}

void Node::let_process_go(Departure::Patience patience) {
  if (process_.pid() == 0 || !session_->is_owner()) return;
  if (process_.poll_exit()) {
    folder_ = {};
  } else {
    session_->depart({std::move(process_), std::move(folder_), patience, Clock::now()});
  }
}

// The worker broke the protocol: what else it sent is not taken either.
void Node::break_off(std::string reason) {
  lose(std::move(reason));
  stream_.reset();
  put_aside_.clear();
  forget_calls();
}

void Node::stop() {
  stop_with(Departure::Patience::usual);
}

void Node::stop_abruptly() {
  const bool will_notice = protocol_ == Protocol::framed || calls_.empty();
  stop_with(will_notice ? Departure::Patience::usual : Departure::Patience::none);
}

void Node::stop_with(Departure::Patience patience) {
  if (std::exchange(is_stopped_, true)) return;
  if (stream_ && !loss_ && protocol_ == Protocol::framed && session_->is_owner()) {
    stream_->post({FrameHeader{FrameKind::bye, 0, 0, 0}, {}});
    stream_->flush();  // where it does not go out, the end of the stream says the same
  }
  if (stream_) stream_->close();
  beacon_.reset();
  let_process_go(patience);
}

std::string name_of(const Node& node) {
  const NodeIdentity& identity = node.identity();
  const std::string name = "Worker " + std::to_string(identity.rank);
  if (identity.is_remote) return name + " on " + identity.host + ": the command that started it";
  if (node.pid() == 0) return name + " on " + identity.host;
  return name + " (pid " + std::to_string(node.pid()) + " on " + identity.host + ")";
}

std::string describe(const Node& node, const Loss& loss) {
  std::string text = name_of(node) + " " + loss.reason;
  if (loss.was_in_call) text += " in the middle of a call";
  text += ".";
  if (loss.exit && loss.exit->signal == 9) {
    text += " SIGKILL is what the kernel sends when memory runs out.";
  }
  if (!loss.last_lines.empty()) text += " The last lines it wrote:\n" + loss.last_lines;
  return text;
}

}  // namespace nodelay
