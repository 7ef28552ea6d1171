// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <cpp11.hpp>

// The life of a worker process, and of a template that forks them. All unwind as R errors do and
// throw Error.
namespace nodelay {

/// The life of a template: returns in the workers that it forks, each with a temporary folder of
/// its own. `can_fork`: nothing of this R session is such that two workers must not share it.
void live_as_template(const std::string& temporary_folder, bool can_fork);

/// Connects to the main process that started this worker. The external pointer that the others
/// take.
SEXP connect_worker(const std::string& temporary_folder);

/// Takes and answers calls until the main process says goodbye; then returns false. An error in a
/// call, or an interrupt, leaves this by R's own jump to the handlers in run_worker().
bool serve(SEXP pointer, SEXP enclosure);

/// After an error in a call: sends `error`, the value that stands for it. False where the
/// conversation is over.
bool answer_error(SEXP pointer, SEXP error);

/// After an interrupt: the main process has given the call up.
bool answer_interrupt(SEXP pointer);

/// Sends a value while a call runs, before its outcome.
void send_event(SEXP pointer, SEXP value);

}  // namespace nodelay
