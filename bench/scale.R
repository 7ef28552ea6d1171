# SPDX-License-Identifier: MIT
# Many local workers: how long they take to start and to answer one call to all, what memory an idle
# one needs, and what an idle cluster costs. 100 workers beside the peers; then 1000 of nodelay's,
# where the machine has the memory and the start is not too long to wait for. R has 128 connections,
# so parallelly has no 1000 workers; package parallel is left out, since its workers are the same
# as parallelly's. mirai's 1000 are not tried: each is a process that R takes its time to start.

num_workers <- 100
num_many <- 1000
# A start that would take longer, going by 100 workers, is not tried.
longest_start_s <- 60
settle_s <- 3
idle_s <- 5
num_calls <- 15

rows <- contestants[c("parallelly_no_delay", "mirai_cluster", "nodelay", "nodelay_own")]

measures <- list(
  start = list(short = "start 100", label = "start of 100 workers", unit = "s"),
  call = list(short = "call 100", label = "clusterCall(cl, Sys.getpid)", unit = "ms"),
  memory = list(short = "memory", label = "an idle worker's memory", unit = "MB"),
  idle = list(short = "idle", label = "main and 100 idle workers", unit = "% of a CPU"),
  start_many = list(short = "start 1000", label = "start of 1000 workers", unit = "s"),
  call_many = list(short = "call 1000", label = "clusterCall(cl, Sys.getpid)", unit = "ms"))

many_measures <- c("start_many", "call_many")

seconds_since <- function(began) as.numeric(difftime(Sys.time(), began, units = "secs"))

# What main and workers use in idle_s in which nobody asks for anything, in % of one CPU. The main
# session's own Sys.sleep() and a look at /proc are in it: some 0.02 % with any cluster or none.
measure_idle <- function(process_ids) {
  Sys.sleep(settle_s)
  of_workers <- function() sum(vapply(process_ids, process_cpu_s, 0))
  workers_before <- of_workers()
  main_before <- process_cpu_s(Sys.getpid())
  Sys.sleep(idle_s)
  main_after <- process_cpu_s(Sys.getpid())
  100 * (main_after - main_before + of_workers() - workers_before) / idle_s
}

# Starts n workers of a row, measures them and stops them; returns a list of values.
measure_workers <- function(row, n, with_idle) {
  cluster_call <- api_function(row, "clusterCall")
  began <- Sys.time()
  cl <- row$start(n)
  on.exit(stop_contestant(row, cl))
  process_ids <- unlist(cluster_call(cl, Sys.getpid))
  start_s <- seconds_since(began)
  stopifnot(length(unique(process_ids)) == n)
  values <- list(start = start_s,
                 call = time_calls(function() cluster_call(cl, Sys.getpid), num_calls) * 1e3)
  values$memory <- mean(vapply(process_ids, process_mb, 0))
  if (with_idle) values$idle <- measure_idle(process_ids)
  values
}

as_values <- function(row, values) {
  data.frame(row = row, measure = rep(names(values), lengths(values)),
             value = unlist(values, use.names = FALSE))
}

# Measures 1000 workers of a row, going by what 100 took, or returns why not.
measure_many <- function(name, few) {
  needed_mb <- few$memory * num_many
  expected_s <- few$start * num_many / num_workers
  reason <- if (needed_mb > 0.7 * available_mb()) {
    sprintf("not measured: needs %.0f GB of memory, there are %.0f", needed_mb / 1024,
            available_mb() / 1024)
  } else if (expected_s > longest_start_s) {
    sprintf("not measured: the start would take %.0f s, going by 100 workers", expected_s)
  }
  if (!is.null(reason)) {
    return(make_outcome(NULL, absence(name, reason, many_measures)))
  }
  many <- measure_workers(rows[[name]], num_many, with_idle = FALSE)
  make_outcome(as_values(name, list(start_many = many$start, call_many = many$call)))
}

measure_row <- function(name) {
  row <- rows[[name]]
  if (!is_installed(row$package)) return(make_outcome(NULL, absence(name, "not installed")))
  if (is.null(api_function(row, "clusterCall"))) {
    return(make_outcome(NULL, absence(name, "not there")))
  }
  few <- tryCatch(measure_workers(row, num_workers, with_idle = TRUE), error = identity)
  if (inherits(few, "error")) {
    return(make_outcome(NULL, absence(name, paste("failed:", conditionMessage(few)))))
  }
  outcome <- make_outcome(as_values(name, few))
  if (row$package != "nodelay") {
    reason <- if (name == "mirai_cluster") "not tried" else "cannot"
    return(join_outcomes(outcome, make_outcome(NULL, absence(name, reason, many_measures))))
  }
  many <- tryCatch(measure_many(name, few), error = function(e) {
    make_outcome(NULL, absence(name, paste("failed:", conditionMessage(e)), many_measures))
  })
  join_outcomes(outcome, many)
}

benchmark <- list(
  title = "Many local workers",
  subtitle = "The line marks the median of the calls; further left is better",
  heading = "Start until all have answered, median time of one call to all, mean memory, CPU",
  rows = rows, measures = measures, reference = "nodelay",
  targets = list(
    list(measure = "start_many", row = "nodelay", at_most = 6),
    list(measure = "call_many", row = "nodelay", at_most = 150),
    list(measure = "call_many", row = "nodelay_own", at_most = 150),
    list(measure = "idle", row = "nodelay", at_most = 0.1)),
  measure = function() {
    offer_mirai()
    outcomes <- lapply(names(rows), function(name) {
      cat(sprintf("%d workers: %s\n", num_workers, one_line(rows[[name]]$label)))
      measure_row(name)
    })
    do.call(join_outcomes, outcomes)
  })
