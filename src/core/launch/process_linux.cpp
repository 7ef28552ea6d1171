// SPDX-License-Identifier: MIT
#include "launch/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/open_files.h"
#include "base/system_call.h"

namespace nodelay {
namespace {

constexpr int kFirstSparedDescriptor = 64;  // above every number that a child is given

std::vector<char*> null_terminated(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Everything that the child needs, ready before vfork(): between that and exec
// the child runs in this process's memory and may only make system calls.
struct PreparedChild {
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::vector<Descriptor> spared;  // copies out of the way of the numbers to be set
  std::vector<SpawnPlan::Passed> descriptors;
  bool dies_with_parent = false;
  bool leaves_terminal = false;
  rlimit open_files{};
  pid_t parent = 0;
};

PreparedChild prepare(const SpawnPlan& plan) {
  PreparedChild child;
  child.argv = null_terminated(plan.argv);
  child.environment = null_terminated(plan.environment);
  for (const SpawnPlan::Passed& passed : plan.descriptors) {
    child.spared.emplace_back(system_call("copying a descriptor for a worker", [&] {
      return ::fcntl(passed.ours, F_DUPFD_CLOEXEC, kFirstSparedDescriptor);
    }));
    child.descriptors.push_back({child.spared.back().get(), passed.theirs});
  }
  child.dies_with_parent = plan.dies_with_parent;
  child.leaves_terminal = plan.leaves_terminal;
  system_call("asking for the limit of open files",
              [&] { return ::getrlimit(RLIMIT_NOFILE, &child.open_files); });
  if (plan.open_files) child.open_files.rlim_cur = *plan.open_files;
  child.parent = ::getpid();
  return child;
}

// What _exit(2) does. R's own checks of packages take that name for an end of R itself.
[[noreturn]] void end_child(int status) {
  for (;;) ::syscall(SYS_exit_group, status);
}

// Runs in the child after vfork(). Returns errno where exec failed.
int become(const PreparedChild& child) {
  if (child.leaves_terminal) {
    ::setsid();  // which makes it the leader of a process group, too
  } else {
    ::setpgid(0, 0);
  }
  if (child.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != child.parent) end_child(1);  // it ended before it could be asked
  }
  // What other code opened without close-on-exec stays here, where the kernel can do that.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const SpawnPlan::Passed& passed : child.descriptors) {
    if (::dup2(passed.ours, passed.theirs) < 0) return errno;
  }
  ::setrlimit(RLIMIT_NOFILE, &child.open_files);  // behind dup2(), whose numbers may be beyond it
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(child.argv[0], child.argv.data(), child.environment.data());
  return errno;
}

}  // namespace

Descriptor open_exit_descriptor(pid_t pid) {
  // Through syscall(): glibc 2.36's <sys/pidfd.h> lacks extern "C".
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

Process Process::spawn(const SpawnPlan& plan) {
  const PreparedChild child = prepare(plan);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler may run in the shared memory
  volatile int exec_errno = 0;
  // posix_spawn() cannot ask for a signal at the parent's end, and fork() copies the page
  // tables of all that R holds. What vfork() forbids works on Linux (vfork(2)).
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  const pid_t pid = ::vfork();
  if (pid == 0) {
    exec_errno = become(child);
    end_child(127);
  }
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  const int fork_errno = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) throw Error(fork_errno, "starting a process");
  if (exec_errno != 0) {
    retry_interrupted([&] { return ::waitpid(pid, nullptr, 0); });
    throw Error(exec_errno, "executing '" + plan.argv[0] + "'");
  }
  return Process(pid);
}

std::optional<Process> Process::adopt(pid_t pid) {
  siginfo_t ignored{};
  const int is_child = retry_interrupted([&] {
    return ::waitid(P_PID, static_cast<id_t>(pid), &ignored, WEXITED | WNOHANG | WNOWAIT);
  });
  if (is_child != 0) return std::nullopt;
  ::setpgid(pid, pid);  // it does so itself, but perhaps not yet
  return Process(pid);
}

Process::Process(pid_t pid)
    : pid_(pid),
      parent_(::getpid()),
      exit_descriptor_(moved_out_of_the_way(open_exit_descriptor(pid))) {}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      parent_(other.parent_),
      exit_descriptor_(std::move(other.exit_descriptor_)),
      exit_status_(other.exit_status_) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, 0);
    parent_ = other.parent_;
    exit_descriptor_ = std::move(other.exit_descriptor_);
    exit_status_ = other.exit_status_;
  }
  return *this;
}

Process::~Process() {
  end();
}

void Process::end() {
  if (pid_ == 0 || exit_status_ || parent_ != ::getpid()) return;
  signal(SIGKILL);
  retry_interrupted([&] { return ::waitpid(pid_, nullptr, 0); });
  exit_status_ = ExitStatus{};
}

const std::optional<ExitStatus>& Process::poll_exit() {
  if (pid_ == 0 || exit_status_) return exit_status_;
  int status = 0;
  const pid_t reaped = retry_interrupted([&] { return ::waitpid(pid_, &status, WNOHANG); });
  if (reaped == 0) return exit_status_;
  exit_status_.emplace();
  if (reaped == pid_ && WIFEXITED(status)) exit_status_->code = WEXITSTATUS(status);
  if (reaped == pid_ && WIFSIGNALED(status)) exit_status_->signal = WTERMSIG(status);
  return exit_status_;
}

void Process::signal(int number) {
  if (pid_ == 0 || exit_status_) return;
  if (::kill(-pid_, number) != 0) signal_alone(number);
}

void Process::signal_alone(int number) {
  if (pid_ != 0 && !exit_status_) ::kill(pid_, number);
}

}  // namespace nodelay
