// SPDX-License-Identifier: MIT
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/system_call.h"
#include "net/beacon.h"

namespace nodelay {

// An epoll descriptor can be polled itself: it is readable while one in its set is.
Beacon::Beacon(int stream, int process)
    : set_(system_call("making an epoll set", [] { return ::epoll_create1(EPOLL_CLOEXEC); })),
      raise_(system_call("making an event descriptor",
                         [] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })) {
  watch(raise_.get());
  watch(stream);
  watch(process);
}

void Beacon::watch(int descriptor) {
  if (descriptor < 0) return;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  system_call("watching a descriptor",
              [&] { return ::epoll_ctl(set_.get(), EPOLL_CTL_ADD, descriptor, &event); });
}

void Beacon::set_raised(bool is_raised) {
  if (is_raised == is_raised_) return;
  std::uint64_t count = 1;
  if (is_raised) {
    system_call("raising a beacon", [&] { return ::write(raise_.get(), &count, sizeof count); });
  } else {
    system_call("lowering a beacon", [&] { return ::read(raise_.get(), &count, sizeof count); });
  }
  is_raised_ = is_raised;
}

}  // namespace nodelay
