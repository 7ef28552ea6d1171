# SPDX-License-Identifier: MIT
# How long big values take: 80 MB of doubles to a worker, back from it and to 8 workers, and a list
# of 100,000 integers, which is many small values. Workers let go of what they got between visits.

# Not a plain sequence, of which R would send the ends only.
big_vector <- seq_len(1e7) + 0.5
big_list <- as.list(seq_len(1e5))
# It takes so little time that single calls say more of the worker's collections of garbage, and of
# memory that it touches for the first time, than of the list.
num_list_calls <- 10L
num_export_workers <- 8
# What 8 workers with a copy each, messages included, may need at most.
needed_mb <- 4000

to_one <- function(value) {
  list(needs = "clusterCall",
       cluster = function(cl, functions) {
         function() stopifnot(functions$clusterCall(cl, length, value)[[1]] == length(value))
       },
       mirai = function(profile) {
         function() {
           got <- mirai::mirai(length(x), x = value, .compute = profile)[]
           stopifnot(got == length(value))
         }
       },
       floor = function() call_bytes(length, list(value), 1L))
}

measures <- list(
  to_one = c(list(short = "to one", label = "80 MB to 1 worker", unit = "ms"), to_one(big_vector)),
  from_one = list(
    short = "from one", label = "80 MB from 1 worker", unit = "ms", needs = "clusterEvalQ",
    cluster = function(cl, functions) {
      parallel::clusterExport(cl, "big_vector")
      function() {
        stopifnot(length(functions$clusterEvalQ(cl, big_vector)[[1]]) == length(big_vector))
      }
    },
    mirai = function(profile) {
      mirai::everywhere({}, big_vector = big_vector, .compute = profile)[]
      function() {
        stopifnot(length(mirai::mirai(big_vector, .compute = profile)[]) == length(big_vector))
      }
    },
    floor = function() call_bytes(eval, list(quote(big_vector), envir = .GlobalEnv), big_vector)),
  list_to_one = c(
    list(short = "list to one", label = "list of 100,000 integers to 1", unit = "ms"),
    to_one(big_list)))

# -- To 8 workers ------------------------------------------------------------------------------

export_rows <- contestants[names(contestants) != "floor"]

export_to_all <- function(row, handle) {
  if (row$api == "mirai") {
    mirai::everywhere({}, big_vector = big_vector, .compute = handle)[]
  } else {
    api_function(row, "clusterExport")(handle, "big_vector")
  }
}

count_exported <- function(row, handle) {
  if (row$api == "mirai") return(mirai::everywhere(length(big_vector), .compute = handle)[])
  parallel::clusterCall(handle, function() length(big_vector))
}

# A visit has workers of its own: one contestant's copies are all that the machine has to hold.
# Starting them, a first call and stopping them are not counted.
time_export <- function(row) {
  handle <- row$start(num_export_workers)
  on.exit(stop_contestant(row, handle))
  if (row$api != "mirai") parallel::clusterCall(handle, Sys.getpid)
  invisible(gc())
  began <- Sys.time()
  export_to_all(row, handle)
  took_s <- as.numeric(difftime(Sys.time(), began, units = "secs"))
  stopifnot(unlist(count_exported(row, handle)) == length(big_vector))
  took_s * per_second[["ms"]]
}

measure_export <- function() {
  cells <- list()
  absences <- absence("floor", "-", "to_eight")
  for (name in names(export_rows)) local({
    row <- export_rows[[name]]
    reason <- if (!is_installed(row$package)) {
      "not installed"
    } else if (available_mb() < needed_mb) {
      sprintf("not measured: needs %d MB of memory", needed_mb)
    } else if (row$api != "mirai" && is.null(api_function(row, "clusterExport"))) {
      "not there"
    }
    if (is.null(reason)) {
      cell <- list(row = name, measure = "to_eight", visit = function() time_export(row))
      cells <<- c(cells, list(cell))
    } else {
      absences <<- rbind(absences, absence(name, reason, "to_eight"))
    }
  })
  cat("starting 8 workers for each export\n")
  join_outcomes(measure_interleaved(cells, min_rounds = 2), make_outcome(NULL, absences))
}

benchmark <- list(
  title = "How long big values take",
  subtitle = paste("A vector of 10,000,000 doubles and a list of 100,000 integers;",
                   "the line marks the median; further left is better"),
  heading = "Median time of one call in ms",
  rows = contestants, reference = "nodelay",
  measures = c(measures, list(to_eight = list(
    short = "to eight", label = "clusterExport(), 80 MB to 8", unit = "ms"))),
  targets = list(
    list(measure = "to_one", row = "nodelay", against = "parallelly_no_delay", at_most = 0.4),
    list(measure = "to_one", row = "nodelay_own", against = "parallelly_no_delay", at_most = 0.4),
    list(measure = "from_one", row = "nodelay", against = "parallelly_no_delay", at_most = 0.4),
    list(measure = "from_one", row = "nodelay_own", against = "parallelly_no_delay", at_most = 0.4),
    list(measure = "list_to_one", row = "nodelay", against = "parallelly_no_delay", at_most = 0.6),
    list(measure = "list_to_one", row = "nodelay_own", against = "parallelly_no_delay",
         at_most = 0.6),
    list(measure = "to_eight", row = "nodelay_own", against = "parallelly_no_delay",
         at_most = 0.1)),
  measure = function() {
    calls <- measure_contestants(
      contestants, measures, 1, min_rounds = 5, make_cell = function(row, measure, call) {
        num_calls <- if (measure == "list_to_one") num_list_calls else 1L
        make_slow_cell(row, measure, measures[[measure]]$unit, call, num_calls)
      })
    join_outcomes(calls, measure_export())
  })
