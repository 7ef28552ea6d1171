// SPDX-License-Identifier: MIT
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "hosts/affinity.h"

namespace nodelay {
namespace {

using Mask = std::vector<cpu_set_t>;

std::size_t num_bytes(const Mask& mask) {
  return mask.size() * sizeof(cpu_set_t);
}

// Empty where the kernel does not tell.
Mask affinity_mask() {
  // The kernel refuses a mask that is smaller than its own, which it may be built with.
  constexpr std::size_t kMostSets = 64;  // 65,536 CPUs
  for (std::size_t num_sets = 1; num_sets <= kMostSets; num_sets *= 2) {
    Mask mask(num_sets);
    if (::sched_getaffinity(0, num_bytes(mask), mask.data()) == 0) return mask;
  }
  return {};
}

}  // namespace

int affinity_cpus() {
  const Mask mask = affinity_mask();
  return std::max(1, CPU_COUNT_S(num_bytes(mask), mask.data()));
}

int current_cpu() {
  return ::sched_getcpu();
}

bool leave_cpu(int cpu) {
  const Mask all = affinity_mask();
  Mask others = all;
  CPU_CLR_S(static_cast<std::size_t>(cpu), num_bytes(others), others.data());
  if (::sched_setaffinity(0, num_bytes(others), others.data()) != 0) return false;
  return ::sched_setaffinity(0, num_bytes(all), all.data()) == 0;
}

}  // namespace nodelay
