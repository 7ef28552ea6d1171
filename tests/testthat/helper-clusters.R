# SPDX-License-Identifier: MIT
# Clusters for one test each: they are stopped, and their workers seen gone, when it ends.

library(parallel)

# The three ways in which nodelay speaks to a worker, as arguments of makeClusterPSOCK().
ways <- list(
  native = list(engine = "native"),
  tcp = list(engine = "native", transport = "tcp"),
  base = list(engine = "base")
)

local_cluster <- function(workers, ..., frame = parent.frame()) {
  cl <- makeClusterPSOCK(workers, ...)
  withr::defer(expect_cluster_ends(cl), envir = frame)
  cl
}

expect_cluster_ends <- function(cl) {
  pids <- pids_of(cl)
  stopCluster(cl)
  testthat::expect_false(any(is_running(pids)))
}

for_each_way <- function(test) for (name in names(ways)) test(ways[[name]], name)

cluster_for <- function(way, workers, ..., frame = parent.frame()) {
  do.call(local_cluster, c(list(workers), way, list(..., frame = frame)), quote = TRUE)
}

# The functions on whole clusters that both packages have; a test finds nodelay's where it does
# not say otherwise.
cluster_functions <- c(
  "clusterCall", "clusterEvalQ", "clusterExport", "clusterApply", "clusterApplyLB", "clusterMap", "parLapply",
  "parLapplyLB", "parSapply", "parSapplyLB"
)

# Lets the caller's code find the functions of `package`.
use_cluster_functions_of <- function(package, frame = parent.frame()) {
  for (name in cluster_functions) assign(name, getExportedValue(package, name), envir = frame)
}

pids_of <- function(cl) vapply(unclass(cl), attr, 0L, "pid")

# A function as a user would write it at top level: it takes nothing of the test along.
task <- function(fun) utils::removeSource(`environment<-`(fun, globalenv()))

# The value, or the condition that came instead.
outcome_of <- function(expr) tryCatch(expr, error = identity)

# Fails the test instead of hanging it.
within_seconds <- function(seconds, expr) {
  setTimeLimit(elapsed = seconds, transient = TRUE)
  on.exit(setTimeLimit())
  expr
}

seconds_for <- function(expr) system.time(expr)[["elapsed"]]

expect_argument_error <- function(expr, regexp = NULL) {
  testthat::expect_error(expr, regexp, class = "nodelay_error_argument")
}
