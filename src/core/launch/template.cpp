// SPDX-License-Identifier: MIT
#include "launch/template.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/open_files.h"
#include "base/system_call.h"
#include "launch/environment.h"
#include "launch/front_end.h"
#include "launch/output_log.h"
#include "launch/worker_variables.h"
#include "net/packet.h"
#include "wire/fork_message.h"

namespace nodelay {
namespace {

constexpr int kControlInTemplate = 3;  // named by kTemplateVariable in its environment

bool is_own_variable(const std::string& variable) {
  return variable.starts_with(kVariablePrefix);
}

std::vector<std::string> shared_variables(const SpawnPlan& plan) {
  std::vector<std::string> variables = plan.environment;
  std::erase_if(variables, is_own_variable);
  return variables;
}

std::string assignment(const char* name, int value) {
  return std::string(name) + "=" + std::to_string(value);
}

// Makes R let its heap grow in large steps, see help(Memory) of R. By itself it takes small ones: a
// worker that gets long lists collected garbage, which is to look at every object that R has, for
// each second of them, and in a worker that was just forked that makes copies of all pages that
// those lie on.
void grow_heap_in_large_steps(std::vector<std::string>& environment) {
  if (value_in(environment, kHeapGrowthVariable)) return;
  environment.push_back(assignment(kHeapGrowthVariable, 3));
  environment.push_back(assignment(kOwnHeapGrowthVariable, 1));
}

}  // namespace

Template::Template(const SpawnPlan& plan) : state_since_(Clock::now()) {
  DescriptorPair pair = make_packet_pair();
  const Descriptor nowhere(
      system_call("opening /dev/null", [] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }));
  const OutputLog output = OutputLog::kept_in_memory();
  const OutputLog errors = OutputLog::kept_in_memory();
  SpawnPlan own = plan;
  own.environment = shared_variables(plan);
  own.environment.push_back(assignment(kTemplateVariable, kControlInTemplate));
  own.environment.push_back(assignment(kMainVariable, ::getpid()));
  grow_heap_in_large_steps(own.environment);
  own.descriptors = {{nowhere.get(), STDIN_FILENO},
                     {output.standard_error(), STDOUT_FILENO},
                     {errors.standard_error(), STDERR_FILENO},
                     {pair.second.get(), kControlInTemplate}};
  process_ = Process::spawn(without_front_ends(std::move(own)));
  control_ = moved_out_of_the_way(std::move(pair.first));
}

void Template::become(State state) {
  state_ = state;
  state_since_ = Clock::now();
  if (state == State::unfit || state == State::lost) control_.close();
}

void Template::request(const SpawnPlan& plan) {
  ForkRequest request;
  std::vector<int> ours;
  for (const SpawnPlan::Passed& passed : plan.descriptors) {
    ours.push_back(passed.ours);
    request.descriptors.push_back(passed.theirs);
  }
  for (const std::string& variable : plan.environment) {
    if (is_own_variable(variable)) request.variables.push_back(variable);
  }
  const bool is_sent = send_packet(control_.get(), encode_fork_request(request), ours);
  become(is_sent ? State::busy : State::lost);
}

std::optional<Process> Template::take_worker() {
  if (!control_) return std::nullopt;
  Packet packet;
  const PacketNews news = receive_packet(control_.get(), packet);
  if (news == PacketNews::nothing) return std::nullopt;
  const auto answer = news == PacketNews::packet ? decode_fork_answer(packet.bytes) : std::nullopt;
  if (state_ == State::starting && answer) {
    become(answer->errno_value == 0 ? State::idle : State::unfit);
    return std::nullopt;
  }
  const bool is_made = state_ == State::busy && answer && answer->errno_value == 0;
  auto worker = is_made ? Process::adopt(answer->pid) : std::nullopt;
  become(worker ? State::idle : State::lost);
  return worker;
}

Process Template::retire() {
  // Also where a fork of this process holds a copy of the socket.
  if (control_) ::shutdown(control_.get(), SHUT_RDWR);
  become(State::lost);
  return std::move(process_);
}

std::string kind_of_worker(const SpawnPlan& plan, const std::string& inherited_state) {
  std::string kind = inherited_state;
  if (plan.open_files) kind += std::to_string(*plan.open_files);
  for (const std::string& word : plan.argv) kind.append(word).push_back('\0');
  kind.push_back('\0');
  for (const std::string& variable : shared_variables(plan)) {
    kind.append(variable).push_back('\0');
  }
  return kind;
}

}  // namespace nodelay
