// SPDX-License-Identifier: MIT
#include <cpp11.hpp>

#include "bind_conditions.h"
#include "bind_node.h"
#include "bind_serialization.h"
#include "cluster/startup.h"
#include "launch/command_line.h"
#include "launch/environment.h"
#include "launch/worker_code.h"
#include "launch/worker_command.h"

using namespace cpp11::literals;

namespace nodelay {
namespace {

SEXP session_tag() {
  return Rf_install("nodelay_session");
}

void finalize_session(SEXP pointer) {
  auto* session = static_cast<std::shared_ptr<Session>*>(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
  delete session;
}

std::shared_ptr<Session> session_of(SEXP pointer) {
  auto* session = static_cast<std::shared_ptr<Session>*>(R_ExternalPtrAddr(pointer));
  if (session == nullptr || !(*session)->is_owner()) {
    throw Error(ErrorKind::stopped,
                "nodelay was loaded in another process than this one: a forked R process "
                "cannot start a cluster with it.");
  }
  return *session;
}

template <typename Value>
Value element(const cpp11::list& list, const char* name) {
  return cpp11::as_cpp<Value>(list_element(list, name));
}

// A named character vector as pairs.
std::vector<std::pair<std::string, std::string>> pairs(const cpp11::strings& values) {
  std::vector<std::pair<std::string, std::string>> result;
  if (values.size() == 0) return result;
  const cpp11::strings names(values.names());
  for (R_xlen_t i = 0; i < values.size(); ++i) {
    result.emplace_back(std::string(names[i]), std::string(values[i]));
  }
  return result;
}

NodePlan::Output output_kind(const std::string& outfile) {
  if (outfile.empty()) return NodePlan::Output::inherited;
  return outfile == "/dev/null" ? NodePlan::Output::in_memory : NodePlan::Output::file;
}

Encoding encoding_of(const cpp11::list& plan) {
  return element<bool>(plan, "useXDR") ? Encoding::xdr : Encoding::native;
}

Shell shell_named(const std::string& name) {
  if (name == "cmd") return Shell::windows;
  return name == "none" ? Shell::none : Shell::posix;
}

std::vector<Word> words(const cpp11::list& list) {
  const auto texts = element<std::vector<std::string>>(list, "program");
  const cpp11::logicals is_raw(list_element(list, "is_raw"));
  std::vector<Word> result;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    result.push_back({texts[i], is_raw[static_cast<R_xlen_t>(i)] == TRUE});
  }
  return result;
}

// The texts that stand for one worker: its command, and for another machine the command that
// brings it there and both in one.
struct CommandTexts {
  std::string worker;
  std::string remote_shell;
  std::string whole;
};

// Builds the command of one worker from a plan, see node_plan() in R/makeNodePSOCK.R.
class CommandBuilder {
 public:
  explicit CommandBuilder(const cpp11::list& plan)
      : engine_(element<std::string>(plan, "engine")),
        library_(element<std::string>(plan, "library")),
        host_(element<std::string>(plan, "host")),
        inner_(shell_named(element<std::string>(plan, "inner_shell"))),
        outer_(shell_named(element<std::string>(plan, "outer_shell"))),
        port_offset_(element<int>(plan, "port_offset")),
        set_up_patience_(element<double>(plan, "connectTimeout")) {
    meeting_.host = element<std::string>(plan, "master");
    meeting_.timeout = static_cast<int>(element<double>(plan, "timeout"));
    meeting_.uses_xdr = element<bool>(plan, "useXDR");
    outfile_ = element<std::string>(plan, "outfile");
    is_by_hand_ = element<bool>(plan, "manual");
    read_command(cpp11::list(list_element(plan, "command")));
    const SEXP remote = list_element(plan, "remote");
    if (remote != R_NilValue) read_remote(cpp11::list(remote));
    // Elsewhere nobody but the worker itself can put its output into a file.
    if (remote_ || is_by_hand_) meeting_.output_path = outfile_;
  }

  std::vector<std::string> argv(std::uint16_t port) const {
    if (!remote_) {
      if (auto argv = command_argv(command(port))) return *argv;
    }
    return {"sh", "-c", texts(port).whole};
  }

  CommandTexts texts(std::uint16_t port) const {
    CommandTexts result;
    result.worker = command_text(command(port), inner_);
    result.whole = result.worker;
    if (!remote_) return result;
    RemoteShell shell = *remote_;
    if (shell.tunnel) shell.tunnel->remote_port = far_port(port);
    result.remote_shell = remote_shell_text(shell, port) + " " + shell_quoted(host_);
    result.whole = result.remote_shell + " " + quoted(result.worker, outer_);
    return result;
  }

 private:
  void read_command(const cpp11::list& list) {
    command_.program = words(list);
    command_.is_rscript = element<bool>(list, "is_rscript");
    if (list_element(list, "default_packages") != R_NilValue) {
      command_.default_packages = element<std::string>(list, "default_packages");
    }
    command_.arguments_before = element<std::vector<std::string>>(list, "before");
    command_.arguments_after = element<std::vector<std::string>>(list, "after");
    command_.code = element<std::vector<std::string>>(list, "code");
    command_.niceness = element<int>(list, "niceness");
    has_own_code_ = element<bool>(list, "has_own_code");
    if (list_element(list, "call") != R_NilValue) own_code_ = element<std::string>(list, "call");
    const SEXP socket_options = list_element(list, "socketOptions");
    if (engine_ != "native" && socket_options != R_NilValue) {  // before it connects
      command_.code.push_back(
          "options(socketOptions=" + r_string(cpp11::as_cpp<std::string>(socket_options)) + ")");
    }
  }

  void read_remote(const cpp11::list& list) {
    remote_.emplace();
    remote_->program = words(list);
    remote_->log_path = element<std::string>(list, "log");
    remote_->user = element<std::string>(list, "user");
    remote_->options = element<std::vector<std::string>>(list, "options");
    if (element<bool>(list, "tunnel")) {
      remote_->tunnel = RemoteShell::Tunnel{0, element<std::string>(list, "tunnel_end")};
    }
  }

  // Where the worker connects to: through a tunnel each has a port of its own at the far end.
  std::uint16_t far_port(std::uint16_t port) const {
    const int far = port + port_offset_;
    if (far > 65535) {
      throw Error(ErrorKind::argument, "The far end of a worker's tunnel would be port " +
                                           std::to_string(far) + ": use a lower 'port'.");
    }
    return static_cast<std::uint16_t>(far);
  }

  WorkerCommand command(std::uint16_t port) const {
    WorkerCommand result = command_;
    Meeting meeting = meeting_;
    meeting.port = far_port(port);
    if (!own_code_.empty()) result.code.push_back(own_code_);
    if (!has_own_code_) result.code.push_back(last_code(meeting));
    if (engine_ != "native") result.settings = settings(meeting);
    return result;
  }

  std::string last_code(const Meeting& meeting) const {
    if (engine_ == "native") return native_worker_code(library_);
    if (engine_ == "base") return base_worker_code(meeting);
    return undecided_worker_code(library_, meeting);
  }

  // What parallel's own worker loop reads, for commands of the user's own that run it.
  std::vector<std::string> settings(const Meeting& meeting) const {
    return {"MASTER=" + meeting.host,
            "PORT=" + std::to_string(meeting.port),
            "OUT=" + outfile_,
            "TIMEOUT=" + std::to_string(meeting.timeout),
            std::string("XDR=") + (meeting.uses_xdr ? "TRUE" : "FALSE"),
            "SETUPTIMEOUT=" + std::to_string(static_cast<long>(set_up_patience_)),
            "SETUPSTRATEGY=sequential"};
  }

  std::string engine_;
  std::string library_;
  std::string host_;
  Shell inner_;
  Shell outer_;
  int port_offset_;
  double set_up_patience_;
  Meeting meeting_;
  std::string outfile_;
  bool is_by_hand_ = false;
  bool has_own_code_ = false;  // of the user, in place of our last expression
  std::string own_code_;       // that code, where it is not among the user's arguments
  WorkerCommand command_;
  std::optional<RemoteShell> remote_;
};

// Tells the user what to run by hand, with the token that the worker needs.
void announce(const cpp11::list& plan, const CommandTexts& texts, const std::string& token) {
  cpp11::package("nodelay")["announce_command"](plan, texts.worker, texts.remote_shell, texts.whole,
                                                token);
}

NodePlan::Command command_of(const cpp11::list& plan) {
  const CommandBuilder builder(plan);
  const bool is_by_hand = element<bool>(plan, "manual");
  return [builder, is_by_hand, plan](std::uint16_t port, const Token& token) {
    if (!is_by_hand) return builder.argv(port);
    announce(plan, builder.texts(port), token.text());
    return std::vector<std::string>();
  };
}

NodePlan::Greeting greeting_of(const cpp11::list& plan) {
  const auto greeting = element<std::string>(plan, "greeting");
  if (greeting == "none") return NodePlan::Greeting::none;
  if (greeting == "input") return NodePlan::Greeting::input;
  return greeting == "unknown" ? NodePlan::Greeting::unknown : NodePlan::Greeting::environment;
}

std::vector<std::string> environment_of(const cpp11::list& plan) {
  auto unset = element<std::vector<std::string>>(plan, "unset");
  // Set by R's front end for this very process; another R would warn about it.
  unset.push_back("R_HOME");
  auto environment = changed_environment(pairs(cpp11::strings(list_element(plan, "set"))), unset);
  environment.push_back("NODELAY_TIMEOUT=" + std::to_string(element<double>(plan, "timeout")));
  return environment;
}

NodePlan make_plan(const cpp11::list& plan) {
  NodePlan result;
  result.rank = element<int>(plan, "rank");
  result.host = element<std::string>(plan, "host");
  result.is_remote = list_element(plan, "remote") != R_NilValue;
  result.notices_end = element<std::string>(plan, "engine") == "native";
  result.greeting = greeting_of(plan);
  result.has_no_delay = element<bool>(plan, "no_delay");
  result.environment = environment_of(plan);
  result.output_path = result.is_remote ? "/dev/null" : element<std::string>(plan, "outfile");
  result.output = output_kind(result.output_path);
  result.command = command_of(plan);
  result.tries = element<int>(plan, "tries");
  result.delay = element<double>(plan, "delay");
  result.set_up_call = serialize(list_element(plan, "set_up"), encoding_of(plan));
  return result;
}

std::string start_failed_text(const Startup& startup, std::size_t num_workers) {
  const Node& node = startup.failed_node();
  const Loss& loss = *node.loss();
  const NodeIdentity& identity = node.identity();
  std::string text = "Worker " + std::to_string(identity.rank);
  if (num_workers > 1) text += " of " + std::to_string(num_workers);
  if (identity.is_remote || node.pid() == 0) {
    text += " on " + identity.host;
  } else {
    text += " (pid " + std::to_string(node.pid()) + " on " + identity.host + ")";
  }
  text += " could not be started: ";
  text += (identity.is_remote ? "the command that starts it " : "it ") + loss.reason;
  text += startup.is_too_late() ? " (argument 'connectTimeout')." : " before it was ready.";
  if (startup.num_tries() > 1) {
    text += " It was started " + std::to_string(startup.num_tries()) + " times.";
  }
  if (!identity.command.empty()) text += "\nCommand: " + identity.command;
  if (!loss.last_lines.empty()) text += "\nThe last lines it wrote:\n" + loss.last_lines;
  return text;
}

// Returns when all workers are ready; otherwise raises what happened, with none left.
std::unique_ptr<Startup> start(const std::shared_ptr<Session>& session, std::vector<NodePlan> plans,
                               const Startup::Terms& terms) {
  const std::size_t num_workers = plans.size();
  std::unique_ptr<Startup> startup;
  try {
    startup = std::make_unique<Startup>(session, std::move(plans), terms);
    for (;;) {
      switch (startup->turn(Clock::now() + kSlice)) {
        case Startup::Progress::ready:
          return startup;
        case Startup::Progress::failed:
          raise(ErrorKind::start_failed, start_failed_text(*startup, num_workers),
                loss_fields(startup->failed_node()));
        case Startup::Progress::going:
          cpp11::check_user_interrupt();
      }
    }
  } catch (...) {
    startup.reset();  // closes the streams to the other workers
    session->finish_departures();
    throw;
  }
}

}  // namespace
}  // namespace nodelay

using namespace nodelay;

// How many more workers this process has room for.
[[cpp11::register]] double worker_room() {
  return entry([] { return static_cast<double>(num_startable_workers()); });
}

// What all clusters of this R session share.
[[cpp11::register]] SEXP session_new() {
  auto session = std::make_unique<std::shared_ptr<Session>>(std::make_shared<Session>());
  return cpp11::unwind_protect([&] {
    const SEXP pointer = PROTECT(R_MakeExternalPtr(nullptr, session_tag(), R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalize_session, FALSE);
    R_SetExternalPtrAddr(pointer, session.release());
    UNPROTECT(1);
    return pointer;
  });
}

// Ends all workers when R does, and waits until they are gone, but not for ever. `farewell` is
// the message that ends a base-R worker. Does nothing in a forked process.
[[cpp11::register]] void session_close(SEXP pointer, SEXP farewell) {
  entry([&] {
    constexpr std::chrono::seconds kPatience{3};  // longer than the last step of a departure
    const auto* owned = static_cast<std::shared_ptr<Session>*>(R_ExternalPtrAddr(pointer));
    if (owned == nullptr || !(*owned)->is_owner()) return;
    const std::shared_ptr<Session> session = *owned;
    for (Node* node : session->nodes()) {
      say_farewell(*node, farewell, Encoding::xdr);
      node->stop_abruptly();
    }
    session->finish_departures(Clock::now() + kPatience);
  });
}

// The texts of a worker's command, as parallelly shows them: worker, remote_shell, whole.
[[cpp11::register]] cpp11::list node_command(cpp11::list plan, int port) {
  return entry([&]() -> cpp11::list {
    const CommandTexts texts = CommandBuilder(plan).texts(static_cast<std::uint16_t>(port));
    return cpp11::writable::list({"worker"_nm = texts.worker,
                                  "remote_shell"_nm = texts.remote_shell,
                                  "whole"_nm = texts.whole});
  });
}

// Starts one worker for each plan (see node_plan() in R/makeNodePSOCK.R) and waits until all
// are ready. Returns a list of a list for each: handle, pid, engine, reply (of the set-up call),
// port.
[[cpp11::register]] cpp11::list nodes_start(SEXP session_pointer, cpp11::list plans,
                                            cpp11::integers ports, bool is_reachable,
                                            double patience) {
  return entry([&]() -> cpp11::list {
    const std::shared_ptr<Session> session = session_of(session_pointer);
    std::vector<NodePlan> node_plans;
    for (const SEXP plan : plans) node_plans.push_back(make_plan(cpp11::list(plan)));
    Startup::Terms terms;
    terms.ports.assign(ports.begin(), ports.end());
    terms.reach = is_reachable ? Reach::network : Reach::this_machine;
    terms.patience = patience;
    const auto startup = start(session, std::move(node_plans), terms);
    auto nodes = startup->take_nodes();
    cpp11::writable::list results;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const cpp11::list plan(plans[static_cast<R_xlen_t>(i)]);
      const int pid = static_cast<int>(nodes[i]->pid());
      const char* engine = nodes[i]->protocol() == Protocol::framed ? "native" : "base";
      auto handle = std::make_unique<NodeHandle>();
      handle->node = std::move(nodes[i]);
      handle->session = session;
      handle->timeout = element<double>(plan, "timeout");
      handle->encoding = encoding_of(plan);
      const cpp11::sexp pointer = make_handle(std::move(handle), plan);
      const cpp11::sexp reply = unserialize(startup->set_up_reply(i).bytes());
      results.push_back(cpp11::writable::list({"handle"_nm = pointer, "pid"_nm = pid,
                                               "engine"_nm = engine, "reply"_nm = reply,
                                               "port"_nm = static_cast<int>(startup->port())}));
    }
    return results;
  });
}
