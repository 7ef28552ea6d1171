// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cluster/node.h"
#include "net/poller.h"

namespace nodelay {

/// Several nodes that are waited for together, all served at once: whoever sends is read,
/// whoever has room is written to. Borrows the nodes, which are distinct and outlive it. Done
/// with once one of them is lost or stopped.
class NodeSet {
 public:
  /// `session` is that of the nodes.
  NodeSet(std::vector<Node*> nodes, Session& session);

  /// Waits until something has been read from one of the nodes or one is lost, a signal has
  /// arrived or `slice_end` has come. Returns the indices of those with news; valid until the next
  /// call.
  std::span<const std::size_t> wait(TimePoint slice_end);

 private:
  // Polling a few anew each time is cheaper than to keep a queue in the kernel.
  static constexpr std::size_t kFew = 16;

  bool look_at_all();
  void poll_few(TimePoint slice_end);
  void poll_many(TimePoint slice_end);
  void watch_all();
  void take_news(std::size_t index, bool has_input, bool has_room, bool may_have_ended);

  std::vector<Node*> nodes_;
  Session& session_;
  std::vector<std::size_t> news_;
  std::optional<Poller> poller_;   // none before it is needed
  std::vector<bool> awaits_room_;  // as the poller knows it
};

}  // namespace nodelay
