// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "net/tcp.h"
#include "net/token.h"

namespace nodelay {

/// Whose loop runs on a worker; said in its greeting by one letter.
enum class Loop : char {
  native = 'n',  ///< nodelay's: it will speak frames
  base = 'b',    ///< base R's: it will speak bare values
};

/// What a worker says first: its half of the token and the letter of its loop.
std::string greeting_of(const Token& token, Loop loop);

/// A worker that has connected and proved who it is.
struct Arrival {
  std::size_t worker = 0;  ///< the number given to Rendezvous::expect()
  Loop loop = Loop::native;
  Descriptor connection;
};

/// The place where workers that connect over TCP are met. It listens from its
/// construction on, so that nobody can take the port in between. Whoever connects must
/// first say the worker's half of an expected token and the letter of its loop; all
/// others are dropped without an answer and disturb nobody. It never waits: the owner
/// polls.
class Rendezvous {
 public:
  /// Listens on a random one of `ports` that is free; the kernel chooses where
  /// `ports` is empty. Throws Error(system) naming the ports where none is free.
  explicit Rendezvous(const std::vector<std::uint16_t>& ports, Reach reach = Reach::this_machine);

  std::uint16_t port() const { return port_; }

  /// Waits for one more worker. `has_no_delay`: TCP_NODELAY at this end.
  void expect(std::size_t worker, Token token, bool has_no_delay);

  /// Waits for one more worker that runs a command of the user's own, parallel's
  /// .workRSOCK(), which knows no token: whoever connects and says nothing for a while is
  /// taken for it, as parallel and parallelly do.
  void expect_unknown(std::size_t worker, bool has_no_delay);

  /// Does not wait for this worker any more.
  void forget(std::size_t worker);

  /// How many expected workers have not come yet.
  std::size_t num_expected() const { return expected_.size() + unknown_.size(); }

  /// Adds what the owner has to poll for before the next turn().
  void add_to(std::vector<pollfd>& watched) const;

  /// Accepts, reads and answers without waiting. Returns those who have arrived.
  std::vector<Arrival> turn(TimePoint now);

 private:
  struct Expected {
    std::size_t worker = 0;
    bool has_no_delay = false;
    Token token;  // empty: an unknown one
  };
  struct Guest {
    Descriptor connection;
    std::string said;
    TimePoint came_at;
  };
  enum class Presentation { going, arrived, refused };

  void accept_all(TimePoint now, std::vector<Arrival>& arrivals);
  void listen_to_all(TimePoint now, std::vector<Arrival>& arrivals);
  Presentation listen_to(Guest& guest, TimePoint now, std::vector<Arrival>& arrivals);
  Presentation take_unknown(Guest& guest, std::vector<Arrival>& arrivals);

  Descriptor listener_;
  std::uint16_t port_ = 0;
  std::vector<Expected> expected_;
  std::vector<Expected> unknown_;
  std::vector<Guest> guests_;  // oldest first
};

/// The worker's side: connects to the loopback `port` and does its half of the
/// greeting; waits at most until `deadline`. Throws Error(system) where nobody
/// listens, Error(protocol) where the other side does not know the token.
Descriptor meet_main(std::uint16_t port, const Token& token, bool has_no_delay, TimePoint deadline);

}  // namespace nodelay
