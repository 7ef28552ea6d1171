// SPDX-License-Identifier: MIT
#include "r/main/command_plan.h"

#include <nodelay/error.h>

#include "launch/command_line.h"
#include "launch/worker_code.h"
#include "launch/worker_command.h"
#include "r/base/lists.h"

using namespace cpp11::literals;

namespace nodelay {
namespace {

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

// Builds the command of one worker from a plan, see node_plan() in R/makeNodePSOCK.R.
class CommandBuilder {
 public:
  explicit CommandBuilder(const cpp11::list& plan)
      : engine_(element<std::string>(plan, "engine")),
        library_(element<std::string>(plan, "library")),
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
    const WorkerCommand worker = command(port);
    result.worker = command_text(worker, inner_);
    result.whole = result.worker;
    if (!remote_) return result;
    // What runs the words itself knows no assignments.
    if (outer_ == Shell::none && begins_with_assignment(worker)) result.whole.insert(0, "env ");
    result.remote_shell = remote_shell(port);
    result.whole = result.remote_shell + " " + quoted(result.whole, outer_);
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
    remote_->log_option = element<std::string>(list, "log_option");
    remote_host_ = element<std::string>(list, "host");
    remote_call_ = list_element(list, "call");
    remote_->user = element<std::string>(list, "user");
    remote_->options = element<std::vector<std::string>>(list, "options");
    if (element<bool>(list, "tunnel")) {
      remote_->tunnel = RemoteShell::Tunnel{0, element<std::string>(list, "tunnel_end")};
    }
  }

  // The text in front of the command for another machine, with that machine's name.
  std::string remote_shell(std::uint16_t port) const {
    RemoteShell shell = *remote_;
    if (shell.tunnel) shell.tunnel->remote_port = far_port(port);
    if (remote_call_ == R_NilValue) {
      return remote_shell_text(shell, port) + " " + shell_quoted(remote_host_);
    }
    const cpp11::function user_function(remote_call_);
    return cpp11::as_cpp<std::string>(user_function(remote_options_text(shell, port)));
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
  std::string remote_host_;
  cpp11::sexp remote_call_ = R_NilValue;  // the user's function in place of a program
};

// Tells the user what to run by hand, with the token that the worker needs.
void announce(const cpp11::list& plan, const CommandTexts& texts, const std::string& token) {
  cpp11::package("nodelay")["announce_command"](plan, texts.worker, texts.remote_shell, texts.whole,
                                                token);
}

}  // namespace

CommandTexts command_texts(const cpp11::list& plan, std::uint16_t port) {
  return CommandBuilder(plan).texts(port);
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

}  // namespace nodelay
