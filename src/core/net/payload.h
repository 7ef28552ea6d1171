// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "net/shared_memory.h"
#include "wire/buffer.h"

namespace nodelay {

/// What a message carries. Shared, because a broadcast sends the same to many nodes.
struct Payload {
  Payload() = default;
  Payload(std::shared_ptr<const Buffer> bytes, std::shared_ptr<const SharedMemory> beside = nullptr)
      : body(std::move(bytes)), memory(std::move(beside)) {}

  std::shared_ptr<const Buffer> body;          ///< null: nothing
  std::shared_ptr<const SharedMemory> memory;  ///< sealed, goes beside the body; null: none
};

}  // namespace nodelay
