// SPDX-License-Identifier: MIT
// Whether workers are alive, and how they end.
#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "bind_conditions.h"
#include "bind_node.h"

namespace nodelay {
namespace {

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%H:%M:%S", &local)};
}

void stop(NodeHandle& handle) {
  handle.node->stop();
  handle.stopped_at = time_of_day();
  if (handle.connection != R_NilValue) {
    cpp11::package("nodelay")["close_connection"](handle.connection);
  }
  handle.session->advance_departures();
}

// Waits until `is_done(node)` holds for each of the nodes, at most `patience` seconds.
template <typename Claim>
void wait_until_all(std::vector<NodeHandle*> handles, double patience, Claim is_done) {
  const TimePoint deadline = seconds_from(Clock::now(), patience);
  for (;;) {
    std::erase_if(handles, [&](NodeHandle* handle) { return is_done(*handle->node); });
    const TimePoint now = Clock::now();
    if (handles.empty() || now >= deadline) return;
    wait_for_any(handles, std::min(deadline, now + kSlice));
    cpp11::check_user_interrupt();
  }
}

// Those that are of this very process and alive.
std::vector<NodeHandle*> living(const cpp11::list& pointers) {
  std::vector<NodeHandle*> handles;
  for (const SEXP pointer : pointers) {
    NodeHandle* handle = own_handle(pointer);
    if (handle != nullptr && handle->node->is_alive()) handles.push_back(handle);
  }
  return handles;
}

}  // namespace
}  // namespace nodelay

using namespace nodelay;

// Ends the workers, all at the same time, and waits until they are gone. `farewell` is the
// message that ends a base-R worker.
[[cpp11::register]] void nodes_stop(cpp11::list pointers, SEXP farewell) {
  entry([&] {
    for (NodeHandle* handle : handles_of(pointers)) {
      if (handle->node->is_stopped()) continue;
      say_farewell(*handle->node, farewell, handle->encoding);
      stop(*handle);
    }
    for (NodeHandle* handle : handles_of(pointers)) handle->session->finish_departures();
  });
}

// Which of the workers are alive; NA for a node of another process. With `patience`, in seconds,
// a native worker that does not answer within that time counts as dead.
[[cpp11::register]] cpp11::writable::logicals nodes_alive(cpp11::list pointers, double patience) {
  return entry([&] {
    if (patience > 0) {
      const std::vector<NodeHandle*> asked = living(pointers);
      for (const NodeHandle* handle : asked) handle->node->ping();
      wait_until_all(asked, patience,
                     [](Node& node) { return !node.is_alive() || node.has_answered_ping(); });
    }
    cpp11::writable::logicals result;
    for (const SEXP pointer : pointers) {
      const NodeHandle* handle = own_handle(pointer);
      if (handle == nullptr) {
        result.push_back(NA_LOGICAL);
        continue;
      }
      Node& node = *handle->node;
      const bool is_alive = node.is_alive() && (patience <= 0 || node.has_answered_ping());
      result.push_back(is_alive ? TRUE : FALSE);
    }
    return result;
  });
}

// Sends a signal to the process groups of workers. Which of them got it; NA for a node of another
// process, and one that was started by hand.
[[cpp11::register]] cpp11::writable::logicals nodes_signal(cpp11::list pointers, int number) {
  return entry([&] {
    cpp11::writable::logicals result;
    for (const SEXP pointer : pointers) {
      const NodeHandle* handle = own_handle(pointer);
      const bool is_known = handle != nullptr && handle->node->pid() != 0;
      result.push_back(!is_known ? NA_LOGICAL : handle->node->signal(number) ? TRUE : FALSE);
    }
    return result;
  });
}

// After a signal that ends workers: waits for that, and stops those that are still there then.
[[cpp11::register]] void nodes_see_off(cpp11::list pointers) {
  entry([&] {
    constexpr double kPatience = 1;  // seconds
    const std::vector<NodeHandle*> handles = living(pointers);
    wait_until_all(handles, kPatience, [](Node& node) { return !node.is_alive(); });
    for (NodeHandle* handle : handles) {
      if (handle->node->is_alive()) stop(*handle);
    }
  });
}
