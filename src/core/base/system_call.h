// SPDX-License-Identifier: MIT
#pragma once

#include <nodelay/error.h>

#include <cerrno>
#include <type_traits>

namespace nodelay {

/// Runs a system call again for as long as a signal interrupts it, and returns
/// its result with errno as the call left it.
template <typename Call>
auto retry_interrupted(Call call) -> std::invoke_result_t<Call> {
  for (;;) {
    auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// Runs a system call as retry_interrupted() does and returns its result;
/// throws Error(system), with `doing` as its context, where that is -1.
template <typename Call>
auto system_call(const char* doing, Call call) -> std::invoke_result_t<Call> {
  auto result = retry_interrupted(call);
  if (result == -1) throw Error(errno, doing);
  return result;
}

}  // namespace nodelay
