# SPDX-License-Identifier: MIT
# How many tiny tasks a second two local workers get done when each takes the next as it is free.

num_tasks <- 10000
num_workers <- 2
expected <- as.list(seq_len(num_tasks))

# Calls `run`, which returns the tasks' values, and gives the tasks done in a second.
make_throughput_cell <- function(row, measure, run) {
  list(row = row, measure = measure, visit = function() {
    began <- Sys.time()
    values <- run()
    took_s <- as.numeric(difftime(Sys.time(), began, units = "secs"))
    if (!identical(values, expected)) stop("wrong values")
    num_tasks / took_s
  })
}

measures <- list(
  tasks = list(
    short = "tasks/s", label = "clusterApplyLB(cl, 1:10000, identity)", unit = "tasks/s",
    needs = "clusterApplyLB",
    cluster = function(cl, functions) {
      clusterApplyLB <- functions$clusterApplyLB
      function() clusterApplyLB(cl, seq_len(num_tasks), identity)
    },
    mirai = function(profile) {
      function() mirai::mirai_map(seq_len(num_tasks), identity, .compute = profile)[]
    }))

benchmark <- list(
  title = "How many tiny tasks a second two local workers get done",
  subtitle = paste("10,000 tasks, load balanced; mirai's daemons by mirai_map();",
                   "the line marks the median; further right is better"),
  heading = "Median of tasks done in a second",
  rows = contestants[names(contestants) != "floor"], measures = measures, reference = "nodelay",
  targets = list(
    list(measure = "tasks", row = "nodelay_own", against = "parallelly_no_delay", at_least = 8),
    list(measure = "tasks", row = "nodelay_own", against = "mirai", at_least = 8)),
  measure = function() {
    measure_contestants(benchmark$rows, measures, num_workers, make_throughput_cell, min_rounds = 3)
  })
