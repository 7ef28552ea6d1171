// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "net/token.h"

namespace nodelay {

/// A worker that has connected and proved who it is.
struct Arrival {
  std::size_t worker = 0;  ///< the number given to Rendezvous::expect()
  Descriptor connection;
};

/// The place where workers that connect over TCP are met. It listens on the
/// loopback interface only, from its construction on, so that nobody can take the
/// port in between. Whoever connects must first say the worker's half of an
/// expected token; all others are dropped without an answer and disturb nobody.
/// It never waits: the owner polls.
class Rendezvous {
 public:
  /// Listens on a random one of `ports` that is free; the kernel chooses where
  /// `ports` is empty. Throws Error(system) naming the ports where none is free.
  explicit Rendezvous(const std::vector<std::uint16_t>& ports);

  std::uint16_t port() const { return port_; }

  /// Waits for one more worker. `has_no_delay`: TCP_NODELAY at this end.
  void expect(std::size_t worker, Token token, bool has_no_delay);

  /// How many expected workers have not come yet.
  std::size_t num_expected() const { return expected_.size(); }

  /// Adds what the owner has to poll for before the next turn().
  void add_to(std::vector<pollfd>& watched) const;

  /// Accepts, reads and answers without waiting. Returns those who have arrived.
  std::vector<Arrival> turn(TimePoint now);

 private:
  struct Expected {
    std::size_t worker = 0;
    Token token;
    bool has_no_delay = false;
  };
  struct Guest {
    Descriptor connection;
    std::string said;
    TimePoint leaves_at;
  };
  enum class Presentation { going, arrived, refused };

  void accept_all(TimePoint now, std::vector<Arrival>& arrivals);
  void listen_to_all(TimePoint now, std::vector<Arrival>& arrivals);
  Presentation listen_to(Guest& guest, std::vector<Arrival>& arrivals);

  Descriptor listener_;
  std::uint16_t port_ = 0;
  std::vector<Expected> expected_;
  std::vector<Guest> guests_;  // oldest first
};

/// The worker's side: connects to the loopback `port` and does its half of the
/// greeting; waits at most until `deadline`. Throws Error(system) where nobody
/// listens, Error(protocol) where the other side does not know the token.
Descriptor meet_main(std::uint16_t port, const Token& token, bool has_no_delay, TimePoint deadline);

}  // namespace nodelay
