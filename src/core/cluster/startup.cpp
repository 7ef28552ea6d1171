// SPDX-License-Identifier: MIT
#include "cluster/startup.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <filesystem>
#include <sstream>

#include "base/system_call.h"
#include "launch/command_line.h"
#include "net/poll.h"

namespace nodelay {
namespace {

constexpr int kStreamInChild = 3;  // named by NODELAY_STREAM in the worker's environment
constexpr int kNullInput = 0;
constexpr std::size_t kDescriptorsPerWorker = 4;  // stream, process, two of its log
constexpr std::size_t kSparedDescriptors = 32;    // for what R itself opens meanwhile

OutputLog open_log(const NodePlan& plan) {
  switch (plan.output) {
    case NodePlan::Output::in_memory:
      return OutputLog::kept_in_memory();
    case NodePlan::Output::file:
      return OutputLog::file(plan.output_path, plan.rank == 1);
    case NodePlan::Output::inherited:
      return OutputLog::inherited();
  }
  return {};
}

std::size_t num_open_descriptors() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd", ignored), fs::directory_iterator()));
}

std::string seconds_text(double seconds) {
  std::ostringstream text;
  text << seconds << (seconds == 1 ? " second" : " seconds");
  return text.str();
}

}  // namespace

std::size_t num_startable_workers() {
  rlimit limit{};
  system_call("asking for the limit of open files",
              [&] { return ::getrlimit(RLIMIT_NOFILE, &limit); });
  const std::size_t taken = num_open_descriptors() + kSparedDescriptors;
  return limit.rlim_cur <= taken ? 0 : (limit.rlim_cur - taken) / kDescriptorsPerWorker;
}

Startup::Startup(std::shared_ptr<Session> session, std::vector<NodePlan> plans,
                 const std::vector<std::uint16_t>& ports, double patience)
    : session_(std::move(session)),
      plans_(std::move(plans)),
      patience_(patience),
      replies_(plans_.size()),
      is_ready_(plans_.size()),
      last_progress_(Clock::now()) {
  for (const NodePlan& plan : plans_) {
    if (plan.uses_tcp && !rendezvous_) rendezvous_.emplace(ports);
  }
  for (std::size_t node = 0; node < plans_.size(); ++node) launch(node);
  last_progress_ = Clock::now();
}

void Startup::launch(std::size_t node) {
  const NodePlan& plan = plans_[node];
  OutputLog log = open_log(plan);
  const Descriptor null_input(
      system_call("opening /dev/null", [] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }));
  DescriptorPair pair;
  SpawnPlan spawn;
  spawn.argv = plan.command(port());
  spawn.environment = plan.environment;
  spawn.descriptors = {
      {null_input.get(), kNullInput}, {log.standard_output(), 1}, {log.standard_error(), 2}};
  if (log.is_in_memory()) spawn.environment.push_back("NODELAY_LOG=memory");
  if (plan.uses_tcp) {
    Token token = Token::random();
    spawn.environment.push_back("NODELAY_TOKEN=" + token.text());
    spawn.environment.push_back("NODELAY_PORT=" + std::to_string(port()));
    spawn.environment.push_back(std::string("NODELAY_NO_DELAY=") + (plan.has_no_delay ? "1" : "0"));
    rendezvous_->expect(node, std::move(token), plan.has_no_delay);
  } else {
    pair = make_stream_pair();
    spawn.descriptors.push_back({pair.second.get(), kStreamInChild});
    spawn.environment.push_back("NODELAY_STREAM=" + std::to_string(kStreamInChild));
  }
  // A worker of nodelay's own notices the end of its main process by itself.
  spawn.dies_with_parent = plan.protocol == Protocol::bare;
  NodeIdentity identity{plan.rank, plan.host, shell_command(spawn.argv)};
  nodes_.push_back(std::make_unique<Node>(session_, identity, plan.protocol));
  try {
    nodes_.back()->set_process(Process::spawn(spawn), std::move(log));
  } catch (const Error& error) {
    throw Error(ErrorKind::start_failed, "Worker " + std::to_string(plan.rank) +
                                             " could not be started: " + error.what() +
                                             ". Command: " + identity.command);
  }
  if (!plan.uses_tcp) connect(node, std::move(pair.first));
}

void Startup::connect(std::size_t node, Descriptor connection) {
  nodes_[node]->set_stream(std::move(connection));
  nodes_[node]->post(plans_[node].set_up_call, true);
  nodes_[node]->send(Clock::now());
}

Startup::Progress Startup::turn(TimePoint slice_end) {
  if (rendezvous_) meet_arrivals();
  look_at_nodes();
  give_up_late_ones();
  if (!failed_ && num_ready_ < nodes_.size()) poll_for_news(slice_end);
  if (failed_) return Progress::failed;
  return num_ready_ == nodes_.size() ? Progress::ready : Progress::going;
}

void Startup::meet_arrivals() {
  for (Arrival& arrival : rendezvous_->turn(Clock::now())) {
    connect(arrival.worker, std::move(arrival.connection));
    last_progress_ = Clock::now();
  }
}

void Startup::look_at_nodes() {
  for (std::size_t i = 0; i < nodes_.size() && !failed_; ++i) {
    if (is_ready_[i]) continue;
    Node& node = *nodes_[i];
    if (node.has_stream()) {
      node.send(Clock::now());
      while (!node.loss() && !is_ready_[i] && node.read_available()) take_set_up_reply(i);
    }
    node.look_after();
    if (node.loss() && !is_ready_[i]) failed_ = i;
  }
}

void Startup::take_set_up_reply(std::size_t i) {
  while (const auto reply = nodes_[i]->take_reply()) {
    if (reply->ends_call == false) continue;  // an event of the set-up
    replies_[i].append(reply->body.data(), reply->body.size());
    if (!reply->ends_call) nodes_[i]->settle(true);
    is_ready_[i] = true;
    ++num_ready_;
    last_progress_ = Clock::now();
    return;
  }
}

void Startup::poll_for_news(TimePoint slice_end) {
  std::vector<pollfd> watched;
  if (rendezvous_ && rendezvous_->num_expected() > 0) rendezvous_->add_to(watched);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (is_ready_[i]) continue;
    watched.push_back({nodes_[i]->stream_descriptor(), nodes_[i]->events(), 0});
    watched.push_back({nodes_[i]->exit_descriptor(), POLLIN, 0});
  }
  poll_until(watched, slice_end);
}

void Startup::give_up_late_ones() {
  if (failed_ || Clock::now() < seconds_from(last_progress_, patience_)) return;
  for (std::size_t i = 0; i < nodes_.size() && !failed_; ++i) {
    if (is_ready_[i]) continue;
    is_too_late_ = true;
    failed_ = i;
    nodes_[i]->lose("was not ready after " + seconds_text(patience_));
  }
}

}  // namespace nodelay
