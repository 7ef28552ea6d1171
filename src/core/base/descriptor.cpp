// SPDX-License-Identifier: MIT
#include "base/descriptor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system_call.h"

namespace nodelay {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.release();
  }
  return *this;
}

void Descriptor::close() {
  // Not retried on EINTR: Linux has freed the number by then (close(2)).
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

DescriptorPair make_stream_pair() {
  int ends[2] = {-1, -1};
  system_call("making a socket pair", [&] {
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
  });
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void set_nonblocking(int fd) {
  const int flags = system_call("reading descriptor flags", [&] { return ::fcntl(fd, F_GETFL); });
  system_call("making a descriptor nonblocking",
              [&] { return ::fcntl(fd, F_SETFL, flags | O_NONBLOCK); });
}

void set_close_on_exec(int fd) {
  system_call("making a descriptor close-on-exec",
              [&] { return ::fcntl(fd, F_SETFD, FD_CLOEXEC); });
}

}  // namespace nodelay
