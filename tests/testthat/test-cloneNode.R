# SPDX-License-Identifier: MIT

asked <- function(cl, ...) within_seconds(20, clusterCall(cl, ...))

kill_worker <- function(node) {
  tools::pskill(attr(node, "pid"), tools::SIGKILL)
  wait_until(function() !is_running(attr(node, "pid")))
}

# What tells one node from another of the same kind.
lasting_part <- function(node) {
  node <- unclass(node)
  node$session_info[c("tempdir", "process")] <- NULL
  attributes(node)[c("handle", "pid", "port")] <- NULL
  node
}

test_that("a worker that died is replaced in place", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2, rscript_options = list(mine = name))
    old <- cl
    kill_worker(cl[[2]])
    expect_error(asked(cl, identity, 1), class = "nodelay_error_worker_lost")
    cl[[2]] <- cloneNode(cl[[2]])
    withr::defer(expect_cluster_ends(cl))
    expect_identical(asked(cl, getOption, "mine"), list(name, name), label = name)
    expect_identical(asked(cl, Sys.getpid), as.list(pids_of(cl)), label = name)
    expect_identical(lasting_part(cl[[2]]), lasting_part(old[[2]]), label = name)
    expect_false(pids_of(cl)[2L] == pids_of(old)[2L], label = name)
  })
})

test_that("a cluster is cloned with all that it was started with, and the original lives on", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2, rscript_envs = c(MINE = "set"), rscript_startup = "own <- 1")
    clone <- cloneNode(cl)
    withr::defer(expect_cluster_ends(clone))
    expect_identical(class(clone), class(cl), label = name)
    expect_identical(lapply(clone, lasting_part), lapply(cl, lasting_part), label = name)
    expect_identical(asked(clone, task(function() list(Sys.getenv("MINE"), own))), rep(list(list("set", 1)), 2), label = name)
    expect_length(intersect(pids_of(clone), pids_of(cl)), 0L)
    expect_identical(asked(cl, identity, 1), list(1, 1), label = name)
  })
})

test_that("a stopped cluster is started again by its clone", {
  cl <- makeClusterPSOCK(2)
  stopCluster(cl)
  cl <- cloneNode(cl)
  expect_identical(asked(cl, identity, 1), list(1, 1))
  expect_cluster_ends(cl)
})

test_that("a clone may differ in the arguments that are named", {
  cl <- local_cluster(2, rscript_options = list(mine = 1), rscript_startup = quote(own <- quote(a + b)))
  for (method in c("as-is", "vanilla")) {
    clone <- cloneNode(cl, rscript_options = list(mine = 2), engine = "base", method = method)
    expect_identical(vapply(clone, `[[`, 0L, "rank"), 1:2)
    expect_identical(vapply(unclass(clone), attr, "", "engine"), c("base", "base"))
    expect_identical(asked(clone, task(function() list(getOption("mine"), own))), rep(list(list(2, quote(a + b))), 2))
    expect_cluster_ends(clone)
  }
})

test_that("a clone of a clone is like its original", {
  cl <- local_cluster(1, rscript_options = list(mine = 1))
  second <- cloneNode(cl, rscript_envs = c(MINE = "set"))
  withr::defer(expect_cluster_ends(second))
  third <- cloneNode(second, rank = 5L)
  withr::defer(expect_cluster_ends(third))
  expect_identical(asked(third, task(function() list(getOption("mine"), Sys.getenv("MINE")))), list(list(1, "set")))
  expect_identical(third[[1]]$rank, 5L)
})

test_that("settings are those of the original as it is, and those of now for method vanilla", {
  withr::local_options(parallelly.makeNodePSOCK.socketOptions = "then")
  cl <- local_cluster(1, rscript_options = list(mine = 1))
  options(parallelly.makeNodePSOCK.socketOptions = "now")
  for (method in c("as-is", "vanilla")) for (changes in list(list(), list(renice = 1L))) {
    clone <- do.call(cloneNode, c(list(cl, method = method), changes))
    expected <- if (method == "as-is") "then" else "now"
    expect_identical(asked(clone, task(function() options()[c("mine", "socketOptions")])), list(list(mine = 1, socketOptions = expected)))
    expect_cluster_ends(clone)
  }
})

test_that("what a node is cloned from is not part of it where it travels", {
  cl <- local_cluster(1, rscript_options = list(large = numeric(1e5)), validate = FALSE)
  expect_lt(length(serialize(cl[[1]], NULL)), 4000)
})

test_that("what a node is cloned from does not keep the node from being collected", {
  start <- function() {
    cl <- makeClusterPSOCK(1, rscript_options = list(mine = function() NULL)) # with this frame, and cl
    pids_of(cl)
  }
  pid <- start()
  gc()
  expect_true(wait_until(function() !is_running(pid)))
})

test_that("the plan of a living node is never collected", {
  cl <- local_cluster(1, rscript_options = list(mine = 1))
  for (i in 1:3) gc()
  clone <- cloneNode(cl)
  expect_identical(asked(clone, getOption, "mine"), list(1))
  expect_cluster_ends(clone)
})

test_that("other nodes, arguments and sessions are refused", {
  cl <- local_cluster(1)
  psock <- makePSOCKcluster(1)
  withr::defer(stopCluster(psock))
  expect_argument_error(cloneNode(psock), "of class 'SOCK")
  expect_argument_error(cloneNode(psock[[1]]), "of class 'SOCK")
  expect_argument_error(cloneNode(c(cl, psock)), "of class 'SOCK")
  expect_argument_error(cloneNode(1), "of class 'numeric'")
  expect_argument_error(cloneNode(cl, nonsense = 1), "'nonsense'")
  expect_argument_error(cloneNode(cl, action = "launch"), "'action'")
  expect_argument_error(cloneNode(cl, 1), "full name")
  expect_argument_error(cloneNode(cl, useXDR = "yes"), "useXDR")
  expect_argument_error(cloneNode(cl, method = "other"), "method")
  expect_error(cloneNode(unserialize(serialize(cl, NULL))), "another R session", class = "nodelay_error_stopped")
})

test_that("a clone that cannot be started leaves the original alone", {
  cl <- local_cluster(1)
  expect_error(cloneNode(cl, rscript_startup = quote(stop("boom"))), "boom", class = "nodelay_error_start_failed")
  expect_identical(asked(cl, identity, 1), list(1))
})

test_that("parallelly's own function clones nodelay's nodes too", {
  skip_if_not_installed("parallelly", "1.36.0")
  cl <- local_cluster(1)
  clone <- parallelly::cloneNode(cl)
  expect_identical(asked(clone, identity, 1), list(1))
  expect_cluster_ends(clone)
})
