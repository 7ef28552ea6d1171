// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "cluster/session.h"

namespace nodelay {

/// Gets workers forked by the templates of a session, one after the other.
class Forker {
 public:
  enum class Progress {
    going,
    made,     ///< take_process() has it
    refused,  ///< no template can make it: start it without
  };

  /// `patience`: seconds until a template has to be up.
  Forker(std::shared_ptr<Session> session, double patience);
  ~Forker();
  Forker(const Forker&) = delete;
  Forker& operator=(const Forker&) = delete;

  /// Goes on with the worker of this plan, the same one until it is made or refused, until
  /// `slice_end` or a signal; does not wait for a template that is not up yet.
  Progress turn(const SpawnPlan& plan, TimePoint slice_end);

  Process take_process() { return std::move(process_); }

  /// Readable when turn() has something to do; -1 where that waits for nothing.
  int descriptor() const { return template_ ? template_->descriptor() : -1; }

 private:
  void find_template(const SpawnPlan& plan);
  Progress refuse();
  Progress look(const SpawnPlan& plan);
  bool is_late() const;

  std::shared_ptr<Session> session_;  // shared: see Session
  double patience_;
  std::string inherited_state_;         // empty: nobody was asked to fork yet
  std::shared_ptr<Template> template_;  // shared: see Session; null between two workers
  bool has_lost_template_ = false;      // another one would most likely end in the same way
  bool has_asked_ = false;              // the template works for this
  Process process_;
};

}  // namespace nodelay
