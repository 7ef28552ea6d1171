# SPDX-License-Identifier: MIT
# How near load balancing of uneven tasks comes to the best schedule: one task of 2 s and then
# twenty of 0.1 s on two workers, which nothing can do in less than 2 s. The tasks sleep, so that
# CPUs play no part in it.

task_seconds <- c(2, rep(0.1, 20))
best_seconds <- 2
num_workers <- 2

# Package parallel is left out: it balances parallelly's clusters too.
rows <- contestants[c("parallelly_no_delay", "mirai_cluster", "mirai", "nodelay", "nodelay_own")]

# The task's value, so that the order of the values can be checked.
sleep_for <- function(seconds) {
  Sys.sleep(seconds)
  seconds
}
environment(sleep_for) <- globalenv()

make_balance_cell <- function(row, measure, run) {
  list(row = row, measure = measure, visit = function() {
    began <- Sys.time()
    values <- run()
    took_s <- as.numeric(difftime(Sys.time(), began, units = "secs"))
    if (!identical(unlist(values), task_seconds)) stop("wrong values")
    took_s / best_seconds
  })
}

measures <- list(
  single = list(
    short = "chunk.size = 1", label = "parLapplyLB(cl, x, f, chunk.size = 1)",
    unit = "x best schedule", needs = "parLapplyLB",
    cluster = function(cl, functions) {
      function() functions$parLapplyLB(cl, task_seconds, sleep_for, chunk.size = 1)
    },
    mirai = function(profile) {
      function() mirai::mirai_map(task_seconds, sleep_for, .compute = profile)[]
    }),
  default = list(
    short = "as it comes", label = "parLapplyLB(cl, x, f)",
    unit = "x best schedule", needs = "parLapplyLB",
    cluster = function(cl, functions) {
      function() functions$parLapplyLB(cl, task_seconds, sleep_for)
    })
)

benchmark <- list(
  title = "How near load balancing comes to the best schedule",
  subtitle = paste("One task of 2 s, then twenty of 0.1 s, on two workers; mirai's daemons by",
                   "mirai_map(); the line marks the median; 1 is best"),
  heading = "Median time, relative to the best schedule's 2 s",
  rows = rows, measures = measures, reference = "nodelay",
  one_axis = TRUE,
  targets = list(
    list(measure = "single", row = "nodelay", at_most = 1.02),
    list(measure = "single", row = "nodelay_own", at_most = 1.02),
    list(measure = "default", row = "nodelay_own", at_most = 1.02)),
  measure = function() {
    measure_contestants(rows, measures, num_workers, make_balance_cell, min_rounds = 2)
  })
