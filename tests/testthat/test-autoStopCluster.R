# SPDX-License-Identifier: MIT

test_that("a worker of package parallel ends when its node is collected, and not before", {
  cl <- autoStopCluster(parallel::makePSOCKcluster(2))
  expect_true(is.environment(attr(cl, "gcMe")))
  pids <- unlist(clusterCall(cl, Sys.getpid))
  subset <- cl[1]
  rm(cl)
  gc()
  expect_true(wait_until(function() !is_running(pids[2])))
  expect_identical(clusterCall(subset, Sys.getpid), list(pids[1]))
  rm(subset)
  gc()
  expect_true(wait_until(function() !is_running(pids[1])))
})

test_that("a subset of a cluster of nodelay stays usable when the cluster is collected", {
  cl <- autoStopCluster(makeClusterPSOCK(2))
  pids <- pids_of(cl)
  subset <- cl[1]
  rm(cl)
  gc()
  expect_true(wait_until(function() !is_running(pids[2])))
  expect_identical(clusterCall(subset, Sys.getpid), list(pids[1]))
  rm(subset)
  gc()
  expect_true(wait_until(function() !is_running(pids[1])))
})

test_that("asking twice changes nothing", {
  cl <- autoStopCluster(makeClusterPSOCK(1))
  expect_identical(autoStopCluster(cl), cl)
  stopCluster(cl)
})

test_that("collecting a cluster that was stopped leaves alone who has its connection's number now", {
  cl <- autoStopCluster(parallel::makePSOCKcluster(1))
  index <- as.integer(unclass(cl)[[1]]$con)
  stopCluster(cl)
  files <- list()
  on.exit(for (con in files) close(con))
  while (!index %in% vapply(files, as.integer, 0L)) files <- c(files, list(file(withr::local_tempfile(), "w+b")))
  successor <- files[[length(files)]]
  rm(cl)
  gc()
  expect_true(isConnectionValid(successor))
  expect_length(readBin(successor, "raw", 1), 0)
})

test_that("a cluster of another kind is stopped as a whole", {
  cl <- autoStopCluster(makeClusterSequential())
  worker <- attr(unclass(cl)[[1]], "worker")
  expect_false(worker$is_stopped)
  rm(cl)
  gc()
  expect_true(worker$is_stopped)
})

test_that("with debug a message tells what is finalized, and without there is none", {
  # What a finalizer signals reaches no handler.
  said_of <- function(make, debug) {
    capture.output(type = "message", {
      autoStopCluster(make(), debug = debug)
      invisible(gc())
    })
  }
  sequential <- function() makeClusterSequential()
  native <- function() makeClusterPSOCK(2)
  plain <- function() parallel::makePSOCKcluster(1)
  expect_identical(said_of(sequential, TRUE), "Finalizing cluster of class nodelay_sequential_cluster, which was garbage collected")
  expect_match(said_of(native, TRUE), "^Finalizing cluster of class nodelay_cluster with 2 nodes")
  said <- said_of(plain, TRUE)
  expect_length(said, 2)
  expect_match(said, "^Finalizing cluster of class SOCKcluster")
  for (make in list(sequential, native, plain)) expect_identical(said_of(make, FALSE), character())
})

test_that("what is no cluster is an error", {
  for (bad in list(1, NULL, list())) expect_argument_error(autoStopCluster(bad), "'cl'")
  expect_argument_error(autoStopCluster(makeClusterSequential(), debug = NA), "'debug'")
})
