// SPDX-License-Identifier: MIT
#include "wire/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace nodelay {
namespace {

constexpr std::size_t kSmallestCapacity = 1024;  // bytes: a small call fits

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
  }
  return *this;
}

Buffer::~Buffer() {
  std::free(data_);
}

void Buffer::grow(std::size_t num_bytes) {
  const std::size_t needed = size_ + num_bytes;
  if (needed < size_) throw std::bad_alloc();
  const std::size_t wanted = std::max({needed, capacity_ + capacity_ / 2, kSmallestCapacity});
  void* moved = std::realloc(data_, wanted);
  if (moved == nullptr) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(moved);
  capacity_ = wanted;
}

void Buffer::drop_front(std::size_t num_bytes) {
  if (num_bytes >= size_) {
    size_ = 0;
    return;
  }
  std::memmove(data_, data_ + num_bytes, size_ - num_bytes);
  size_ -= num_bytes;
}

void Buffer::reset() {
  std::free(std::exchange(data_, nullptr));
  size_ = 0;
  capacity_ = 0;
}

}  // namespace nodelay
