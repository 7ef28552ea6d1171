// SPDX-License-Identifier: MIT
#include "r/main/start.h"

#include "launch/environment.h"
#include "launch/output_log.h"
#include "launch/worker_variables.h"
#include "r/base/conditions.h"
#include "r/base/lists.h"
#include "r/main/command_plan.h"
#include "r/main/loss.h"
#include "r/main/node_handle.h"
#include "r/values/payloads.h"

using namespace cpp11::literals;

namespace nodelay {
namespace {

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
  environment.push_back(std::string(kTimeoutVariable) + "=" +
                        std::to_string(element<double>(plan, "timeout")));
  return environment;
}

NodePlan make_plan(const cpp11::list& plan) {
  NodePlan result;
  result.rank = element<int>(plan, "rank");
  result.host = element<std::string>(plan, "host");
  const SEXP remote = list_element(plan, "remote");
  result.is_remote = remote != R_NilValue;
  if (result.is_remote) result.remote_log_path = element<std::string>(cpp11::list(remote), "log");
  result.notices_end = element<std::string>(plan, "engine") == "native";
  result.greeting = greeting_of(plan);
  result.has_no_delay = element<bool>(plan, "no_delay");
  result.environment = environment_of(plan);
  result.output_path = result.is_remote ? "/dev/null" : element<std::string>(plan, "outfile");
  result.output = output_kind(result.output_path);
  result.command = command_of(plan);
  result.may_be_forked = element<bool>(plan, "may_be_forked");
  result.tries = element<int>(plan, "tries");
  result.delay = element<double>(plan, "delay");
  result.set_up_call = serialize(list_element(plan, "set_up"), encoding_of(plan));
  return result;
}

std::string start_failed_text(const Startup& startup, std::size_t num_workers) {
  const Node& node = startup.failed_node();
  const Loss& loss = *node.loss();
  const NodeIdentity& identity = node.identity();
  std::string text = "Cluster setup failed. Worker " + std::to_string(identity.rank);
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
  const std::string& log = startup.failed_plan().remote_log_path;
  const std::string logged = last_lines_of_file(log);
  if (!logged.empty()) text += "\nThe last lines of '" + log + "':\n" + logged;
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

cpp11::list start_nodes(const std::shared_ptr<Session>& session, const cpp11::list& plans,
                        const Startup::Terms& terms) {
  std::vector<NodePlan> node_plans;
  for (const SEXP plan : plans) node_plans.push_back(make_plan(cpp11::list(plan)));
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
    results.push_back(
        cpp11::writable::list({"handle"_nm = pointer, "pid"_nm = pid, "engine"_nm = engine,
                               "reply"_nm = reply, "port"_nm = static_cast<int>(startup->port())}));
  }
  return results;
}

}  // namespace nodelay
