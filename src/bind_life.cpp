// SPDX-License-Identifier: MIT
#include "r/base/conditions.h"
#include "r/main/life.h"

using namespace nodelay;

// Ends the workers, all at the same time, and waits until they are gone. `farewell` is the
// message that ends a base-R worker.
[[cpp11::register]] void nodes_stop(cpp11::list pointers, SEXP farewell) {
  entry([&] { stop_nodes(handles_of(pointers), farewell); });
}

// Which of the workers are alive; NA for a node of another process. With `patience`, in seconds,
// a native worker that does not answer within that time counts as dead.
[[cpp11::register]] cpp11::writable::logicals nodes_alive(cpp11::list pointers, double patience) {
  return entry([&] { return are_alive(pointers, patience); });
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
  entry([&] { see_off(pointers); });
}
