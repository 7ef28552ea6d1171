// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "wire/buffer.h"
#include "wire/value_scanner.h"

namespace nodelay {

/// Tells where the message at the front of a stream's unread bytes ends. One
/// implementation for each way in which peers mark that.
class Splitter {
 public:
  enum class State { partial, complete, malformed };

  virtual ~Splitter() = default;

  /// Looks at all unread bytes, from the first byte of the message at the front;
  /// between two calls of next() they only grow.
  virtual State look(Bytes unread) = 0;

  /// After `complete`: the length of the message at the front.
  virtual std::size_t message_bytes() const = 0;

  /// After `complete`: whether shared memory goes beside the message at the front.
  virtual bool has_memory() const { return false; }

  /// After `partial`: how many further bytes surely belong to this message; >= 1.
  virtual std::size_t missing_bytes() const = 0;

  /// The message at the front has been taken.
  virtual void next() = 0;
};

/// Frames of docs/protocol.md: the header says how long they are.
class FrameSplitter final : public Splitter {
 public:
  State look(Bytes unread) override;
  std::size_t message_bytes() const override { return message_bytes_; }
  bool has_memory() const override { return has_memory_; }
  std::size_t missing_bytes() const override { return missing_bytes_; }
  void next() override { message_bytes_ = 0; }

 private:
  std::size_t message_bytes_ = 0;  // 0: the header has not been seen whole
  std::size_t missing_bytes_ = 1;
  bool has_memory_ = false;
};

/// Serialized R values one after the other with nothing around them, as base R's
/// workers send them.
class ValueSplitter final : public Splitter {
 public:
  State look(Bytes unread) override;
  std::size_t message_bytes() const override { return scanned_bytes_; }
  std::size_t missing_bytes() const override { return 1; }
  void next() override;

 private:
  ValueScanner scanner_;
  std::size_t scanned_bytes_ = 0;
};

}  // namespace nodelay
