// SPDX-License-Identifier: MIT
#include "cluster/forker.h"

#include <nodelay/error.h>

#include "launch/inherited_state.h"
#include "net/poll.h"

namespace nodelay {
namespace {

constexpr double kAnswerPatience = 10;   // seconds for one fork, on a machine that is overloaded
constexpr double kFarewellPatience = 1;  // seconds for one that nobody wants any more

}  // namespace

Forker::Forker(std::shared_ptr<Session> session, double patience)
    : session_(std::move(session)), patience_(patience) {}

// What is being forked has to be seen off: nobody has the other end of its stream any more.
Forker::~Forker() {
  if (!has_asked_) return;
  const TimePoint end = seconds_from(Clock::now(), kFarewellPatience);
  for (;;) {
    if (auto worker = template_->take_worker()) {
      session_->depart(
          {std::move(*worker), TemporaryFolder(), Departure::Patience::usual, Clock::now()});
    }
    if (template_->state() != Template::State::busy) return;
    if (Clock::now() >= end) session_->retire(*template_);
    pollfd watched{template_->descriptor(), POLLIN, 0};
    poll_until({&watched, 1}, end);
  }
}

Forker::Progress Forker::turn(const SpawnPlan& plan, TimePoint slice_end) {
  if (has_lost_template_) return Progress::refused;
  if (!template_) find_template(plan);
  if (!template_) return Progress::refused;
  for (;;) {
    const Progress progress = look(plan);
    if (progress != Progress::going || !has_asked_ || Clock::now() >= slice_end) return progress;
    pollfd watched{template_->descriptor(), POLLIN, 0};
    if (poll_until({&watched, 1}, slice_end) == 0) return Progress::going;
  }
}

void Forker::find_template(const SpawnPlan& plan) {
  if (inherited_state_.empty()) inherited_state_ = inherited_state();
  try {
    template_ = session_->template_for(kind_of_worker(plan, inherited_state_), plan);
  } catch (const Error&) {
    template_.reset();  // whatever it is, the start of the worker itself will tell
  }
}

Forker::Progress Forker::refuse() {
  has_lost_template_ = template_->state() == Template::State::lost;
  has_asked_ = false;
  template_.reset();
  return Progress::refused;
}

Forker::Progress Forker::look(const SpawnPlan& plan) {
  const bool is_strangers = template_->state() == Template::State::busy && !has_asked_;
  if (is_strangers) return refuse();
  if (auto worker = template_->take_worker()) {
    process_ = std::move(*worker);
    has_asked_ = false;
    template_.reset();
    return Progress::made;
  }
  if (template_->state() == Template::State::idle) {
    template_->request(plan);
    has_asked_ = true;
  }
  switch (template_->state()) {
    case Template::State::unfit:
    case Template::State::lost:
      return refuse();
    case Template::State::starting:
    case Template::State::idle:
    case Template::State::busy:
      break;
  }
  if (!is_late()) return Progress::going;
  session_->retire(*template_);
  return refuse();
}

bool Forker::is_late() const {
  const double patience = has_asked_ ? kAnswerPatience : patience_;
  return Clock::now() >= seconds_from(template_->state_since(), patience);
}

}  // namespace nodelay
