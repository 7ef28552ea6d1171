// SPDX-License-Identifier: MIT
#include <nodelay/error.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>

#include "base/system_call.h"
#include "net/poller.h"

namespace nodelay {
namespace {

void control(int queue, int action, int descriptor, Poller::Interest interest, std::size_t token) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (interest == Poller::Interest::input_and_output) event.events |= EPOLLOUT;
  event.data.u64 = token;
  system_call("preparing to wait for a worker",
              [&] { return ::epoll_ctl(queue, action, descriptor, &event); });
}

}  // namespace

Poller::Poller()
    : queue_(system_call("preparing to wait for workers",
                         [] { return ::epoll_create1(EPOLL_CLOEXEC); })) {}

void Poller::add(int descriptor, Interest interest, std::size_t token) {
  control(queue_.get(), EPOLL_CTL_ADD, descriptor, interest, token);
}

void Poller::change(int descriptor, Interest interest, std::size_t token) {
  control(queue_.get(), EPOLL_CTL_MOD, descriptor, interest, token);
}

std::span<const Poller::Ready> Poller::wait(TimePoint deadline) {
  constexpr std::chrono::milliseconds kMost = std::chrono::hours(1);
  std::array<epoll_event, 64> events;
  const int timeout = poll_milliseconds(Clock::now(), deadline, kMost);
  const int num_ready =
      ::epoll_wait(queue_.get(), events.data(), static_cast<int>(events.size()), timeout);
  if (num_ready < 0 && errno != EINTR) throw Error(errno, "waiting for workers");
  ready_.clear();
  for (int i = 0; i < num_ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const bool has_input = (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
    ready_.push_back({event.data.u64, has_input, (event.events & EPOLLOUT) != 0});
  }
  return ready_;
}

}  // namespace nodelay
