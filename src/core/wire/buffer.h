// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace nodelay {

using Bytes = std::span<const std::byte>;

/// A growing run of bytes that, unlike std::vector, never spends time on
/// zeroing what is about to be overwritten. Growth is by realloc(), so that
/// large buffers move by remapping pages and not by copying.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  const std::byte* data() const { return data_; }
  std::byte* data() { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  Bytes bytes() const { return {data_, size_}; }

  /// Copies `bytes` to the end. Throws std::bad_alloc, leaving this as it was.
  void append(const void* bytes, std::size_t num_bytes) {
    if (num_bytes == 0) return;
    std::memcpy(reserve_tail(num_bytes), bytes, num_bytes);
    commit(num_bytes);
  }

  /// Makes room for `num_bytes` past the end and returns where they go; valid
  /// until the next call that grows. Throws std::bad_alloc.
  std::byte* reserve_tail(std::size_t num_bytes) {
    if (num_bytes > capacity_ - size_) grow(num_bytes);
    return data_ + size_;
  }

  /// Counts `num_bytes`, written to what reserve_tail() returned, as content.
  void commit(std::size_t num_bytes) { size_ += num_bytes; }

  /// Drops the first `num_bytes` and moves the rest to the front.
  void drop_front(std::size_t num_bytes);

  void clear() { size_ = 0; }

  /// Gives all memory back.
  void reset();

 private:
  void grow(std::size_t num_bytes);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace nodelay
