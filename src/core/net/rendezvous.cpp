// SPDX-License-Identifier: MIT
#include "net/rendezvous.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "base/system_call.h"
#include "net/poll.h"
#include "net/socket_options.h"

namespace nodelay {
namespace {

constexpr std::size_t kGreetingBytes = kTokenHalfBytes + 1;  // a half and the letter of a Loop
constexpr std::chrono::seconds kPatience{10};                // for a guest to say it
constexpr std::chrono::milliseconds kSilence{200};  // after which a guest may be an unknown worker
constexpr std::size_t kMostGuests = 256;            // strangers that are heard at a time

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

// Reads on towards `wanted` bytes and never past them: what follows belongs to the stream.
Heard hear(int connection, std::string& said, std::size_t wanted) {
  std::array<char, kGreetingBytes> bytes{};
  const ssize_t received =
      retry_interrupted([&] { return ::recv(connection, bytes.data(), wanted - said.size(), 0); });
  if (received > 0) {
    said.append(bytes.data(), static_cast<std::size_t>(received));
    return Heard::some;
  }
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Heard::nothing;
  return Heard::closed;
}

bool is_loop(char letter) {
  return letter == static_cast<char>(Loop::native) || letter == static_cast<char>(Loop::base);
}

void prepare_connection(int connection, bool has_no_delay) {
  if (has_no_delay) set_no_delay(connection);
  set_keepalive(connection);
}

}  // namespace

std::string greeting_of(const Token& token, Loop loop) {
  return token.worker_half + static_cast<char>(loop);
}

Rendezvous::Rendezvous(const std::vector<std::uint16_t>& ports, Reach reach) {
  std::vector<std::uint16_t> choices = ports;
  if (choices.empty()) choices.push_back(0);
  while (!choices.empty()) {
    const auto chosen = choices.begin() + static_cast<std::ptrdiff_t>(random_below(choices.size()));
    listener_ = try_to_listen(*chosen, reach);
    if (listener_) {
      port_ = port_of(listener_.get());
      return;
    }
    choices.erase(chosen);
  }
  throw Error(EADDRINUSE, "listening for workers on " + describe(ports));
}

void Rendezvous::expect(std::size_t worker, Token token, bool has_no_delay) {
  expected_.push_back({worker, has_no_delay, std::move(token)});
}

void Rendezvous::expect_unknown(std::size_t worker, bool has_no_delay) {
  unknown_.push_back({worker, has_no_delay, {}});
}

void Rendezvous::forget(std::size_t worker) {
  const auto is_it = [worker](const Expected& each) { return each.worker == worker; };
  std::erase_if(expected_, is_it);
  std::erase_if(unknown_, is_it);
}

void Rendezvous::add_to(std::vector<pollfd>& watched) const {
  watched.push_back({listener_.get(), POLLIN, 0});
  for (const Guest& guest : guests_) watched.push_back({guest.connection.get(), POLLIN, 0});
}

std::vector<Arrival> Rendezvous::turn(TimePoint now) {
  std::vector<Arrival> arrivals;
  accept_all(now, arrivals);
  listen_to_all(now, arrivals);
  return arrivals;
}

void Rendezvous::accept_all(TimePoint now, std::vector<Arrival>& arrivals) {
  for (;;) {
    Descriptor connection(retry_interrupted([&] {
      return ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }));
    if (!connection) {
      // Otherwise none waits, or it went away before it was accepted.
      if (errno == EMFILE || errno == ENFILE) throw Error(errno, "accepting a worker");
      return;
    }
    if (guests_.size() == kMostGuests) listen_to_all(now, arrivals);
    // A worker speaks at once, so the guest that has been silent longest is a stranger.
    if (guests_.size() == kMostGuests) guests_.erase(guests_.begin());
    guests_.push_back({std::move(connection), {}, now});
  }
}

void Rendezvous::listen_to_all(TimePoint now, std::vector<Arrival>& arrivals) {
  std::erase_if(guests_, [&](Guest& guest) {
    return listen_to(guest, now, arrivals) != Presentation::going ||
           now - guest.came_at > kPatience;
  });
}

Rendezvous::Presentation Rendezvous::listen_to(Guest& guest, TimePoint now,
                                               std::vector<Arrival>& arrivals) {
  const int connection = guest.connection.get();
  switch (hear(connection, guest.said, kGreetingBytes)) {
    case Heard::nothing:
      if (guest.said.empty() && now - guest.came_at > kSilence) {
        return take_unknown(guest, arrivals);
      }
      return Presentation::going;
    case Heard::closed:
      return Presentation::refused;
    case Heard::some:
      break;
  }
  if (guest.said.size() < kGreetingBytes) return Presentation::going;
  const std::string_view half = std::string_view(guest.said).substr(0, kTokenHalfBytes);
  const auto match = std::find_if(expected_.begin(), expected_.end(), [&](const Expected& each) {
    return equal_secrets(each.token.worker_half, half);
  });
  if (match == expected_.end() || !is_loop(guest.said.back())) return Presentation::refused;
  prepare_connection(connection, match->has_no_delay);
  if (!say(connection, match->token.main_half)) return Presentation::refused;
  arrivals.push_back({match->worker, Loop{guest.said.back()}, std::move(guest.connection)});
  expected_.erase(match);
  return Presentation::arrived;
}

Rendezvous::Presentation Rendezvous::take_unknown(Guest& guest, std::vector<Arrival>& arrivals) {
  if (unknown_.empty()) return Presentation::going;
  prepare_connection(guest.connection.get(), unknown_.front().has_no_delay);
  arrivals.push_back({unknown_.front().worker, Loop::base, std::move(guest.connection)});
  unknown_.erase(unknown_.begin());
  return Presentation::arrived;
}

Descriptor meet_main(std::uint16_t port, const Token& token, bool has_no_delay,
                     TimePoint deadline) {
  Descriptor connection = make_tcp_socket();
  const sockaddr_in address = address_of(port, Reach::this_machine);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
          0 &&
      errno != EINPROGRESS && errno != EINTR) {
    throw Error(errno, "connecting to the main process on port " + std::to_string(port));
  }
  pollfd watched{connection.get(), POLLOUT, 0};
  while (poll_until({&watched, 1}, deadline) == 0) {
    if (Clock::now() >= deadline) throw Error(ETIMEDOUT, "connecting to the main process");
  }
  prepare_connection(connection.get(), has_no_delay);
  if (!say(connection.get(), greeting_of(token, Loop::native))) {
    throw Error(errno, "greeting the main process on port " + std::to_string(port));
  }
  std::string answer;
  watched.events = POLLIN;
  while (answer.size() < kTokenHalfBytes) {
    poll_until({&watched, 1}, deadline);
    const Heard heard = hear(connection.get(), answer, kTokenHalfBytes);
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
