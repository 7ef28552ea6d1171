# SPDX-License-Identifier: MIT
# Measures how long 8 local workers take to start, with package parallel and with nodelay, in turn.
# A start ends when every worker has answered a first call. Stopping is not timed. The first start
# is shown by itself: nodelay's includes what later ones find ready.
#
#   Rscript bench/startup.R

library(parallel)

num_workers <- 8
num_rounds <- 5

makers <- list(
  parallel = list(label = "parallel::makePSOCKcluster(8)",
                  make = function() parallel::makePSOCKcluster(num_workers)),
  nodelay = list(label = "nodelay::makeClusterPSOCK(I(8))",
                 make = function() nodelay::makeClusterPSOCK(I(num_workers)))
)

time_start <- function(make) {
  began <- Sys.time()
  cl <- make()
  on.exit(stopCluster(cl))
  process_ids <- unlist(clusterCall(cl, Sys.getpid))
  took_ms <- as.numeric(difftime(Sys.time(), began, units = "secs")) * 1e3
  stopifnot(length(unique(process_ids)) == num_workers)
  took_ms
}

main <- function() {
  if (!requireNamespace("nodelay", quietly = TRUE)) {
    stop("package nodelay is not installed: run scripts/demo, or set R_LIBS to build/library",
         call. = FALSE)
  }
  took_ms <- matrix(NA_real_, num_rounds, length(makers), dimnames = list(NULL, names(makers)))
  for (round in seq_len(num_rounds)) {
    order <- if (round %% 2 == 1) names(makers) else rev(names(makers))
    for (name in order) took_ms[round, name] <- time_start(makers[[name]]$make)
    cat(sprintf("round %d of %d: %s\n", round, num_rounds,
                paste(sprintf("%s %.0f ms", names(makers), took_ms[round, ]), collapse = ", ")))
  }

  medians <- apply(took_ms, 2, stats::median)
  cat("\nStart of", num_workers, "workers until each has answered a call, ms\n\n")
  cat(sprintf("%-32s %10s %14s\n", "", "first", paste("median of", num_rounds)))
  for (name in names(makers)) {
    cat(sprintf("%-32s %10.0f %14.0f\n", makers[[name]]$label, took_ms[1, name], medians[[name]]))
  }
  cat(sprintf("\nnodelay starts %.1f times as fast (first start: %.1f times)\n",
              medians[["parallel"]] / medians[["nodelay"]],
              took_ms[1, "parallel"] / took_ms[1, "nodelay"]))
}

main()
