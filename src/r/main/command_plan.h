// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <cpp11.hpp>

#include "cluster/startup.h"

namespace nodelay {

/// The texts that stand for one worker: its command, and for another machine the command that
/// brings it there and both in one.
struct CommandTexts {
  std::string worker;
  std::string remote_shell;
  std::string whole;
};

/// The texts for the worker that `plan` describes, which would connect to `port`. Throws as
/// conversions of cpp11 do where the plan has not the expected form.
CommandTexts command_texts(const cpp11::list& plan, std::uint16_t port);

/// What starts the worker that `plan` describes, see node_plan() in R/makeNodePSOCK.R. Where that
/// is done by hand, it tells the user what to run. Reads the plan once; throws as conversions of
/// cpp11 do where that has not the expected form.
NodePlan::Command command_of(const cpp11::list& plan);

}  // namespace nodelay
