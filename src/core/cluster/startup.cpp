// SPDX-License-Identifier: MIT
#include "cluster/startup.h"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>

#include "base/open_files.h"
#include "base/system_call.h"
#include "launch/command_line.h"
#include "launch/worker_variables.h"
#include "net/poll.h"

namespace nodelay {
namespace {

constexpr int kStreamInChild = 3;  // named by kStreamVariable in the worker's environment
constexpr double kTemplatePatience =
    30;  // seconds until one is up, on a machine that is overloaded
constexpr std::size_t kDescriptorsPerWorker = 3;  // stream, process, log
constexpr std::size_t kSparedDescriptors = 32;    // for what R itself opens meanwhile

Descriptor open_null_input() {
  return Descriptor(
      system_call("opening /dev/null", [] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }));
}

// A pipe that holds `text`, which fits its buffer, and then ends.
Descriptor input_of(const std::string& text) {
  int ends[2] = {-1, -1};
  system_call("making a pipe", [&] { return ::pipe2(ends, O_CLOEXEC); });
  Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  system_call("writing to a pipe", [&] { return ::write(writer.get(), text.data(), text.size()); });
  return reader;
}

OutputLog open_log(const NodePlan& plan) {
  switch (plan.output) {
    case NodePlan::Output::in_memory:
      return OutputLog::kept_in_memory();
    case NodePlan::Output::file:
      return OutputLog::file(plan.output_path, false);
    case NodePlan::Output::inherited:
      return OutputLog::inherited();
  }
  return {};
}

std::string seconds_text(double seconds) {
  std::ostringstream text;
  text << seconds << (seconds == 1 ? " second" : " seconds");
  return text.str();
}

}  // namespace

std::size_t num_startable_workers(std::size_t most_open_files) {
  const std::size_t taken = num_open_descriptors() + kSparedDescriptors;
  return most_open_files <= taken ? 0 : (most_open_files - taken) / kDescriptorsPerWorker;
}

Startup::Startup(std::shared_ptr<Session> session, std::vector<NodePlan> plans, const Terms& terms)
    : session_(std::move(session)),
      plans_(std::move(plans)),
      patience_(terms.patience),
      nodes_(plans_.size()),
      attempts_(plans_.size()),
      forker_(session_, std::min(kTemplatePatience, patience_ / 2)) {
  session_->open_files().make_room_for(kDescriptorsPerWorker * plans_.size() + kSparedDescriptors);
  for (const NodePlan& plan : plans_) {
    if (plan.greeting != NodePlan::Greeting::none && !rendezvous_) {
      rendezvous_.emplace(terms.ports, terms.reach);
    }
  }
  for (std::size_t i = 0; i < plans_.size(); ++i) launch(i);
  last_progress_ = Clock::now();
}

void Startup::launch(std::size_t i) {
  const NodePlan& plan = plans_[i];
  ++attempts_[i].num_tries;
  attempts_[i].next_try_at.reset();
  const bool has_token = plan.greeting == NodePlan::Greeting::environment ||
                         plan.greeting == NodePlan::Greeting::input;
  const Token token = has_token ? Token::random() : Token{};
  if (plan.greeting != NodePlan::Greeting::none) expect(i, token);
  auto argv = plan.command(port(), token);
  const NodeIdentity identity{plan.rank, plan.host, shell_command(argv), plan.is_remote};
  nodes_[i] = std::make_unique<Node>(session_, identity);
  if (argv.empty()) return;  // by hand
  // Before any other worker writes to it.
  const bool has_file = plan.output == NodePlan::Output::file;
  if (has_file && plan.rank == 1) OutputLog::file(plan.output_path, true);
  attempts_[i].is_to_be_forked = plan.may_be_forked;
  if (plan.may_be_forked) {
    to_be_forked_.push_back(i);
  } else {
    start(i, prepare(i, std::move(argv), token));
  }
}

Startup::Launch Startup::prepare(std::size_t i, std::vector<std::string> argv,
                                 const Token& token) const {
  const NodePlan& plan = plans_[i];
  Launch launch;
  launch.input = plan.greeting == NodePlan::Greeting::input ? input_of(token.text() + "\n")
                                                            : open_null_input();
  launch.log = open_log(plan);
  SpawnPlan& spawn = launch.spawn;
  spawn.argv = std::move(argv);
  spawn.descriptors = {{launch.input.get(), STDIN_FILENO},
                       {launch.log.standard_output(), STDOUT_FILENO},
                       {launch.log.standard_error(), STDERR_FILENO}};
  spawn.environment = plan.environment;
  spawn.leaves_terminal = plan.is_remote;
  spawn.dies_with_parent = !plan.notices_end;
  spawn.open_files = session_->open_files().original();
  const auto tell = [&spawn](const char* name, const std::string& value) {
    spawn.environment.push_back(std::string(name).append("=").append(value));
  };
  if (plan.notices_end) tell(kMainVariable, std::to_string(::getpid()));
  if (plan.notices_end && launch.log.is_in_memory()) tell(kLogVariable, "memory");
  if (plan.greeting == NodePlan::Greeting::environment) {
    tell(kTokenVariable, token.text());
    tell(kPortVariable, std::to_string(port()));
    tell(kNoDelayVariable, plan.has_no_delay ? "1" : "0");
  }
  if (plan.greeting == NodePlan::Greeting::none) {
    launch.stream = make_stream_pair();
    spawn.descriptors.push_back({launch.stream.second.get(), kStreamInChild});
    tell(kStreamVariable, std::to_string(kStreamInChild));
  }
  return launch;
}

void Startup::start(std::size_t i, Launch launch) {
  try {
    Process process = Process::spawn(launch.spawn);
    take_over(i, std::move(process), std::move(launch));
  } catch (const Error& error) {
    const NodeIdentity& identity = nodes_[i]->identity();
    throw Error(ErrorKind::start_failed,
                "Cluster setup failed. Worker " + std::to_string(identity.rank) +
                    " could not be started: " + error.what() + ". Command: " + identity.command);
  }
}

void Startup::take_over(std::size_t i, Process process, Launch launch) {
  nodes_[i]->set_process(std::move(process), std::move(launch.log));
  if (launch.stream.first) connect(i, std::move(launch.stream.first), Protocol::framed);
}

void Startup::fork_workers(TimePoint slice_end) {
  while (!to_be_forked_.empty()) {
    const std::size_t i = to_be_forked_.front();
    if (!forking_) forking_ = prepare(i, plans_[i].command(port(), Token{}), Token{});
    const Forker::Progress progress = forker_.turn(forking_->spawn, slice_end);
    if (progress == Forker::Progress::going) return;
    to_be_forked_.pop_front();
    attempts_[i].is_to_be_forked = false;
    last_progress_ = Clock::now();
    Launch launch = std::move(*forking_);
    forking_.reset();
    if (progress == Forker::Progress::made) {
      take_over(i, forker_.take_process(), std::move(launch));
    } else {
      start(i, std::move(launch));
    }
  }
}

void Startup::expect(std::size_t i, const Token& token) {
  if (token.worker_half.empty()) {
    rendezvous_->expect_unknown(i, plans_[i].has_no_delay);
  } else {
    rendezvous_->expect(i, token, plans_[i].has_no_delay);
  }
}

void Startup::connect(std::size_t i, Descriptor connection, Protocol protocol) {
  nodes_[i]->set_stream(std::move(connection), protocol);
  nodes_[i]->post(plans_[i].set_up_call, true);
  nodes_[i]->send(Clock::now());
}

Startup::Progress Startup::turn(TimePoint slice_end) {
  if (rendezvous_) meet_arrivals();
  fork_workers(slice_end);
  for (std::size_t i = 0; i < nodes_.size() && !failed_; ++i) {
    if (!attempts_[i].is_ready) look_at(i);
  }
  give_up_late_ones();
  if (!failed_ && num_ready_ < nodes_.size()) poll_for_news(slice_end);
  if (failed_) return Progress::failed;
  return num_ready_ == nodes_.size() ? Progress::ready : Progress::going;
}

void Startup::meet_arrivals() {
  for (Arrival& arrival : rendezvous_->turn(Clock::now())) {
    connect(arrival.worker, std::move(arrival.connection),
            arrival.loop == Loop::native ? Protocol::framed : Protocol::bare);
    last_progress_ = Clock::now();
  }
}

void Startup::look_at(std::size_t i) {
  if (attempts_[i].next_try_at) {
    if (Clock::now() < *attempts_[i].next_try_at) return;
    launch(i);
  }
  Node& node = *nodes_[i];
  if (node.has_stream()) {
    node.send(Clock::now());
    while (!node.loss() && !attempts_[i].is_ready && node.read_available()) take_set_up_reply(i);
  }
  node.look_after();
  if (node.loss() && !attempts_[i].is_ready) try_again_or_fail(i);
}

// A node is lost before it was ready: another try, or the end.
void Startup::try_again_or_fail(std::size_t i) {
  if (attempts_[i].num_tries >= plans_[i].tries) {
    failed_ = i;
    return;
  }
  is_too_late_ = false;
  const TimePoint now = Clock::now();
  attempts_[i].next_try_at = seconds_from(now, plans_[i].delay);
  last_progress_ = *attempts_[i].next_try_at;
  if (rendezvous_) rendezvous_->forget(i);
}

void Startup::take_set_up_reply(std::size_t i) {
  while (const auto reply = nodes_[i]->take_reply()) {
    if (reply->ends_call == false) continue;  // an event of the set-up
    attempts_[i].reply.append(reply->body.data(), reply->body.size());
    if (!reply->ends_call) nodes_[i]->settle(true);
    attempts_[i].is_ready = true;
    ++num_ready_;
    last_progress_ = Clock::now();
    return;
  }
}

void Startup::poll_for_news(TimePoint slice_end) {
  std::vector<pollfd> watched;
  if (rendezvous_ && rendezvous_->num_expected() > 0) rendezvous_->add_to(watched);
  watched.push_back({forker_.descriptor(), POLLIN, 0});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (attempts_[i].is_ready || attempts_[i].next_try_at) continue;
    watched.push_back({nodes_[i]->stream_descriptor(), nodes_[i]->events(), 0});
    watched.push_back({nodes_[i]->exit_descriptor(), POLLIN, 0});
  }
  poll_until(watched, slice_end);
}

void Startup::give_up_late_ones() {
  if (failed_ || Clock::now() < seconds_from(last_progress_, patience_)) return;
  for (std::size_t i = 0; i < nodes_.size() && !failed_; ++i) {
    if (attempts_[i].is_ready || attempts_[i].next_try_at) continue;
    if (attempts_[i].is_to_be_forked) continue;  // the forker has time limits of its own
    is_too_late_ = true;
    nodes_[i]->lose("was not ready after " + seconds_text(patience_));
    try_again_or_fail(i);
  }
}

}  // namespace nodelay
