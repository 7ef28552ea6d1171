// SPDX-License-Identifier: MIT
#include "cluster/node_set.h"

#include "hosts/cpu_load.h"
#include "net/poll.h"
#include "net/spin.h"

namespace nodelay {
namespace {

// What a poller calls a node's two descriptors.
std::size_t stream_token(std::size_t index) {
  return 2 * index;
}

std::size_t exit_token(std::size_t index) {
  return 2 * index + 1;
}

Poller::Interest interest_in(const Node& node) {
  return node.has_output() ? Poller::Interest::input_and_output : Poller::Interest::input;
}

}  // namespace

NodeSet::NodeSet(std::vector<Node*> nodes, Session& session)
    : nodes_(std::move(nodes)), session_(session) {}

std::span<const std::size_t> NodeSet::wait(TimePoint slice_end) {
  news_.clear();
  if (nodes_.size() == 1) {
    if (nodes_.front()->wait(slice_end)) news_.push_back(0);
    return news_;
  }
  const bool is_few = nodes_.size() <= kFew;
  if (is_few) {
    SpinBudget& budget = session_.spin_budget();
    budget.set_allowed(session_.has_spare_cpu());
    const auto look = [this] { return look_at_all(); };
    if (spin(budget, Clock::now(), look, [] { return is_crowded(); })) return news_;
  }
  is_few ? poll_few(slice_end) : poll_many(slice_end);
  return news_;
}

bool NodeSet::look_at_all() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) take_news(i, true, false, false);
  return !news_.empty();
}

void NodeSet::poll_few(TimePoint slice_end) {
  std::array<pollfd, 2 * kFew> watched{};
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    watched[stream_token(i)] = {nodes_[i]->stream_descriptor(), nodes_[i]->events(), 0};
    watched[exit_token(i)] = {nodes_[i]->exit_descriptor(), POLLIN, 0};
  }
  poll_until(std::span(watched).first(2 * nodes_.size()), slice_end);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const int stream = watched[stream_token(i)].revents;
    const bool may_have_ended =
        watched[exit_token(i)].revents != 0 || nodes_[i]->exit_descriptor() < 0;
    take_news(i, stream != 0, (stream & POLLOUT) != 0, may_have_ended);
  }
}

void NodeSet::poll_many(TimePoint slice_end) {
  watch_all();
  const auto ready = poller_->wait(slice_end);
  for (const Poller::Ready& each : ready) {
    const bool is_exit = each.token % 2 == 1;
    take_news(each.token / 2, each.has_input && !is_exit, each.has_room, is_exit);
  }
  if (!ready.empty()) return;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    take_news(i, false, false, nodes_[i]->exit_descriptor() < 0);
  }
}

// The poller keeps what it was told, so that it is told of changes only.
void NodeSet::watch_all() {
  if (!poller_) {
    poller_.emplace();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = *nodes_[i];
      awaits_room_.push_back(node.has_output());
      if (node.stream_descriptor() < 0) continue;
      poller_->add(node.stream_descriptor(), interest_in(node), stream_token(i));
      if (node.exit_descriptor() < 0) continue;
      poller_->add(node.exit_descriptor(), Poller::Interest::input, exit_token(i));
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = *nodes_[i];
    if (node.has_output() == awaits_room_[i] || node.stream_descriptor() < 0) continue;
    poller_->change(node.stream_descriptor(), interest_in(node), stream_token(i));
    awaits_room_[i] = node.has_output();
  }
}

void NodeSet::take_news(std::size_t index, bool has_input, bool has_room, bool may_have_ended) {
  Node& node = *nodes_[index];
  if (has_room) node.send(Clock::now());
  const bool has_read = has_input && node.read_available();
  if (has_read || node.loss() || (may_have_ended && node.look_after())) news_.push_back(index);
}

}  // namespace nodelay
