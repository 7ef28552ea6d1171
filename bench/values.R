# SPDX-License-Identifier: MIT
# How long it takes what people send to workers and get back: data that a function captured,
# environments, attributes, strings, data frames, lists and models. Nothing of it is a sequence, of
# which R would send the ends only, and every result is checked, after the clock was read. Workers
# collect their garbage after each call, so what one call left behind is no part of the next.

num_rounds <- 3
calls_per_visit <- 2

rows <- contestants[c("parallelly_no_delay", "nodelay", "nodelay_own")]

# What a measure's cluster() makes: run() is timed, and is_right() looks at what it returned.
checked_call <- function(cl, run, is_right) list(cl = cl, run = run, is_right = is_right)

# The first call of a visit is not counted: a virtual machine may give memory that is free back to
# its host, and what comes from there costs several times as much as what was used a moment ago.
make_checked_cell <- function(row, measure, call) {
  collect_at_workers <- function() parallel::clusterCall(call$cl, gc)
  time_once <- function(i) {
    invisible(gc())
    began <- Sys.time()
    result <- call$run()
    took_s <- as.numeric(difftime(Sys.time(), began, units = "secs"))
    stopifnot("the result is wrong" = call$is_right(result))
    collect_at_workers()
    took_s * per_second[["ms"]]
  }
  list(row = row, measure = measure, visit = function() {
    call$run()
    collect_at_workers()
    vapply(seq_len(calls_per_visit), time_once, 0)
  })
}

# `at_most`: the targets, as multiples of parallelly's time, of parallel's unmodified functions on
# nodelay's workers and of nodelay's own.
make_measure <- function(short, label, at_most, needs, cluster) {
  list(short = short, label = label, unit = "ms",
       at_most = c(nodelay = at_most[1], nodelay_own = at_most[2]), needs = needs,
       cluster = cluster)
}

# -- Captured by a function, to 2 workers ------------------------------------------------------

capture_numbers <- function(n) {
  big <- runif(n)
  function(i) sum(big) + i
}

capture_and_ignore <- function(n) {
  ignored <- runif(n)
  function(i) i + 0.5
}

words <- c("control", "low dose", "high dose")

capture_frame <- function(n) {
  frame <- data.frame(amount = runif(n), count = sample.int(n), dose = sample(words, n, TRUE))
  function(i) paste(frame$dose[[i]], frame$count[[i]], sum(frame$amount))
}

# R compiles what it calls repeatedly. What travels stays as it was written, as in most scripts.
call_copy <- function(fun, ...) compiler::cmpfun(fun)(...)

# Calls the function `name` with the numbers up to `num_tasks` and `fun`.
captured <- function(short, label, at_most, name, num_tasks, fun) {
  tasks <- seq_len(num_tasks)
  expected <- lapply(tasks, function(i) call_copy(fun, i))
  make_measure(short, label, at_most, name, function(cl, functions) {
    checked_call(cl, run = function() functions[[name]](cl, tasks, fun),
                 is_right = function(result) identical(result, expected))
  })
}

captured_measures <- list(
  captured_80 = captured("80 MB captured", "parLapply() of 4, 80 MB captured", c(0.30, 0.25),
                         "parLapply", 4, capture_numbers(1e7)),
  captured_8 = captured("8 MB captured", "clusterApplyLB() of 40, 8 MB captured", c(0.25, 0.08),
                        "clusterApplyLB", 40, capture_numbers(1e6)),
  captured_frame = captured("frame captured", "parLapply() of 4, frame of 1,000,000 rows captured",
                            c(0.35, 0.30), "parLapply", 4, capture_frame(1e6)),
  ignored_240 = captured("240 MB ignored", "parLapply() of 4, 240 MB captured, not used",
                         c(0.30, 0.30), "parLapply", 4, capture_and_ignore(3e7)))

# -- Captured by a function, exported to 8 workers ---------------------------------------------

# As packages for models do that are fitted to many sites.
capture_sites <- function() {
  forcing <- lapply(seq_len(60), function(i) {
    data.frame(date = as.Date("2010-01-01") + seq_len(3650), t = rnorm(3650), s = "CZ")
  })
  target <- rnorm(1e6)
  function(par) sum(par) + length(forcing) + length(target)
}
cost_of_sites <- capture_sites()
expected_cost <- call_copy(cost_of_sites, 0.5)

# What each worker makes of it; it does not keep it until the next export.
use_and_remove <- function() {
  cost <- cost_of_sites(0.5)
  rm(cost_of_sites, envir = globalenv())
  cost
}

export_measures <- list(
  exported = make_measure(
    "export", "clusterExport() to 8, 60 frames and 8 MB captured", c(0.25, 0.20), "clusterExport",
    function(cl, functions) {
      checked_call(cl, run = function() functions$clusterExport(cl, "cost_of_sites"),
                   is_right = function(result) {
                     unlist(parallel::clusterCall(cl, use_and_remove)) == expected_cost
                   })
    }))

# -- To one worker, and back from it -----------------------------------------------------------

# Calls `fun` of `value` at the worker.
to_one <- function(short, label, at_most, value, fun = length) {
  expected <- call_copy(fun, value)
  make_measure(short, paste(label, "to 1 worker"), at_most, "clusterCall",
               function(cl, functions) {
                 checked_call(cl, run = function() functions$clusterCall(cl, fun, value),
                              is_right = function(result) identical(result[[1]], expected))
               })
}

# Gets the worker's variable `name`, which has the value that it has here.
from_one <- function(short, label, at_most, name) {
  make_measure(short, paste(label, "from 1 worker"), at_most, "clusterEvalQ",
               function(cl, functions) {
                 parallel::clusterExport(cl, name)
                 get_back <- list(cl, as.name(name))
                 checked_call(cl, run = function() do.call(functions$clusterEvalQ, get_back),
                              is_right = function(result) identical(result[[1]], get(name)))
               })
}

numbers <- runif(1e7)
many_strings <- sprintf("sample %06d", sample.int(2e5))
few_strings <- sample(c(words, NA), 4e5, TRUE)
doses <- factor(sample(words, 1e6, TRUE))
frame <- data.frame(amount = runif(1e5), count = sample.int(1e5), label = sample(words, 1e5, TRUE),
                    dose = factor(sample(words, 1e5, TRUE)))
nested_lists <- lapply(seq_len(1e4), function(i) list(a = i, b = list(c = "x", d = i / 2)))
small_frames <- lapply(seq_len(500), function(i) {
  data.frame(time = runif(10), count = sample.int(10), site = "CZ")
})
model <- lm(mpg ~ ., mtcars[rep(seq_len(nrow(mtcars)), 320), ])

both_ways <- list(
  many_strings = list(short = "strings", label = "200,000 different strings"),
  few_strings = list(short = "few", label = "400,000 strings of 3 values and NA"),
  doses = list(short = "factor", label = "a factor of 1,000,000"),
  frame = list(short = "frame", label = "a data frame of 100,000 rows"),
  nested_lists = list(short = "nested", label = "10,000 nested lists"),
  small_frames = list(short = "frames", label = "500 small data frames"),
  model = list(short = "lm", label = "a linear model of 10,240 rows"))

measure_each <- function(prefix, make) {
  measures <- lapply(names(both_ways), function(name) make(name, both_ways[[name]]))
  names(measures) <- paste0(prefix, names(both_ways))
  measures
}

to_measures <- c(
  list(to_environment = to_one("environment", "an environment with 80 MB", c(0.30, 0.25),
                               list2env(list(big = numbers), parent = globalenv()),
                               function(e) sum(e$big)),
       to_attribute = to_one("attribute", "3 numbers with an attribute of 40 MB", c(0.35, 0.25),
                             structure(c(2.5, 3.5, 5.5), draws = runif(5e6)),
                             function(x) length(attr(x, "draws"))),
       to_list = to_one("to: list", "a list of 100,000 numbers", c(0.50, 0.50),
                        as.list(runif(1e5)))),
  measure_each("to_", function(name, value) {
    to_one(paste("to:", value$short), value$label, c(0.50, 0.50), get(name))
  }))

from_measures <- c(
  list(from_numbers = from_one("back: numbers", "80 MB of numbers", c(0.45, 0.45), "numbers")),
  measure_each("from_", function(name, value) {
    from_one(paste("back:", value$short), value$label, c(0.55, 0.55), name)
  }))

# -- All of it ---------------------------------------------------------------------------------

measures <- c(captured_measures, export_measures, to_measures, from_measures)

targets_of <- function(measure) {
  lapply(c("nodelay", "nodelay_own"), function(row) {
    list(measure = measure, row = row, against = "parallelly_no_delay",
         at_most = measures[[measure]]$at_most[[row]])
  })
}

measure_on <- function(num_workers, measures) {
  measure_contestants(rows, measures, num_workers, make_checked_cell, min_rounds = num_rounds)
}

benchmark <- list(
  title = "How long it takes what travels between main process and workers",
  subtitle = "Each point is a call, the line marks the median; further left is better",
  heading = "Median time of one call in ms",
  rows = rows, measures = measures, reference = "nodelay",
  targets = unlist(lapply(names(measures), targets_of), recursive = FALSE),
  measure = function() {
    join_outcomes(measure_on(2, captured_measures), measure_on(8, export_measures),
                  measure_on(1, to_measures), measure_on(1, from_measures))
  })
