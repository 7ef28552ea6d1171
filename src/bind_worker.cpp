// SPDX-License-Identifier: MIT
#include "r/base/conditions.h"
#include "r/worker/worker.h"

using namespace nodelay;

// The life of a template: returns in the workers that it forks.
[[cpp11::register]] void worker_fork(std::string temporary_folder, bool can_fork) {
  entry([&] { live_as_template(temporary_folder, can_fork); });
}

// Connects to the main process that started this worker.
[[cpp11::register]] SEXP worker_connect(std::string temporary_folder) {
  return entry([&] { return connect_worker(temporary_folder); });
}

// Takes and answers calls until the main process says goodbye; then returns FALSE.
[[cpp11::register]] bool worker_serve(SEXP pointer, SEXP enclosure) {
  return entry([&] { return serve(pointer, enclosure); });
}

// After an error in a call: sends `error`, the value that stands for it. FALSE where the
// conversation is over.
[[cpp11::register]] bool worker_fail(SEXP pointer, SEXP error) {
  return entry([&] { return answer_error(pointer, error); });
}

// After an interrupt: the main process has given the call up.
[[cpp11::register]] bool worker_interrupted(SEXP pointer) {
  return entry([&] { return answer_interrupt(pointer); });
}

// Sends a value while a call runs, before its outcome.
[[cpp11::register]] void worker_send_event(SEXP pointer, SEXP value) {
  entry([&] { send_event(pointer, value); });
}
