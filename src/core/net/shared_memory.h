// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "wire/buffer.h"

namespace nodelay {

/// Memory of this process that holds a part of a SharedMemory. What is written to it is seen by
/// nobody else. Empty value: a null data().
class Mapping {
 public:
  Mapping() = default;
  /// Takes over `data`, which mmap() returned.
  Mapping(void* data, std::size_t num_bytes) : data_(data), num_bytes_(num_bytes) {}
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), num_bytes_(other.num_bytes_) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  void* data() const { return data_; }
  std::size_t num_bytes() const { return num_bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t num_bytes_ = 0;
};

/// Memory without a name that processes of one machine hand to each other as a descriptor: it is
/// written once, sealed, and then read by as many as get it. It is gone with its last
/// descriptor and mapping, whatever becomes of the processes.
class SharedMemory {
 public:
  /// Empty memory to write to; nothing where the system has none to give.
  static std::optional<SharedMemory> create();

  /// Takes over memory from another process; nothing where it is not sealed, for then its bytes
  /// could still change or go away while they are read.
  static std::optional<SharedMemory> adopt(Descriptor descriptor);

  /// Copies `bytes` to the end, and returns the offset where they begin, a multiple of the size
  /// of a page. Returns nothing where memory does not suffice.
  std::optional<std::size_t> append(Bytes bytes);

  /// Ends the writing, for everyone. Returns false where the system refuses.
  bool seal();

  /// How many bytes are there.
  std::size_t size() const { return size_; }

  /// Maps a part for reading and private writing; `offset` is one that append() returned.
  /// Returns nothing where there is no such part or the system refuses.
  std::optional<Mapping> map(std::size_t offset, std::size_t num_bytes) const;

  /// Copies a part to `to`; `offset` is one that append() returned. Returns false where there is no
  /// such part or the system refuses.
  bool read(std::size_t offset, std::size_t num_bytes, void* to) const;

  /// Still owned here; to be handed to other processes.
  int descriptor() const { return descriptor_.get(); }

 private:
  explicit SharedMemory(Descriptor descriptor, std::size_t size = 0)
      : descriptor_(std::move(descriptor)), size_(size) {}

  Descriptor descriptor_;
  std::size_t size_ = 0;
};

}  // namespace nodelay
