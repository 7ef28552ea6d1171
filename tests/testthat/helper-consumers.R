# SPDX-License-Identifier: MIT
# Packages that use clusters, run on one of nodelay's and on one of parallel's own: both have to give
# the same values, errors, warnings, messages and output.

cluster_of_parallel <- function(num_workers, frame = parent.frame()) {
  cl <- parallel::makePSOCKcluster(num_workers)
  withr::defer(parallel::stopCluster(cl), envir = frame)
  cl
}

# All that evaluating `expr` shows to its caller.
seen_of <- function(expr) {
  warnings <- messages <- character()
  value <- failure <- NULL
  output <- utils::capture.output(
    withCallingHandlers(
      tryCatch(value <- expr, error = function(e) failure <<- conditionMessage(e)),
      warning = function(w) {
        warnings <<- c(warnings, conditionMessage(w))
        invokeRestart("muffleWarning")
      },
      message = function(m) {
        messages <<- c(messages, conditionMessage(m))
        invokeRestart("muffleMessage")
      }
    )
  )
  list(value = value, failure = failure, warnings = warnings, messages = messages, output = output)
}

# Runs `use`, a function of a cluster, for each way to a worker and compares with parallel. What
# nodelay gave the last time is returned, for checks that it is not nothing.
expect_as_on_parallel <- function(use, num_workers = 2L) {
  expected <- seen_of(use(cluster_of_parallel(num_workers)))
  for (name in names(ways)) {
    seen <- seen_of(use(cluster_for(ways[[name]], I(num_workers))))
    testthat::expect_identical(!!seen, !!expected, label = paste("what was seen on", name, "workers"))
  }
  invisible(seen)
}
