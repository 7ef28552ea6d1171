# SPDX-License-Identifier: MIT
skip_if_not_installed("snow")

test_that("snow's functions on a whole cluster give what they give on parallel's", {
  on_parallel_and_here <- function(use) expect_as_on_parallel(function(cl) use(cl))
  on_parallel_and_here(function(cl) snow::clusterCall(cl, function(x) x + 1, 1))
  on_parallel_and_here(function(cl) snow::clusterEvalQ(cl, nchar("word")))
  on_parallel_and_here(function(cl) snow::clusterApply(cl, 5:1, sqrt))
  on_parallel_and_here(function(cl) snow::clusterMap(cl, `+`, 1:5, 6:10))
  on_parallel_and_here(function(cl) snow::parLapply(cl, 1:5, sqrt))
  on_parallel_and_here(function(cl) snow::parSapply(cl, 1:5, sqrt))
})

test_that("snow balances load over a cluster", {
  seen <- expect_as_on_parallel(function(cl) snow::clusterApplyLB(cl, 1:20, function(i) i^2))
  expect_identical(seen$value, lapply(1:20, function(i) i^2))
})

test_that("an error of a task is one of snow's", {
  seen <- expect_as_on_parallel(function(cl) snow::clusterCall(cl, function() stop("no luck")))
  expect_match(seen$failure, "no luck")
})

test_that("snow exports variables and splits work", {
  expect_as_on_parallel(function(cl) {
    exported <- 5
    snow::clusterExport(cl, "exported", envir = environment())
    snow::clusterEvalQ(cl, exported + 1)
  })
  expect_as_on_parallel(function(cl) snow::clusterSplit(cl, 1:7))
})

test_that("snow stops a cluster", {
  cl <- makeClusterPSOCK(2)
  pids <- pids_of(cl)
  snow::stopCluster(cl)
  expect_false(any(is_running(pids)))
  expect_error(snow::clusterCall(cl, identity, 1), class = "nodelay_error_stopped")
})

test_that("snow's call on a lost worker says so", {
  cl <- local_cluster(2)
  tools::pskill(pids_of(cl)[2], tools::SIGKILL)
  expect_error(snow::clusterCall(cl, identity, 1), class = "nodelay_error_worker_lost")
})
