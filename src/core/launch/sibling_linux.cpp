// SPDX-License-Identifier: MIT
#include "launch/sibling.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/clock.h"
#include "base/system_call.h"

namespace nodelay {
namespace {

// Where the C library keeps the thread's id, which its own fork() would update; null where the
// kernel does not say. Threads are signalled and scheduled by it.
pid_t* kept_thread_id() {
  pid_t* kept = nullptr;
  if (::prctl(PR_GET_TID_ADDRESS, &kept, 0, 0, 0) != 0 || kept == nullptr) return nullptr;
  return *kept == static_cast<pid_t>(::syscall(SYS_gettid)) ? kept : nullptr;
}

bool is_single_threaded() {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto num_threads =
      std::distance(fs::directory_iterator("/proc/self/task", error), fs::directory_iterator());
  return !error && num_threads == 1;
}

// Runs the handlers that libraries have for a fork: OpenBLAS, for one, ends its threads in
// them and starts new ones when it needs them.
void run_fork_handlers() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::syscall(SYS_exit_group, 0);
  }
  if (child > 0) retry_interrupted([&] { return ::waitpid(child, nullptr, 0); });
}

pid_t clone_for_parent() {
  const unsigned long flags = CLONE_PARENT | SIGCHLD;
#if defined(__s390__)
  return static_cast<pid_t>(::syscall(SYS_clone, 0, flags, nullptr, nullptr, 0));
#else
  return static_cast<pid_t>(::syscall(SYS_clone, flags, 0, nullptr, nullptr, 0));
#endif
}

}  // namespace

int prepare_to_fork_siblings() {
  if (kept_thread_id() == nullptr) return ENOSYS;
  if (is_single_threaded()) return 0;
  run_fork_handlers();
  // A thread that has been joined may still be listed for a moment.
  constexpr std::chrono::milliseconds kPatience{100};
  for (const TimePoint end = Clock::now() + kPatience; Clock::now() < end; ::sched_yield()) {
    if (is_single_threaded()) return 0;
  }
  return EBUSY;
}

pid_t fork_sibling() {
  pid_t* const thread_id = kept_thread_id();
  void* robust_list = nullptr;  // of mutexes: also what the C library's fork() carries over
  std::size_t robust_list_bytes = 0;
  ::syscall(SYS_get_robust_list, 0, &robust_list, &robust_list_bytes);
  std::fflush(nullptr);  // or parent and child both write what is there
  const pid_t pid = clone_for_parent();
  if (pid != 0) return pid;
  *thread_id = static_cast<pid_t>(::syscall(SYS_set_tid_address, thread_id));
  if (robust_list != nullptr) ::syscall(SYS_set_robust_list, robust_list, robust_list_bytes);
  ::setpgid(0, 0);
  return 0;
}

}  // namespace nodelay
