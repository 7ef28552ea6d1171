// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/open_files.h"
#include "launch/departure.h"
#include "launch/template.h"
#include "net/spin_budget.h"

namespace nodelay {

class Node;

/// What all nodes of one main process share. Owned jointly by them, so that it lives
/// until the last one is gone. Used by R's main thread only.
class Session {
 public:
  Session();

  /// False in a process that was forked from the one that made the session: workers
  /// belong to that one.
  bool is_owner() const;

  pid_t owner() const { return owner_; }

  /// A node begins, or ends, to owe replies.
  void begin_work();
  void end_work() { --num_at_work_; }

  /// Whether a process may spin while it waits: there are two usable CPUs or more, and no more
  /// workers are at work at a time, now and in the last burst of calls.
  bool may_spin() const { return usable_cpus_ > 1 && std::max(last_peak_, peak_) <= usable_cpus_; }

  /// Whether the main process waits for one worker at a time, now and in the last burst of
  /// calls, and there is another CPU for that.
  bool has_cpu_to_itself() const { return std::max(last_peak_, peak_) <= 1 && usable_cpus_ > 1; }

  /// Whether a CPU is left for the main process while the workers are at work.
  bool has_spare_cpu() const { return std::max(last_peak_, peak_) < usable_cpus_; }

  /// What has been learned about waits for several workers at once.
  SpinBudget& spin_budget() { return spin_budget_; }

  /// A node that uses this session begins, or ends, to exist.
  void enter(Node& node) { nodes_.insert(&node); }
  void leave(Node& node) { nodes_.erase(&node); }

  /// The nodes that exist, in no order; borrowed until the next of them begins or ends.
  const std::set<Node*>& nodes() const { return nodes_; }

  /// The template for workers of `kind`, see kind_of_worker(); where there is none that is of use a
  /// new one, started by the plan of such a worker. Null where those cannot be forked. Shared: it
  /// may be retired while a startup uses it. Throws Error(system).
  std::shared_ptr<Template> template_for(const std::string& kind, const SpawnPlan& plan);

  /// The process ids of those that there are.
  std::vector<pid_t> template_pids() const;

  /// Ends a template, and all of them.
  void retire(Template& unused);
  void retire_templates();

  OpenFilesLimit& open_files() { return open_files_; }

  /// Takes over a worker whose stream has been closed and sees it off.
  void depart(Departure departure) { departures_.push_back(std::move(departure)); }

  /// Drives departures without waiting; called wherever the session is in use.
  void advance_departures();

  /// Waits until every departing worker is gone, but not past `deadline`.
  void finish_departures(TimePoint deadline = TimePoint::max());

 private:
  void forget_lost_templates();
  void retire_oldest_template();

  pid_t owner_;
  int num_at_work_ = 0;  // nodes that owe replies
  int peak_ = 0;         // most of them at a time since none was
  int last_peak_ = 0;    // the same of the time before
  int usable_cpus_;
  OpenFilesLimit open_files_;
  SpinBudget spin_budget_;
  std::set<Node*> nodes_;
  std::map<std::string, std::shared_ptr<Template>> templates_;  // by their kind
  std::list<Departure> departures_;
};

}  // namespace nodelay
