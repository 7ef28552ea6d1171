// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/descriptor.h"
#include "launch/process.h"

namespace nodelay {

/// A process that makes workers for this one: it was started as such a worker is, has loaded all
/// that one loads, and forks one at each request. Nothing here waits; a template that is of no use
/// any more stays so. See docs/protocol.md.
class Template {
 public:
  enum class State {
    starting,  ///< it is not up yet
    idle,      ///< it takes a request
    busy,      ///< it has not answered a request yet
    unfit,     ///< it came up and said that it must not fork
    lost,      ///< it has ended, or answered what makes no sense
  };

  /// Starts one by the plan of a worker, see kind_of_worker(). Throws Error(system).
  explicit Template(const SpawnPlan& plan);

  State state() const { return state_; }

  /// When it came to that state.
  TimePoint state_since() const { return state_since_; }

  /// Only while idle: asks for the worker of this plan. Throws Error(system) where that
  /// has too many descriptors or variables of its own.
  void request(const SpawnPlan& plan);

  /// Reads what has come. Returns the worker that was asked for; nothing while there is none, and
  /// where there will be none: then it is not busy any more.
  std::optional<Process> take_worker();

  /// Its process id, also once it is lost.
  pid_t pid() const { return process_.pid(); }

  /// To poll for input; -1 once it is lost.
  int descriptor() const { return control_.get(); }

  /// Ends the conversation, upon which the process ends, and hands that over.
  Process retire();

 private:
  void become(State state);

  Process process_;
  Descriptor control_;
  State state_ = State::starting;
  TimePoint state_since_;
};

/// What workers of one template have in common, as text to compare: program, environment and what
/// they inherit (see inherited_state()). Their descriptors and the variables of kVariablePrefix are
/// their own.
std::string kind_of_worker(const SpawnPlan& plan, const std::string& inherited_state);

}  // namespace nodelay
