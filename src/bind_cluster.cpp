// SPDX-License-Identifier: MIT
#include <cpp11.hpp>

#include "base/open_files.h"
#include "r/base/conditions.h"
#include "r/main/node_handle.h"
#include "r/main/start.h"

namespace nodelay {
namespace {

SEXP session_tag() {
  return Rf_install("nodelay_session");
}

void finalize_session(SEXP pointer) {
  auto* session = static_cast<std::shared_ptr<Session>*>(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
  delete session;
}

std::shared_ptr<Session> session_of(SEXP pointer) {
  auto* session = static_cast<std::shared_ptr<Session>*>(R_ExternalPtrAddr(pointer));
  if (session == nullptr || !(*session)->is_owner()) {
    throw Error(ErrorKind::stopped,
                "nodelay was loaded in another process than this one: a forked R process "
                "cannot start a cluster with it.");
  }
  return *session;
}

}  // namespace
}  // namespace nodelay

using namespace nodelay;

// How many more workers this process has room for.
[[cpp11::register]] double worker_room() {
  return entry([] { return static_cast<double>(num_startable_workers(most_open_descriptors())); });
}

// What all clusters of this R session share.
[[cpp11::register]] SEXP session_new() {
  auto session = std::make_unique<std::shared_ptr<Session>>(std::make_shared<Session>());
  return cpp11::unwind_protect([&] {
    const SEXP pointer = PROTECT(R_MakeExternalPtr(nullptr, session_tag(), R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalize_session, FALSE);
    R_SetExternalPtrAddr(pointer, session.release());
    UNPROTECT(1);
    return pointer;
  });
}

// Ends all workers when R does, and waits until they are gone, but not for ever. `farewell` is
// the message that ends a base-R worker. Does nothing in a forked process.
[[cpp11::register]] void session_close(SEXP pointer, SEXP farewell) {
  entry([&] {
    constexpr std::chrono::seconds kPatience{3};  // longer than the last step of a departure
    const auto* owned = static_cast<std::shared_ptr<Session>*>(R_ExternalPtrAddr(pointer));
    if (owned == nullptr || !(*owned)->is_owner()) return;
    const std::shared_ptr<Session> session = *owned;
    for (Node* node : session->nodes()) {
      say_farewell(*node, farewell, Encoding::xdr);
      node->stop_abruptly();
    }
    session->retire_templates();
    session->finish_departures(Clock::now() + kPatience);
  });
}

// The processes that fork workers for this R session.
[[cpp11::register]] cpp11::integers session_template_pids(SEXP pointer) {
  return entry([&]() -> cpp11::integers {
    cpp11::writable::integers pids;
    for (const pid_t pid : session_of(pointer)->template_pids())
      pids.push_back(static_cast<int>(pid));
    return pids;
  });
}

// Starts one worker for each plan (see node_plan() in R/makeNodePSOCK.R) and waits until all
// are ready. Returns a list of a list for each: handle, pid, engine, reply (of the set-up call),
// port.
[[cpp11::register]] cpp11::list nodes_start(SEXP session_pointer, cpp11::list plans,
                                            cpp11::integers ports, bool is_reachable,
                                            double patience) {
  return entry([&]() -> cpp11::list {
    Startup::Terms terms;
    terms.ports.assign(ports.begin(), ports.end());
    terms.reach = is_reachable ? Reach::network : Reach::this_machine;
    terms.patience = patience;
    return start_nodes(session_of(session_pointer), plans, terms);
  });
}
