// SPDX-License-Identifier: MIT
#include "net/rendezvous.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "base/system_call.h"
#include "net/loopback.h"
#include "net/poll.h"
#include "net/socket_options.h"

namespace nodelay {
namespace {

constexpr std::chrono::seconds kPatience{10};  // for a guest to say its half
constexpr std::size_t kMostGuests = 256;       // strangers that are heard at a time

std::string describe(const std::vector<std::uint16_t>& ports) {
  if (ports.size() == 1) return "port " + std::to_string(ports.front());
  const auto [least, most] = std::minmax_element(ports.begin(), ports.end());
  return "any of " + std::to_string(ports.size()) + " ports from " + std::to_string(*least) +
         " to " + std::to_string(*most);
}

// Both halves fit any socket buffer, so this neither blocks nor stops halfway.
bool say(int connection, const std::string& half) {
  const ssize_t sent =
      retry_interrupted([&] { return ::send(connection, half.data(), half.size(), MSG_NOSIGNAL); });
  return sent == static_cast<ssize_t>(half.size());
}

enum class Heard { some, nothing, closed };

// Reads on towards one half and never past it: what follows belongs to the stream.
Heard hear(int connection, std::string& said) {
  std::array<char, kTokenHalfBytes> bytes;
  const ssize_t received = retry_interrupted(
      [&] { return ::recv(connection, bytes.data(), kTokenHalfBytes - said.size(), 0); });
  if (received > 0) {
    said.append(bytes.data(), static_cast<std::size_t>(received));
    return Heard::some;
  }
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Heard::nothing;
  return Heard::closed;
}

}  // namespace

Rendezvous::Rendezvous(const std::vector<std::uint16_t>& ports) {
  std::vector<std::uint16_t> choices = ports;
  if (choices.empty()) choices.push_back(0);
  while (!choices.empty()) {
    const auto chosen = choices.begin() + static_cast<std::ptrdiff_t>(random_below(choices.size()));
    listener_ = try_to_listen(*chosen);
    if (listener_) {
      port_ = port_of(listener_.get());
      return;
    }
    choices.erase(chosen);
  }
  throw Error(EADDRINUSE, "listening for workers on " + describe(ports));
}

void Rendezvous::expect(std::size_t worker, Token token, bool has_no_delay) {
  expected_.push_back({worker, std::move(token), has_no_delay});
}

void Rendezvous::add_to(std::vector<pollfd>& watched) const {
  watched.push_back({listener_.get(), POLLIN, 0});
  for (const Guest& guest : guests_) watched.push_back({guest.connection.get(), POLLIN, 0});
}

std::vector<Arrival> Rendezvous::turn(TimePoint now) {
  accept_all(now);
  std::vector<Arrival> arrivals;
  std::erase_if(guests_, [&](Guest& guest) {
    return listen_to(guest, arrivals) != Presentation::going || guest.leaves_at <= now;
  });
  return arrivals;
}

void Rendezvous::accept_all(TimePoint now) {
  for (;;) {
    Descriptor connection(retry_interrupted([&] {
      return ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }));
    if (!connection) return;  // none waits, or it went away before it was accepted
    // A worker speaks at once, so the guest that has been silent longest is a stranger.
    if (guests_.size() == kMostGuests) guests_.erase(guests_.begin());
    guests_.push_back({std::move(connection), {}, now + kPatience});
  }
}

Rendezvous::Presentation Rendezvous::listen_to(Guest& guest, std::vector<Arrival>& arrivals) {
  switch (hear(guest.connection.get(), guest.said)) {
    case Heard::nothing:
      return Presentation::going;
    case Heard::closed:
      return Presentation::refused;
    case Heard::some:
      break;
  }
  if (guest.said.size() < kTokenHalfBytes) return Presentation::going;
  const auto match = std::find_if(expected_.begin(), expected_.end(), [&](const Expected& each) {
    return equal_secrets(each.token.worker_half, guest.said);
  });
  if (match == expected_.end()) return Presentation::refused;
  const int connection = guest.connection.get();
  if (match->has_no_delay) set_no_delay(connection);
  set_keepalive(connection);
  if (!say(connection, match->token.main_half)) return Presentation::refused;
  arrivals.push_back({match->worker, std::move(guest.connection)});
  expected_.erase(match);
  return Presentation::arrived;
}

Descriptor meet_main(std::uint16_t port, const Token& token, bool has_no_delay,
                     TimePoint deadline) {
  Descriptor connection = make_tcp_socket();
  const sockaddr_in address = loopback_address(port);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
          0 &&
      errno != EINPROGRESS && errno != EINTR) {
    throw Error(errno, "connecting to the main process on port " + std::to_string(port));
  }
  pollfd watched{connection.get(), POLLOUT, 0};
  while (poll_until({&watched, 1}, deadline) == 0) {
    if (Clock::now() >= deadline) throw Error(ETIMEDOUT, "connecting to the main process");
  }
  if (has_no_delay) set_no_delay(connection.get());
  set_keepalive(connection.get());
  if (!say(connection.get(), token.worker_half)) {
    throw Error(errno, "greeting the main process on port " + std::to_string(port));
  }
  std::string answer;
  watched.events = POLLIN;
  while (answer.size() < kTokenHalfBytes) {
    poll_until({&watched, 1}, deadline);
    const Heard heard = hear(connection.get(), answer);
    if (heard == Heard::closed) throw Error(ErrorKind::protocol, "the main process hung up");
    if (Clock::now() >= deadline) throw Error(ETIMEDOUT, "waiting for the main process");
  }
  if (!equal_secrets(answer, token.main_half)) {
    throw Error(ErrorKind::protocol, "whoever listens on port " + std::to_string(port) +
                                         " does not know this worker's token");
  }
  return connection;
}

}  // namespace nodelay
