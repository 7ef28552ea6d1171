# SPDX-License-Identifier: MIT

kill_worker <- function(node, signal = tools::SIGKILL) tools::pskill(attr(node, "pid"), signal)

state_of <- function(node) process_stat(attr(node, "pid"))[1L]

test_that("workers are alive until they have ended", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    expect_identical(isNodeAlive(cl), c(TRUE, TRUE), label = name)
    kill_worker(cl[[2]])
    expect_true(wait_until(function() !isNodeAlive(cl[[2]])), label = name)
    expect_false(is_running(attr(cl[[2]], "pid")), label = name)
    expect_identical(isNodeAlive(cl), c(TRUE, FALSE), label = name)
    expect_identical(isNodeAlive(cl[[1]]), TRUE, label = name)
    expect_identical(isNodeAlive(cl[[2]]), FALSE, label = name)
    stopCluster(cl)
    expect_identical(isNodeAlive(cl), c(FALSE, FALSE), label = name)
  })
})

test_that("a worker whose connection is closed is not alive, even if its process is", {
  cl <- local_cluster(1, engine = "base")
  parallel:::sendCall(cl[[1]], task(function() {
    for (index in setdiff(getAllConnections(), 0:2)) close(getConnection(index))
    repeat Sys.sleep(1)
  }), list())
  expect_true(wait_until(function() !isNodeAlive(cl)))
})

test_that("a suspended worker is alive, but does not answer in time", {
  cl <- local_cluster(2)
  kill_worker(cl[[1]], tools::SIGSTOP)
  withr::defer(kill_worker(cl[[1]], tools::SIGCONT))
  expect_true(wait_until(function() identical(state_of(cl[[1]]), "T")))
  expect_identical(isNodeAlive(cl), c(TRUE, TRUE))
  expect_identical(isNodeAlive(cl, timeout = 0.5), c(FALSE, TRUE))
  kill_worker(cl[[1]], tools::SIGCONT)
  expect_identical(isNodeAlive(cl, timeout = 20), c(TRUE, TRUE))
})

test_that("native workers answer in the middle of a call, and base-R workers are not asked", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    go <- withr::local_tempfile()
    parallel:::sendCall(cl[[1]], task(function(go) {
      while (!file.exists(go)) {}
      "done"
    }), list(go))
    for (i in 1:3) expect_identical(isNodeAlive(cl, timeout = 20), TRUE, label = name)
    file.create(go)
    expect_identical(within_seconds(20, parallel:::recvResult(cl[[1]])), "done", label = name)
    expect_identical(within_seconds(20, clusterCall(cl, identity, 1)), list(1), label = name)
  })
})

test_that("asking disturbs no call whose result has come", {
  cl <- local_cluster(1)
  for (x in c("a", "b")) parallel:::sendCall(cl[[1]], identity, list(x))
  expect_identical(isNodeAlive(cl, timeout = 20), TRUE)
  parallel:::sendCall(cl[[1]], identity, list("c"))
  expect_identical(isNodeAlive(cl, timeout = 20), TRUE)
  for (x in c("a", "b", "c")) expect_identical(within_seconds(20, parallel:::recvResult(cl[[1]])), x)
})

test_that("of nodes of other sessions and packages it cannot be told", {
  cl <- local_cluster(1)
  expect_identical(isNodeAlive(unserialize(serialize(cl, NULL))), NA)
  expect_identical(unlist(mccollect(mcparallel(isNodeAlive(cl, timeout = 1))), use.names = FALSE), NA)
  psock <- makePSOCKcluster(1)
  withr::defer(stopCluster(psock))
  expect_identical(isNodeAlive(psock), NA)
  expect_identical(isNodeAlive(c(cl, psock)), c(TRUE, NA))
  expect_identical(isNodeAlive(1), NA)
})

test_that("parallelly's own function knows nodelay's nodes, and nodelay's those of parallelly", {
  skip_if_not_installed("parallelly")
  cl <- local_cluster(1)
  expect_identical(parallelly::isNodeAlive(cl[[1]]), TRUE)
  other <- parallelly::makeClusterPSOCK(1, autoStop = TRUE)
  withr::defer(stopCluster(other))
  expect_identical(isNodeAlive(other), TRUE)
})

test_that("a time that makes no sense is refused", {
  cl <- local_cluster(1)
  for (timeout in list(-1, NA, "1", 1:2)) {
    expect_argument_error(isNodeAlive(cl, timeout = timeout), "timeout")
    expect_argument_error(isNodeAlive(cl[[1]], timeout = timeout), "timeout")
  }
})
