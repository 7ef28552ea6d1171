// SPDX-License-Identifier: MIT
#include "worker/shared_cpu.h"

#include <algorithm>
#include <utility>

namespace nodelay {
bool SharedCpu::should_leave(int own, int shunned, bool was_quick) {
  if (shunned == 0 || own != shunned) {
    num_shared_ = 0;
    num_apart_ = std::min(num_apart_ + 1, kPaid);
    return false;
  }
  num_shared_ = was_quick ? num_shared_ + 1 : 1;
  if (num_shared_ < patience_) return false;
  const bool has_paid = std::exchange(num_apart_, 0) >= kPaid;
  patience_ = has_paid ? kLeastPatience : std::min(2 * patience_, kMostPatience);
  num_shared_ = 0;
  return true;
}

}  // namespace nodelay
