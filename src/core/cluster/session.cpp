// SPDX-License-Identifier: MIT
#include "cluster/session.h"

#include <unistd.h>

#include <utility>

#include "hosts/usable_cpus.h"
#include "net/poll.h"

namespace nodelay {
namespace {

constexpr std::size_t kMostTemplates = 4;  // each is an R that holds some 40 MB

}  // namespace

Session::Session() : owner_(::getpid()), usable_cpus_(usable_cpus()) {}

bool Session::is_owner() const {
  return ::getpid() == owner_;
}

void Session::begin_work() {
  if (num_at_work_ == 0) last_peak_ = std::exchange(peak_, 0);
  peak_ = std::max(peak_, ++num_at_work_);
}

std::shared_ptr<Template> Session::template_for(const std::string& kind, const SpawnPlan& plan) {
  forget_lost_templates();
  if (const auto known = templates_.find(kind); known != templates_.end()) {
    return known->second->state() == Template::State::unfit ? nullptr : known->second;
  }
  if (templates_.size() >= kMostTemplates) retire_oldest_template();
  auto made = std::make_shared<Template>(plan);
  templates_.emplace(kind, made);
  return made;
}

// One may have been killed since it was used last.
void Session::forget_lost_templates() {
  for (auto each = templates_.begin(); each != templates_.end();) {
    Template& known = *each->second;
    if (known.state() == Template::State::idle) known.take_worker();
    if (known.state() == Template::State::lost) {
      retire(known);
      each = templates_.erase(each);
    } else {
      ++each;
    }
  }
}

void Session::retire_oldest_template() {
  const auto oldest = std::min_element(
      templates_.begin(), templates_.end(), [](const auto& one, const auto& other) {
        return one.second->state_since() < other.second->state_since();
      });
  retire(*oldest->second);
  templates_.erase(oldest);
}

std::vector<pid_t> Session::template_pids() const {
  std::vector<pid_t> pids;
  for (const auto& [kind, each] : templates_) pids.push_back(each->pid());
  return pids;
}

void Session::retire(Template& unused) {
  depart({unused.retire(), TemporaryFolder(), Departure::Patience::usual, Clock::now()});
}

void Session::retire_templates() {
  for (const auto& [kind, each] : templates_) retire(*each);
  templates_.clear();
}

void Session::advance_departures() {
  if (departures_.empty()) return;
  const TimePoint now = Clock::now();
  departures_.remove_if([now](Departure& departure) { return departure.advance(now); });
}

void Session::finish_departures(TimePoint deadline) {
  for (advance_departures(); !departures_.empty(); advance_departures()) {
    if (Clock::now() >= deadline) return;
    // Short enough where the kernel does not tell of a process's end.
    TimePoint until = Clock::now() + std::chrono::milliseconds(20);
    std::vector<pollfd> watched;
    for (const Departure& departure : departures_) {
      watched.push_back({departure.exit_descriptor(), POLLIN, 0});
    }
    poll_until(watched, until);
  }
}

}  // namespace nodelay
