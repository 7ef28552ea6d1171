// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

namespace nodelay {

/// Owns one file descriptor and closes it once. Empty value: -1.
class Descriptor {
 public:
  Descriptor() = default;
  /// Takes over `fd`, which the caller has just opened; -1 makes an empty one.
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  /// The descriptor's number, still owned here; -1 when empty.
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  /// Closes the descriptor now, if there is one, and leaves this empty.
  void close();

  /// Gives the descriptor to the caller and leaves this empty.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct DescriptorPair {
  Descriptor first;
  Descriptor second;
};

/// Makes two connected, nonblocking, close-on-exec stream sockets.
/// Throws Error(system).
DescriptorPair make_stream_pair();

/// Lets `fd` return at once instead of waiting. Throws Error(system).
void set_nonblocking(int fd);

/// Keeps `fd` from programs that this process starts. Throws Error(system).
void set_close_on_exec(int fd);

}  // namespace nodelay
