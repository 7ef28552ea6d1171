# SPDX-License-Identifier: MIT

parallel_cluster <- function(workers, frame = parent.frame()) {
  cl <- parallel::makePSOCKcluster(workers)
  withr::defer(stopCluster(cl), envir = frame)
  cl
}

fake_node <- function(...) structure(list(host = "localhost"), class = c(...))

test_that("a node makes a cluster of its own kind", {
  expect_s3_class(as.cluster(fake_node("SOCKnode")), c("SOCKcluster", "cluster"), exact = TRUE)
  expect_s3_class(as.cluster(fake_node("forknode", "SOCK0node")), c("SOCKcluster", "cluster"), exact = TRUE)
  expect_s3_class(as.cluster(fake_node("RichSOCKnode", "SOCK0node")), c("RichSOCKcluster", "SOCKcluster", "cluster"), exact = TRUE)
  cl <- local_cluster(2)
  single <- as.cluster(cl[[2]])
  expect_s3_class(single, class(cl), exact = TRUE)
  expect_identical(unlist(clusterCall(single, Sys.getpid)), pids_of(cl)[2])
})

test_that("a cluster stays as it is", {
  cl <- local_cluster(1)
  expect_identical(as.cluster(cl), cl)
})

test_that("nodelay's clusters make one that does all that they do", {
  first <- local_cluster(2)
  second <- local_cluster(1, engine = "base")
  cl <- c(first, second)
  expect_s3_class(cl, class(first), exact = TRUE)
  expect_null(names(cl))
  expect_identical(unlist(clusterCall(cl, Sys.getpid)), c(pids_of(first), pids_of(second)))
  expect_identical(clusterApplyLB(cl, 1:9, task(function(i) i^2)), as.list((1:9)^2))
  expect_identical(as.cluster(list(first, second[[1]])), cl)
})

test_that("a cluster of package parallel and one of nodelay make one that does what both do", {
  plain <- parallel_cluster(1)
  pid <- clusterCall(plain, Sys.getpid)[[1]]
  for_each_way(function(way, name) {
    rich <- cluster_for(way, 2)
    for (cl in list(c(rich, plain), c(plain, rich), c(c(rich[1], plain), rich[2]), as.cluster(list(plain, rich[[1]], rich[[2]])))) {
      expect_s3_class(cl, c("nodelay_mixed_cluster", "SOCKcluster", "cluster"), exact = TRUE)
      expect_setequal(unlist(clusterCall(cl, Sys.getpid)), c(pids_of(rich), pid))
      clusterExport(cl, "shared", list2env(list(shared = 7)))
      expect_identical(unlist(clusterEvalQ(cl, shared)), c(7, 7, 7))
      expect_identical(parLapply(cl, 1:7, task(function(i) i)), as.list(1:7))
      expect_identical(clusterApplyLB(cl, 1:20, task(function(i) i^2)), as.list((1:20)^2))
      expect_identical(parLapplyLB(cl[2:3], 1:7, task(function(i) i)), as.list(1:7))
      pids <- unlist(clusterApplyLB(cl, 1:12, task(function(i) { Sys.sleep(0.05); Sys.getpid() })))
      expect_setequal(pids, c(pids_of(rich), pid))
    }
  })
  expect_s3_class(c(plain, plain), c("SOCKcluster", "cluster"), exact = TRUE) |> expect_warning("duplicated")
})

test_that("a cluster of parallelly and one of nodelay make one that balances load and can be printed", {
  skip_if_not_installed("parallelly")
  rich <- local_cluster(1)
  other <- parallelly::makeClusterPSOCK(1)
  withr::defer(stopCluster(other))
  for (cl in list(c(rich, other), c(other, rich))) {
    expect_identical(clusterApplyLB(cl, 1:6, task(function(i) i)), as.list(1:6))
    expect_identical(isNodeAlive(cl), c(TRUE, TRUE))
    expect_match(capture.output(print(cl)), "^Socket cluster with 2 nodes on host 'localhost'")
  }
})

test_that("a lost worker of nodelay's ends the balancing of load over two kinds of nodes with its fate", {
  rich <- local_cluster(1)
  plain <- parallel_cluster(1)
  die <- task(function(i) if (i == 1L) tools::pskill(Sys.getpid(), 9L) else i)
  expect_error(clusterApplyLB(c(rich, plain), 1:2, die), class = "nodelay_error_worker_lost")
})

test_that("a failed call on nodes of two kinds leaves no stale result on nodelay's", {
  rich <- local_cluster(2)
  cl <- c(rich, fake_node("SOCKnode"))
  expect_error(clusterCall(cl, task(function() "stale")))
  expect_identical(clusterCall(rich, task(function() "fresh")), list("fresh", "fresh"))
})

test_that("stopping a cluster of two kinds passes over a worker that is lost", {
  rich <- local_cluster(1)
  plain <- parallel::makePSOCKcluster(1)
  pid <- clusterCall(plain, Sys.getpid)[[1]]
  tools::pskill(pids_of(rich), tools::SIGKILL)
  expect_true(wait_until(function() node_state(node_handle(rich[[1]]))$state == "lost"))
  stopCluster(c(rich, plain))
  expect_true(wait_until(function() !is_running(pid)))
})

test_that("joining warns of nodes that appear more than once", {
  cl <- local_cluster(2)
  expect_warning(joined <- c(cl, cl[2]), "duplicated nodes.*: #3")
  expect_length(joined, 3)
  expect_silent(c(cl[1], cl[2]))
})

test_that("what is no node makes no cluster", {
  for (bad in list(1, list(), list(1), NULL, "localhost")) expect_argument_error(as.cluster(bad))
})
