# SPDX-License-Identifier: MIT

local_sequential <- function(frame = parent.frame()) {
  cl <- makeClusterSequential()
  withr::defer(stopCluster(cl), envir = frame)
  cl
}

test_that("functions of package parallel give on it what they give on a worker", {
  cl <- local_sequential()
  expect_s3_class(cl, c("nodelay_sequential_cluster", "sequential_cluster", "cluster"), exact = TRUE)
  expect_identical(clusterCall(cl, Sys.getpid), list(Sys.getpid()))
  expect_identical(parLapply(cl, 1:3, sqrt), lapply(1:3, sqrt))
  expect_identical(parSapply(cl, 1:3, task(function(i, n) i^n), n = 2), c(1, 4, 9))
  expect_identical(clusterApplyLB(cl, 1:4, task(function(i) -i)), lapply(1:4, `-`))
  expect_identical(clusterMap(cl, `+`, 1:2, 3:4, .scheduling = "dynamic"), list(4L, 6L))
  expect_identical(clusterCall(cl, "paste", "a", "b"), list("a b"))
  expect_error(clusterCall(cl, stop, "oops"), "one node produced an error: oops")
  expect_identical(clusterCall(cl, task(function() "after an error")), list("after an error"))
})

test_that("it evaluates in an environment of its own, below the global one", {
  cl <- local_sequential()
  expect_identical(clusterEvalQ(cl, { sequential_variable <- 42; sequential_variable }), list(42))
  expect_false(exists("sequential_variable"))
  expect_identical(clusterCall(cl, task(function() sequential_variable)), list(42))
  clusterCall(cl, assign, "sequential_variable", 43, envir = globalenv())
  clusterEvalQ(cl, assign("other_variable", 44, envir = .GlobalEnv))
  expect_identical(clusterEvalQ(cl, c(sequential_variable, other_variable)), list(c(43, 44)))
  expect_false(exists("sequential_variable") || exists("other_variable"))
  expect_identical(clusterEvalQ(local_sequential(), exists("sequential_variable")), list(FALSE))
})

test_that("clusterExport() exports into that environment", {
  cl <- local_sequential()
  clusterExport(cl, "exported_variable", list2env(list(exported_variable = 1)))
  expect_false(exists("exported_variable"))
  expect_identical(clusterEvalQ(cl, exported_variable), list(1))
  expect_identical(parSapply(cl, 1:2, task(function(i) i + exported_variable)), c(2, 3))
})

test_that("clusterSetRNGStream() gives it the stream of a worker and leaves the session's alone", {
  cl <- local_sequential()
  worker <- local_cluster(1)
  draw <- function(cl) {
    clusterSetRNGStream(cl, 42)
    c(parSapply(cl, 1:2, task(function(i) runif(1))), clusterCall(cl, rnorm, 1)[[1]])
  }
  expected <- draw(worker)
  set.seed(7)
  kind <- RNGkind()
  before <- .Random.seed
  expect_identical(draw(cl), expected)
  expect_identical(draw(cl), expected)
  expect_identical(.Random.seed, before)
  expect_identical(RNGkind(), kind)
})

test_that("its node is local, not forked, and makes a cluster", {
  cl <- local_sequential()
  expect_identical(isLocalhostNode(cl), TRUE)
  expect_identical(isForkedNode(cl), FALSE)
  expect_identical(as.cluster(cl[[1]]), cl)
  expect_output(print(cl), "^Sequential cluster with 1 node in this R session$")
  expect_output(print(cl[[1]]), "^Node of a sequential cluster")
})

test_that("after stopCluster() its use is an error, and stopping again is not", {
  cl <- makeClusterSequential()
  stopCluster(cl)
  expect_error(clusterCall(cl, sqrt, 1), class = "nodelay_error_stopped")
  expect_error(parLapply(cl, 1:2, sqrt), class = "nodelay_error_stopped")
  expect_silent(stopCluster(cl))
  expect_output(print(cl), "has been stopped")
})

test_that("the message that ends a worker ends it, and one of unknown type does no harm", {
  cl <- makeClusterSequential()
  parallel:::sendData(cl[[1]], list(type = "UNKNOWN"))
  expect_identical(clusterCall(cl, sqrt, 4), list(2))
  parallel:::sendData(cl[[1]], list(type = "DONE"))
  expect_error(clusterCall(cl, sqrt, 4), class = "nodelay_error_stopped")
})

test_that("asking for a reply that nobody owes is an error", {
  expect_argument_error(parallel:::recvResult(local_sequential()[[1]]), "no call to answer")
})
