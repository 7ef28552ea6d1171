// SPDX-License-Identifier: MIT
#include "r/main/schedules.h"

#include <algorithm>
#include <chrono>

#include "r/main/burst.h"

namespace nodelay {
namespace {

// Tasks that are under way on a worker, so that it need not wait for the next one.
constexpr std::size_t kMostUnderWay = 8;

// Under dynamic scheduling: no more than this much work, as far as can be told, is given to a
// worker at a time, beside what it works on or in one slice.
constexpr std::chrono::milliseconds kMostWorkAhead{1};
constexpr std::chrono::milliseconds kMostWorkInSlice{5};

SEXP handle_of_node(SEXP node) {
  static const SEXP kHandle = Rf_install("handle");
  return Rf_getAttrib(node, kHandle);
}

std::vector<NodeHandle*> handles_of_cluster(SEXP cl) {
  std::vector<NodeHandle*> handles;
  for (R_xlen_t i = 0; i < Rf_xlength(cl); ++i) {
    handles.push_back(&handle_of(handle_of_node(VECTOR_ELT(cl, i))));
  }
  return handles;
}

// Learns how long tasks take from when they end.
class Pace {
 public:
  explicit Pace(std::size_t num_nodes) : begun_at_(num_nodes) {}

  // A node that was idle begins a task.
  void begun(std::size_t node) { begun_at_[node] = Clock::now(); }

  // A node has ended `num_tasks`, and begins what was sent after them.
  void ended(std::size_t node, std::size_t num_tasks) {
    const TimePoint now = Clock::now();
    const auto took = (now - std::exchange(begun_at_[node], now)) / num_tasks;
    longest_ = std::max<std::chrono::nanoseconds>({took, longest_ - longest_ / 8, kShortest});
  }

  // How many tasks take `work`, were each as long as the longest of late. At least 1.
  std::size_t tasks_within(std::chrono::nanoseconds work) const {
    if (longest_.count() == 0) return 1;  // none has ended
    return std::max<std::size_t>(1, static_cast<std::size_t>(work / longest_));
  }

 private:
  static constexpr std::chrono::nanoseconds kShortest{1};

  std::vector<TimePoint> begun_at_;
  std::chrono::nanoseconds longest_{0};
};

// The tasks of a burst: calls of one function with arguments of their own, which R code makes.
class Tasks {
 public:
  Tasks(Burst& burst, SEXP make_arguments) : burst_(burst), make_arguments_(make_arguments) {}

  // Posts `task`, for elements `first` to `last`, counted from 1.
  void post(std::size_t node, std::size_t task, std::size_t first, std::size_t last) const {
    const cpp11::sexp arguments = cpp11::unwind_protect([&] {
      SEXP from = PROTECT(Rf_ScalarInteger(static_cast<int>(first)));
      SEXP to = PROTECT(Rf_ScalarInteger(static_cast<int>(last)));
      SEXP call = PROTECT(Rf_lang3(make_arguments_, from, to));
      SEXP value = Rf_eval(call, R_BaseEnv);
      UNPROTECT(3);
      return value;
    });
    CallBody body(burst_.function(), arguments);
    burst_.post(node, task, body);
  }

  // Posts the task of one element.
  void post(std::size_t node, std::size_t task) const { post(node, task, task + 1, task + 1); }

 private:
  Burst& burst_;
  SEXP make_arguments_;
};

void keep(const Burst::Result& result, SEXP values) {
  SET_VECTOR_ELT(values, static_cast<R_xlen_t>(result.task), result.value);
}

// Task i runs on node i modulo the number of nodes, in the order of the tasks.
void run_static(Burst& burst, const Tasks& tasks, std::size_t num_positions, SEXP values) {
  const auto num_tasks = static_cast<std::size_t>(Rf_xlength(values));
  std::vector<std::size_t> next(burst.num_nodes(), 0);  // of each node: no earlier task is left
  const auto fill = [&](std::size_t node) {
    std::size_t& task = next[node];
    for (; task < num_tasks && burst.num_under_way(node) < kMostUnderWay; ++task) {
      if (burst.node_at(task % num_positions) == node) tasks.post(node, task);
    }
  };
  for (std::size_t node = 0; node < burst.num_nodes(); ++node) fill(node);
  while (burst.num_under_way() > 0) {
    const Burst::Result result = burst.next();
    keep(result, values);
    fill(result.node);
  }
}

// Each node gets the next task when it is done with, or about to end, the one before.
void run_dynamic(Burst& burst, const Tasks& tasks, SEXP values) {
  const auto num_tasks = static_cast<std::size_t>(Rf_xlength(values));
  Pace pace(burst.num_nodes());
  std::size_t next = 0;
  const auto fill = [&](std::size_t node) {
    // Towards the end what is left is shared evenly.
    const std::size_t share = (num_tasks - next) / burst.num_nodes();
    const std::size_t ahead = std::min({pace.tasks_within(kMostWorkAhead), kMostUnderWay, share});
    while (next < num_tasks && burst.num_under_way(node) < std::max<std::size_t>(ahead, 1)) {
      if (burst.num_under_way(node) == 0) pace.begun(node);
      tasks.post(node, next++);
    }
  };
  for (std::size_t node = 0; node < burst.num_nodes(); ++node) fill(node);
  while (burst.num_under_way() > 0) {
    const Burst::Result result = burst.next();
    keep(result, values);
    pace.ended(result.node, 1);
    fill(result.node);
  }
}

// Each node gets some of the elements that are left when it is done with those before. Returns
// how many tasks that made.
std::size_t run_slices(Burst& burst, const Tasks& tasks, SEXP values) {
  const auto num_elements = static_cast<std::size_t>(Rf_xlength(values));
  Pace pace(burst.num_nodes());
  std::vector<std::size_t> slice_at(burst.num_nodes());  // how many elements each works on
  std::size_t next = 0;
  std::size_t num_tasks = 0;
  const auto fill = [&](std::size_t node) {
    if (next == num_elements) return;
    const std::size_t share = (num_elements - next) / (2 * burst.num_nodes());
    const std::size_t size =
        std::max<std::size_t>(1, std::min(pace.tasks_within(kMostWorkInSlice), share));
    slice_at[node] = size;
    pace.begun(node);
    tasks.post(node, num_tasks++, next + 1, next + size);
    next += size;
  };
  for (std::size_t node = 0; node < burst.num_nodes(); ++node) fill(node);
  while (burst.num_under_way() > 0) {
    const Burst::Result result = burst.next();
    keep(result, values);
    pace.ended(result.node, slice_at[result.node]);
    fill(result.node);
  }
  return num_tasks;
}

// Gives `values` the attribute "has_errors" where one of them stands for an error. The error is R's
// to raise: one that leaves C++ code keeps what it carries, here all values, until the next.
SEXP mark_errors(SEXP values) {
  static const SEXP kHasErrors = Rf_install("has_errors");
  for (R_xlen_t i = 0; i < Rf_xlength(values); ++i) {
    if (!Rf_inherits(VECTOR_ELT(values, i), "try-error")) continue;
    cpp11::safe[Rf_setAttrib](values, kHasErrors, cpp11::as_sexp(true));
    break;
  }
  return values;
}

SEXP list_of(std::size_t num_values) {
  return cpp11::safe[Rf_allocVector](VECSXP, static_cast<R_xlen_t>(num_values));
}

}  // namespace

bool consists_of_own_nodes(SEXP cl) {
  if (TYPEOF(cl) != VECSXP || !Rf_inherits(cl, "cluster") || Rf_xlength(cl) == 0) return false;
  for (R_xlen_t i = 0; i < Rf_xlength(cl); ++i) {
    if (TYPEOF(handle_of_node(VECTOR_ELT(cl, i))) != EXTPTRSXP) return false;
  }
  return true;
}

SEXP call_all(SEXP cl, SEXP function, SEXP arguments) {
  const std::vector<NodeHandle*> handles = handles_of_cluster(cl);
  Burst burst(handles, function);
  CallBody body(burst.function(), arguments);
  for (std::size_t i = 0; i < handles.size(); ++i) burst.post(burst.node_at(i), i, body);
  burst.flush();
  const cpp11::sexp values = list_of(handles.size());
  while (burst.num_under_way() > 0) keep(burst.next(), values);
  return mark_errors(values);
}

SEXP run_tasks(SEXP cl, SEXP function, int num_tasks, SEXP make_arguments, bool is_dynamic) {
  std::vector<NodeHandle*> handles = handles_of_cluster(cl);
  handles.resize(std::min(handles.size(), static_cast<std::size_t>(num_tasks)));
  const cpp11::sexp values = list_of(static_cast<std::size_t>(num_tasks));
  Burst burst(handles, function);
  const Tasks tasks(burst, make_arguments);
  if (is_dynamic) {
    run_dynamic(burst, tasks, values);
  } else {
    run_static(burst, tasks, handles.size(), values);
  }
  return mark_errors(values);
}

SEXP run_sliced(SEXP cl, SEXP function, int num_elements, SEXP make_arguments) {
  std::vector<NodeHandle*> handles = handles_of_cluster(cl);
  handles.resize(std::min(handles.size(), static_cast<std::size_t>(num_elements)));
  const cpp11::sexp values = list_of(static_cast<std::size_t>(num_elements));
  Burst burst(handles, function);
  const std::size_t num_slices = run_slices(burst, Tasks(burst, make_arguments), values);
  const cpp11::sexp slices = cpp11::safe[Rf_lengthgets](values, static_cast<R_xlen_t>(num_slices));
  return mark_errors(slices);
}

}  // namespace nodelay
