// SPDX-License-Identifier: MIT
#include "r/main/life.h"

#include <algorithm>
#include <ctime>
#include <string>

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

void stop_nodes(const std::vector<NodeHandle*>& handles, SEXP farewell) {
  for (NodeHandle* handle : handles) {
    if (handle->node->is_stopped()) continue;
    say_farewell(*handle->node, farewell, handle->encoding);
    stop(*handle);
  }
  for (NodeHandle* handle : handles) handle->session->finish_departures();
}

cpp11::writable::logicals are_alive(const cpp11::list& pointers, double patience) {
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
}

void see_off(const cpp11::list& pointers) {
  constexpr double kPatience = 1;  // seconds
  const std::vector<NodeHandle*> handles = living(pointers);
  wait_until_all(handles, kPatience, [](Node& node) { return !node.is_alive(); });
  for (NodeHandle* handle : handles) {
    if (handle->node->is_alive()) stop(*handle);
  }
}

}  // namespace nodelay
