# SPDX-License-Identifier: MIT
# How long 8 local workers take to start, until each has answered a call: for the first cluster of
# a fresh R session, and for the second one in the same session, when the first has been stopped.
# Loading the contestant's package counts to the first; stopping does not count.

num_workers <- 8
rows <- contestants[c("parallel", "parallelly_no_delay", "mirai_cluster", "mirai", "nodelay")]

# All workers' process ids: each answers one call.
ask_all <- function(row, handle) {
  if (row$api == "mirai") {
    return(mirai::collect_mirai(mirai::everywhere(Sys.getpid(), .compute = handle)))
  }
  parallel::clusterCall(handle, Sys.getpid)
}

time_start <- function(row) {
  began <- Sys.time()
  handle <- row$start(num_workers)
  on.exit(stop_contestant(row, handle))
  process_ids <- unlist(ask_all(row, handle))
  took_ms <- as.numeric(difftime(Sys.time(), began, units = "secs")) * 1e3
  stopifnot(length(unique(process_ids)) == num_workers)
  took_ms
}

# A visit is a session, and has a value of each measure.
time_session <- function(name) {
  as.numeric(utils::tail(run_session(name), 2))
}

measure_startup <- function() {
  offer_mirai()
  is_here <- vapply(rows, function(row) is_installed(row$package), NA)
  absent <- absence(names(rows)[!is_here], rep("not installed", sum(!is_here)),
                    rep(NA_character_, sum(!is_here)))
  cells <- lapply(names(rows)[is_here], function(name) {
    list(row = name, measure = "", visit = function() time_session(name))
  })
  outcome <- measure_interleaved(cells, min_rounds = 5)
  outcome$values$measure <- rep_len(c("first", "second"), nrow(outcome$values))
  outcome$absences$measure <- rep(NA_character_, nrow(outcome$absences))
  join_outcomes(outcome, make_outcome(NULL, absent))
}

benchmark <- list(
  title = "How long 8 local workers take to start",
  subtitle = paste("Until each has answered a call; the line marks the median;",
                   "further left is better"),
  heading = "Median time in ms until 8 workers have answered",
  rows = rows, reference = "nodelay", one_axis = TRUE,
  measures = list(
    first = list(short = "first", label = "first cluster of a session", unit = "ms"),
    second = list(short = "second", label = "second cluster of it", unit = "ms")),
  targets = list(
    list(measure = "first", row = "nodelay", against = "parallel", at_most = 0.35),
    list(measure = "second", row = "nodelay", against = "parallel", at_most = 0.05)),
  measure = measure_startup,
  session = function(args) {
    row <- rows[[args]]
    for (i in 1:2) cat(time_start(row), "\n")
  })
