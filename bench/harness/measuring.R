# SPDX-License-Identifier: MIT
# Measures cells (a row and a measure) in turn: every round visits each cell once, beginning with
# another row each time, so that whatever else the machine does hits all alike.
#
# A cell is list(row, measure, visit); visit() returns one or more values in the measure's unit.
# An outcome is list(values, absences): values is a data frame of row, measure and value; absences,
# of row, measure (NA: all) and reason, tells why a cell has no value.

min_calls_per_visit <- 2
max_calls_per_visit <- 400
default_visit_ms <- 4

per_second <- c(us = 1e6, ms = 1e3, s = 1)

absence <- function(row, reason, measure = NA_character_) {
  data.frame(row = row, measure = measure, reason = reason)
}

no_absences <- absence(character(), character(), character())

make_outcome <- function(values = NULL, absences = no_absences) {
  list(values = values, absences = absences)
}

join_outcomes <- function(...) {
  outcomes <- list(...)
  make_outcome(do.call(rbind, lapply(outcomes, `[[`, "values")),
               do.call(rbind, lapply(outcomes, `[[`, "absences")))
}

# -- Cells -------------------------------------------------------------------------------------

# The latency of each of `num_calls` calls in a row, in s. The first call is not counted: after a
# pause Linux acknowledges the first segments at once, which hides the delay that every further
# call meets. The clock adds about 1 us to each.
time_calls <- function(call, num_calls) {
  at <- numeric(num_calls + 1L)
  call()
  at[1L] <- Sys.time()
  for (i in seq_len(num_calls)) {
    call()
    at[i + 1L] <- Sys.time()
  }
  diff(at)
}

# Fast calls are made more often in a visit than slow ones, so that a round stays short.
choose_num_calls <- function(call, visit_ms) {
  typical_ms <- stats::median(time_calls(call, 5L)) * 1e3
  as.integer(min(max_calls_per_visit, max(min_calls_per_visit, visit_ms %/% typical_ms)))
}

# Times `call` several times in each visit.
make_call_cell <- function(row, measure, unit, call, visit_ms = default_visit_ms) {
  call <- compiler::cmpfun(call)
  num_calls <- choose_num_calls(call, visit_ms)
  list(row = row, measure = measure,
       visit = function() time_calls(call, num_calls) * per_second[[unit]])
}

# Times `call` in each visit `num_calls` times, each after a collection of garbage.
make_slow_cell <- function(row, measure, unit, call, num_calls = 1L) {
  time_once <- function(i) {
    invisible(gc())
    began <- Sys.time()
    call()
    took_s <- as.numeric(difftime(Sys.time(), began, units = "secs"))
    took_s * per_second[[unit]]
  }
  list(row = row, measure = measure, visit = function() vapply(seq_len(num_calls), time_once, 0))
}

# -- Rounds ------------------------------------------------------------------------------------

show_progress <- function(fraction, num_rounds) {
  text <- sprintf("measuring: %3.0f %%, round %d", floor(100 * fraction), num_rounds)
  if (isatty(stdout())) {
    cat("\r", text, if (fraction >= 1) "\n", sep = "")
  } else {
    cat(text, "\n", sep = "")
  }
  flush(stdout())
}

# Visits until `seconds` have passed and there were `min_rounds` rounds. A cell that fails has no
# values and is not visited again.
measure_interleaved <- function(cells, seconds = 0, min_rounds = 3) {
  row_of_cell <- vapply(cells, `[[`, "", "row")
  rows <- unique(row_of_cell)
  values <- rep(list(numeric()), length(cells))
  failures <- rep(NA_character_, length(cells))
  began <- proc.time()[["elapsed"]]
  num_rounds <- 0L
  num_visits <- 0L
  shown <- 0
  repeat {
    order <- rows[(seq_along(rows) - 1L + num_rounds %% length(rows)) %% length(rows) + 1L]
    for (i in unlist(lapply(order, function(row) which(row_of_cell == row)))) {
      if (is.na(failures[i])) tryCatch(
        values[[i]] <- c(values[[i]], cells[[i]]$visit()),
        error = function(e) failures[i] <<- paste("failed:", conditionMessage(e)))
      num_visits <- num_visits + 1L
      elapsed <- proc.time()[["elapsed"]] - began
      fraction <- min(1, num_visits / (min_rounds * length(cells)),
                      if (seconds > 0) elapsed / seconds)
      if (fraction < 1 && fraction >= shown + 0.1) {
        show_progress(fraction, num_rounds + 1L)
        shown <- fraction
      }
    }
    num_rounds <- num_rounds + 1L
    if (fraction >= 1) break
  }
  show_progress(1, num_rounds)
  outcomes <- lapply(seq_along(cells), function(i) {
    row <- cells[[i]]$row
    measure <- cells[[i]]$measure
    if (!is.na(failures[i])) return(make_outcome(NULL, absence(row, failures[i], measure)))
    make_outcome(data.frame(row = row, measure = measure, value = values[[i]]))
  })
  do.call(join_outcomes, outcomes)
}
