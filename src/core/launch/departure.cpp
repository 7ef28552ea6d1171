// SPDX-License-Identifier: MIT
#include "launch/departure.h"

#include <array>
#include <csignal>

namespace nodelay {
namespace {

using std::chrono::milliseconds;

struct Step {
  milliseconds patience;  // before the signal
  int signal;
};

// A native worker sees the closed stream within 50 ms even while it computes; a
// base-R worker that computes sees nothing, and R that is still starting up has no
// handler for SIGINT yet.
constexpr std::array<Step, 4> kSteps{{{milliseconds(700), SIGINT},
                                      {milliseconds(700), SIGINT},
                                      {milliseconds(500), SIGTERM},
                                      {milliseconds(500), SIGKILL}}};

}  // namespace

Departure::Departure(Process process, TemporaryFolder folder, Patience patience, TimePoint now)
    : folder_(std::move(folder)), process_(std::move(process)), next_step_at_(now) {
  if (patience == Patience::usual) {
    next_step_at_ += kSteps[0].patience;
  } else {
    advance(now);
  }
}

bool Departure::advance(TimePoint now) {
  if (process_.pid() == 0 || process_.poll_exit()) return true;
  if (now >= next_step_at_ && step_ < kSteps.size()) {
    const int signal = kSteps[step_].signal;
    // An interrupted R removes its temporary folder, by a child that must not be interrupted.
    if (signal == SIGINT) {
      process_.signal_alone(signal);
    } else {
      process_.signal(signal);
    }
    ++step_;
    // After SIGKILL there is nothing left but to look again.
    next_step_at_ = now + (step_ < kSteps.size() ? kSteps[step_].patience : milliseconds(100));
  }
  return false;
}

}  // namespace nodelay
