// SPDX-License-Identifier: MIT
#include "r/worker/worker.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>

#include <nodelay/error.h>

#include <R_ext/Utils.h>
#include <cpp11.hpp>

#include "launch/output_log.h"
#include "launch/process.h"
#include "launch/temporary_folder.h"
#include "launch/worker_variables.h"
#include "net/rendezvous.h"
#include "r/base/lists.h"
#include "r/values/payloads.h"
#include "r/worker/evaluation.h"
#include "worker/fork_service.h"
#include "worker/link.h"
#include "worker/watch.h"

// Declared here, since no header of R's documented interface does. A forked worker's proc.time()
// counts from its own start, as that of any process does, and nothing documented sets R's clock.
extern "C" void R_setStartTime(void);

namespace nodelay {
namespace {

// What proc.time() measures: user, system, elapsed, and user and system of children; seconds.
using Times = std::array<double, 5>;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Times times_now() {
  rusage own{};
  rusage children{};
  timeval now{};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &children);
  ::gettimeofday(&now, nullptr);
  return {seconds(own.ru_utime), seconds(own.ru_stime), seconds(now), seconds(children.ru_utime),
          seconds(children.ru_stime)};
}

// The worker's side of one cluster. A worker has exactly one, for the life of its process.
struct Worker {
  Worker(Descriptor connection, Descriptor main_process, double timeout_seconds,
         Watch::Actions actions)
      : link(std::move(connection), std::move(main_process)),
        timeout(timeout_seconds),
        watch(link, std::move(actions)) {}

  Link link;
  double timeout;                     // seconds of silence after which it ends
  std::uint64_t request = 0;          // being worked on; 0: none
  std::uint8_t flags = 0;             // of its frame
  KeptValue kept;                     // the function of plain calls, as it came
  bool is_one_for_all = false;        // one copy of it serves all calls
  cpp11::sexp function = R_NilValue;  // that copy; NULL: none yet
  bool is_evaluating = false;         // the watch has the link
  cpp11::sexp tag = R_NilValue;       // of the call being worked on
  cpp11::sexp quote = quoting_function();
  Times begun_at{};
  pid_t pid = ::getpid();  // of the worker itself, not of a fork
  Watch watch;             // last: it uses the link
};

// Reads and removes a variable that the main process left for this worker.
std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  const std::string text = value ? value : "";
  ::unsetenv(name);
  return text;
}

Descriptor connect_to_main() {
  const std::string inherited = take_variable(kStreamVariable);
  const std::string port = take_variable(kPortVariable);
  const std::string token_text = take_variable(kTokenVariable);
  const bool has_no_delay = take_variable(kNoDelayVariable) == "1";
  if (!inherited.empty()) {
    Descriptor connection(std::stoi(inherited));
    set_close_on_exec(connection.get());
    return connection;
  }
  const auto token = Token::parse(token_text);
  if (port.empty() || !token) {
    throw Error(ErrorKind::argument,
                "This function is for workers that nodelay starts; it has no main process here.");
  }
  constexpr double kPatience = 60;  // seconds; the main process is listening already
  return meet_main(static_cast<std::uint16_t>(std::stoi(port)), *token, has_no_delay,
                   seconds_from(Clock::now(), kPatience));
}

// Readable once the main process has ended, where that started this worker itself; empty
// otherwise. The stream alone does not tell while a fork of the main process holds it.
Descriptor open_main_process() {
  const std::string pid = take_variable(kMainVariable);
  if (pid != std::to_string(::getppid())) return {};
  return open_exit_descriptor(::getppid());
}

// Ends a process whose main process is gone, wherever its R thread may be: with its own
// children, and without leaving its temporary folder behind.
[[noreturn]] void vanish(const std::filesystem::path& temporary_folder) {
  if (::getpgrp() == ::getpid()) {
    ::signal(SIGTERM, SIG_IGN);
    ::kill(0, SIGTERM);
  }
  std::error_code ignored;
  std::filesystem::remove_all(temporary_folder, ignored);
  for (;;) ::kill(::getpid(), SIGKILL);
}

Watch::Actions watch_actions(const std::string& temporary_folder) {
  const bool has_log_in_memory = take_variable(kLogVariable) == "memory";
  Watch::Actions actions;
  actions.interrupt = [thread = ::pthread_self()] {
    if (::getpgrp() == ::getpid()) ::kill(0, SIGINT);  // as Ctrl-C does, its own children too
    ::pthread_kill(thread, SIGINT);
  };
  actions.vanish = [temporary_folder] { vanish(temporary_folder); };
  actions.tick = [has_log_in_memory] {
    if (has_log_in_memory) trim_log(STDERR_FILENO);
  };
  return actions;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

// tempdir(check = TRUE) makes one where the folder that R had, which was the template's, is gone.
void make_temporary_folder(const std::string& of_template) {
  const std::string own = cpp11::as_cpp<std::string>(cpp11::package("base")["tempdir"](true));
  if (own != of_template) return;
  throw Error(ErrorKind::system, "Somebody else has just made a folder of this name: " + own);
}

Worker& worker_of(SEXP pointer) {
  return *static_cast<Worker*>(R_ExternalPtrAddr(pointer));
}

// As package parallel's workers do; by R code it would take half a millisecond.
void announce() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm local{};
  ::localtime_r(&now.tv_sec, &local);
  Rprintf("starting worker pid=%d at %02d:%02d:%02d.%03ld\n", static_cast<int>(::getpid()),
          local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1'000'000);
}

SEXP time_since(const Times& begun_at) {
  const Times now = times_now();
  cpp11::writable::doubles time(static_cast<R_xlen_t>(now.size()));
  for (std::size_t i = 0; i < now.size(); ++i) {
    time[static_cast<R_xlen_t>(i)] = std::round((now[i] - begun_at[i]) * 1e3) / 1e3;
  }
  time.names() = {"user.self", "sys.self", "elapsed", "user.child", "sys.child"};
  time.attr("class") = "proc_time";
  return time;
}

// The list that parallel's own workers send back.
SEXP outcome(const Worker& worker, SEXP value, bool is_success) {
  using namespace cpp11::literals;
  return cpp11::writable::list({"type"_nm = "VALUE", "value"_nm = value, "success"_nm = is_success,
                                "time"_nm = time_since(worker.begun_at), "tag"_nm = worker.tag});
}

Reader reader_at_main(const Worker& worker) {
  return worker.link.can_share_memory() ? Reader::nodelay_beside : Reader::nodelay;
}

bool send_outcome(Worker& worker, SEXP value, bool is_success) {
  const cpp11::sexp result = (worker.flags & kPlain) ? value : outcome(worker, value, is_success);
  Payload payload = make_payload(result, Encoding::native, reader_at_main(worker));
  worker.tag = R_NilValue;
  return worker.link.send(FrameKind::result, std::exchange(worker.request, 0), std::move(payload));
}

// An interrupt that was sent to a call just before that ended is taken here, and not by the
// next call.
void take_pending_interrupt() {
  ::usleep(0);  // signals are delivered on the way back from a system call
  cpp11::check_user_interrupt();
}

// Hands the link to the watch for as long as R code runs.
SEXP evaluate_watched(Worker& worker, SEXP function, SEXP arguments, SEXP enclosure) {
  worker.is_evaluating = true;
  worker.watch.begin_call(worker.request);
  // A lambda of its own type: cpp11 does not protect one that runs inside itself.
  const cpp11::sexp value =
      cpp11::unwind_protect([&] { return evaluate(function, arguments, enclosure, worker.quote); });
  worker.is_evaluating = false;
  if (worker.watch.end_call()) take_pending_interrupt();
  return value;
}

// What a call asks for.
struct Task {
  SEXP function;
  SEXP arguments;
  SEXP tag;
};

// The function that the plain calls behind it call. It is read with the first of them, which then
// fails where that cannot be done.
void keep_function(Worker& worker, Link::Call& call) {
  worker.function = R_NilValue;
  worker.is_one_for_all = (call.flags & kOneForAll) != 0;
  worker.kept = KeptValue(call.body, std::move(call.memory));
  worker.link.release_body();
}

// Of a plain call, see docs/protocol.md. `values` keeps what it consists of.
Task plain_task(Worker& worker, Link::Call& call, cpp11::sexp& values) {
  if (!worker.is_one_for_all) {
    values = unserialize_with(worker.kept, call.body, std::move(call.memory));
    return {VECTOR_ELT(values, 0), VECTOR_ELT(values, 1), R_NilValue};
  }
  if (worker.function == R_NilValue) {
    worker.function = read_kept(worker.kept);
  }
  values = unserialize(call.body, std::move(call.memory));
  return {worker.function, values, R_NilValue};
}

// Of a message of package parallel's; nothing where that ends the conversation.
std::optional<Task> parallel_task(SEXP message) {
  const SEXP type = list_element(message, "type");
  if (is_string(type, "DONE")) return std::nullopt;
  if (!is_string(type, "EXEC")) throw Error(ErrorKind::protocol, "not a call of package parallel");
  const SEXP data = list_element(message, "data");
  return Task{list_element(data, "fun"), list_element(data, "args"), list_element(data, "tag")};
}

// False where the conversation is over.
bool work_on(Worker& worker, Link::Call& call, SEXP enclosure) {
  worker.request = call.request;
  worker.flags = call.flags;
  if (call.kind == FrameKind::function) {
    keep_function(worker, call);
    return true;
  }
  if (call.is_cancelled) {
    return worker.link.send(FrameKind::result, std::exchange(worker.request, 0), {});
  }
  const bool is_plain = (call.flags & kPlain) != 0;
  if (!is_plain) worker.begun_at = times_now();
  cpp11::sexp values = R_NilValue;
  std::optional<Task> task;
  if (is_plain) {
    task = plain_task(worker, call, values);
  } else {
    values = unserialize(call.body, std::move(call.memory));
    task = parallel_task(values);
  }
  worker.link.release_body();
  if (!task) return false;
  worker.tag = task->tag;
  const cpp11::sexp value = evaluate_watched(worker, task->function, task->arguments, enclosure);
  return send_outcome(worker, value, true);
}

bool is_over(const Worker& worker, TimePoint silent_since) {
  return worker.link.is_closed() || Clock::now() >= seconds_from(silent_since, worker.timeout);
}

void end_evaluation(Worker& worker) {
  if (!std::exchange(worker.is_evaluating, false)) return;
  worker.watch.end_call();
}

}  // namespace

void live_as_template(const std::string& temporary_folder, bool can_fork) {
  Descriptor control(std::stoi(take_variable(kTemplateVariable)));
  if (!take_variable(kOwnHeapGrowthVariable).empty()) ::unsetenv(kHeapGrowthVariable);
  Descriptor main_process = open_main_process();
  if (!main_process) can_fork = false;  // the workers would be children of somebody else
  // Workers do not need it, and so nothing is left behind however this process ends.
  if (can_fork) TemporaryFolder{temporary_folder};
  serve_forks(std::move(control), std::move(main_process), [&] {
    if (!can_fork) return ENOTSUP;
    return is_there(temporary_folder) ? EEXIST : 0;  // R would take it for the worker's
  });
  cpp11::unwind_protect([] { R_setStartTime(); });
  make_temporary_folder(temporary_folder);
}

SEXP connect_worker(const std::string& temporary_folder) {
  const std::string timeout = take_variable(kTimeoutVariable);
  auto worker = std::make_unique<Worker>(connect_to_main(), open_main_process(),
                                         timeout.empty() ? 2592000.0 : std::stod(timeout),
                                         watch_actions(temporary_folder));
  cpp11::unwind_protect([] { announce(); });
  // Never freed: it is in use until the process ends.
  return cpp11::unwind_protect(
      [&] { return R_MakeExternalPtr(worker.release(), R_NilValue, R_NilValue); });
}

bool serve(SEXP pointer, SEXP enclosure) {
  Worker& worker = worker_of(pointer);
  take_pending_interrupt();  // it was for the call before
  TimePoint silent_since = Clock::now();
  for (;;) {
    if (auto call = worker.link.take_call()) {
      if (!work_on(worker, *call, enclosure)) return false;
      silent_since = Clock::now();
      continue;
    }
    if (is_over(worker, silent_since)) return false;
    worker.link.wait(seconds_from(silent_since, worker.timeout));
    cpp11::check_user_interrupt();
  }
}

bool answer_error(SEXP pointer, SEXP error) {
  Worker& worker = worker_of(pointer);
  end_evaluation(worker);
  if (worker.request == 0) return true;
  return send_outcome(worker, error, false);
}

bool answer_interrupt(SEXP pointer) {
  Worker& worker = worker_of(pointer);
  end_evaluation(worker);
  worker.tag = R_NilValue;
  if (worker.request == 0) return true;
  return worker.link.send(FrameKind::result, std::exchange(worker.request, 0), {});
}

void send_event(SEXP pointer, SEXP value) {
  Worker& worker = worker_of(pointer);
  if (worker.pid != ::getpid() || !worker.is_evaluating) {
    throw Error(ErrorKind::argument,
                "Only a worker itself can send values, and only while it works on a call.");
  }
  Payload payload = make_payload(value, Encoding::native, reader_at_main(worker));
  if (worker.watch.end_call()) take_pending_interrupt();
  worker.link.send(FrameKind::event, worker.request, std::move(payload));
  worker.watch.begin_call(worker.request);
}

}  // namespace nodelay
