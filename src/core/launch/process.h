// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "launch/exit_status.h"

namespace nodelay {

/// What to start. Of the descriptors that are not named here only the standard ones, 0 to
/// 2, are passed on.
struct SpawnPlan {
  struct Passed {
    int ours;    ///< a descriptor of this process, borrowed for the call of spawn()
    int theirs;  ///< its number in the child
  };

  std::vector<std::string> argv;         ///< argv[0] is a path, or a name looked up on PATH
  std::vector<std::string> environment;  ///< "NAME=value"
  std::vector<Passed> descriptors;
  bool dies_with_parent = false;          ///< SIGTERM when the thread that spawned it ends
  std::optional<std::size_t> open_files;  ///< its limit of them (soft); none: this process's
  bool leaves_terminal = false;           ///< a session of its own: it cannot ask for passwords
};

/// A descriptor that becomes readable when the process ends; empty where the kernel has no
/// such thing, or the process is gone.
Descriptor open_exit_descriptor(pid_t pid);

/// Owns one child process. The child leads a process group of its own, so that
/// Ctrl-C at the terminal reaches the main process alone and a signal to the group
/// reaches the child's own children. Empty value: pid 0.
class Process {
 public:
  Process() = default;

  /// Starts the program with default signal handling. Throws Error(system) where
  /// that fails, also where the program cannot be executed.
  static Process spawn(const SpawnPlan& plan);

  /// Owns a child that a template made on behalf of this process; nothing where this process
  /// has no such child.
  static std::optional<Process> adopt(pid_t pid);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;

  /// Kills what still runs (SIGKILL to the group) and reaps it; does neither in a
  /// fork of the process that spawned it.
  ~Process();

  /// The process id; kept for messages after the end.
  pid_t pid() const { return pid_; }

  /// Readable once the process has ended; -1 where the kernel has no such thing.
  int exit_descriptor() const { return exit_descriptor_.get(); }

  /// Reaps without waiting. Returns how the process ended; nothing while it runs.
  const std::optional<ExitStatus>& poll_exit();

  /// Sends a signal to the child's group; does nothing once it has been reaped.
  void signal(int number);

  /// The same to the child itself and to none of its own children.
  void signal_alone(int number);

 private:
  explicit Process(pid_t pid);
  void end();

  pid_t pid_ = 0;
  pid_t parent_ = 0;  // who spawned it
  Descriptor exit_descriptor_;
  std::optional<ExitStatus> exit_status_;
};

}  // namespace nodelay
