# SPDX-License-Identifier: MIT
# A node as packages use it that speak to workers by parallel's own low-level functions.

send <- function(node, fun, args = list(), ...) parallel:::sendCall(node, fun, args, ...)
receive <- function(node) within_seconds(20, parallel:::recvResult(node))
receive_one <- function(cl) within_seconds(20, parallel:::recvOneResult(cl))

test_that("calls that are sent one after the other are answered in order", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    for (i in 1:2) for (x in c("first", "second")) send(cl[[i]], identity, list(paste(x, i)))
    expect_identical(receive(cl[[2]]), "first 2", label = name)
    expect_identical(receive(cl[[1]]), "first 1", label = name)
    expect_identical(receive(cl[[1]]), "second 1", label = name)
    expect_identical(receive(cl[[2]]), "second 2", label = name)
  })
})

test_that("a hundred calls may be under way on one node", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    for (i in 1:100) send(cl[[1]], identity, list(c(i, numeric(1e4))))
    expect_identical(vapply(1:100, function(i) receive(cl[[1]])[1L], 0), as.numeric(1:100), label = name)
  })
})

test_that("the first answer of any node is taken with its node and tag", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    go <- tempfile()
    send(cl[[1]], task(function(go) {
      while (!file.exists(go)) Sys.sleep(0.01)
      "slow"
    }), list(go), tag = "a")
    send(cl[[2]], task(function() "quick"), tag = "b")
    expect_identical(receive_one(cl), list(value = "quick", node = 2L, tag = "b"), label = name)
    file.create(go)
    expect_identical(receive_one(cl), list(value = "slow", node = 1L, tag = "a"), label = name)
  })
})

test_that("a result has the elements that parallel's workers send", {
  psock <- makePSOCKcluster(1)
  withr::defer(stopCluster(psock))
  shape <- function(node, fun) {
    send(node, fun, tag = 7)
    result <- parallel:::recvData(node)
    time <- result$time
    result$time <- list(class(time), names(unclass(time)), length(time), all(unclass(time)[1:3] >= 0))
    result
  }
  tasks <- list(
    task(function() c(a = 1)), task(function() stop("boom")), task(function() NULL),
    task(function() structure("text", class = "try-error"))
  )
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    for (fun in tasks) expect_identical(shape(cl[[1]], fun), shape(psock[[1]], fun), label = name)
  })
})

test_that("the time of a result is that of its call", {
  cl <- local_cluster(1)
  send(cl[[1]], task(function() { Sys.sleep(0.3); NULL }))
  time <- parallel:::recvData(cl[[1]])$time
  expect_gte(time[["elapsed"]], 0.29)
  expect_lt(time[["user.self"]], 0.29)
})

test_that("messages of parallel's kind with more elements are understood", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    data <- list(fun = identity, args = list("x"), return = TRUE, tag = "t", static.fun = TRUE)
    parallel:::sendData(cl[[1]], list(type = "EXEC", data = data, tag = "outer", more = NULL))
    expect_identical(parallel:::recvData(cl[[1]])[c("value", "tag")], list(value = "x", tag = "t"), label = name)
    parallel:::sendData(cl[[1]], list(type = "UNKNOWN", data = NULL, tag = NULL))
    expect_identical(clusterCall(cl, identity, 2), list(2), label = name)
  })
})

test_that("a task may send values before its result", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    send(cl[[1]], task(function() {
      frame <- Filter(function(f) exists("master", f, inherits = FALSE), sys.frames())[[1L]]
      parallel:::sendData(frame$master, list(type = "NEWS", value = "early"))
      "late"
    }))
    expect_identical(parallel:::recvData(cl[[1]])$value, "early", label = name)
    expect_identical(receive(cl[[1]]), "late", label = name)
    expect_identical(clusterCall(cl, identity, "after"), list("after"), label = name)
  })
})

test_that("waiting for an answer that nobody owes is an error on native workers", {
  cl <- local_cluster(2)
  expect_argument_error(receive(cl[[1]]), "no call to answer")
  expect_argument_error(receive_one(cl), "has a call to answer")
})

test_that("a call that takes longer than 'timeout' fails, and the worker stays usable", {
  cl <- local_cluster(1, timeout = 1)
  expect_error(clusterCall(cl, Sys.sleep, 60), class = "nodelay_error_timeout")
  expect_identical(within_seconds(10, clusterCall(cl, identity, 1)), list(1))
})

test_that("a value that cannot be sent is an error, and the node stays usable", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    expect_error(within_seconds(20, clusterCall(cl, "unserialize", as.raw(1:20))), "unknown input format", label = name)
    expect_identical(clusterCall(cl, identity, 1), list(1), label = name)
  })
})

test_that("a node tells what it is", {
  cl <- local_cluster(2)
  expect_s3_class(cl[[1]], c("nodelay_node", "RichSOCKnode", "SOCK0node"), exact = TRUE)
  expect_identical(cl[[1]]$host, structure("localhost", localhost = TRUE))
  expect_identical(vapply(cl, `[[`, 0L, "rank"), 1:2)
  expect_identical(clusterCall(cl, Sys.getpid), as.list(pids_of(cl)))
  expect_identical(cl[[2]]$session_info$process$pid, pids_of(cl)[2L])
  expect_output(print(cl[[2]]), "on local host 'localhost' with pid [0-9]+ .* native engine")
  expect_output(print(cl), "^Socket cluster with 2 nodes on host 'localhost' \\(R version .*\\)$")
})

test_that("closing one node ends its worker and no other", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    parallel:::closeNode(cl[[1]])
    expect_identical(is_running(pids_of(cl)), c(FALSE, TRUE), label = name)
    expect_error(clusterCall(cl[1], identity, 1), "was stopped at", class = "nodelay_error_stopped")
    expect_identical(clusterCall(cl[2], identity, 1), list(1), label = name)
    expect_output(print(cl), "1 node (#1) has a broken connection (ERROR: stopped)", fixed = TRUE)
  })
})

test_that("a cluster that travels to its own worker is small there, and dead", {
  cl <- local_cluster(1, validate = FALSE)
  expect_lt(length(serialize(cl[[1]], NULL)), 4000)
  tried <- clusterCall(cl, task(function(cl) {
    tryCatch(parallel::clusterCall(cl, identity, 1), error = function(e) list(class(e), conditionMessage(e)))
  }), cl)
  expect_true("nodelay_error_stopped" %in% tried[[1]][[1]])
  expect_match(tried[[1]][[2]], "belongs to another R session")
})

test_that("a cluster saved to a file is dead when it is read", {
  cl <- local_cluster(1)
  file <- withr::local_tempfile()
  saveRDS(cl, file)
  expect_error(clusterCall(readRDS(file), identity, 1), "another R session", class = "nodelay_error_stopped")
  expect_error(stopCluster(readRDS(file)), class = "nodelay_error_stopped")
})

test_that("a forked child cannot use the cluster, and its end does not disturb it", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    told <- mclapply(1:2, function(i) {
      tryCatch(clusterCall(cl, identity, 1), error = function(e) list(class(e)[1L], conditionMessage(e)))
    }, mc.cores = 2)
    for (each in told) expect_identical(each[[1]], "nodelay_error_stopped", label = name)
    expect_match(told[[1]][[2]], "forked")
    mclapply(1:2, function(i) { rm(cl, inherits = TRUE); gc(); NULL }, mc.cores = 2)
    expect_identical(clusterCall(cl, identity, "still"), list("still", "still"), label = name)
  })
})

test_that("a node may be in a cluster more than once", {
  cl <- local_cluster(2)
  twice <- cl[c(1, 1, 2)]
  expect_identical(clusterCall(twice, Sys.getpid), as.list(pids_of(cl)[c(1, 1, 2)]))
  expect_identical(clusterApply(twice, 1:5, identity), as.list(1:5))
  expect_identical(clusterApplyLB(twice, 1:20, identity), as.list(1:20))
  expect_identical(parLapply(twice, 1:7, identity), as.list(1:7))
})

test_that("a message of unknown type does no harm", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    parallel:::sendData(cl[[1]], list(type = "NOTE", data = NULL, tag = NULL))
    expect_identical(clusterCall(cl, identity, 1), list(1), label = name)
  })
})

test_that("a fork of a worker cannot send in its name", {
  cl <- local_cluster(1)
  told <- clusterCall(cl, task(function() {
    master <- get("master", envir = sys.frames()[[which(vapply(sys.frames(), exists, NA, x = "master", inherits = FALSE))[1L]]])
    Sys.sleep(0.2) # the watch has the stream
    job <- parallel::mcparallel(tryCatch(parallel:::sendData(master, 1), error = class))
    parallel::mccollect(job)[[1L]]
  }))[[1L]]
  expect_true("nodelay_error_argument" %in% told)
  expect_identical(clusterCall(cl, identity, 2), list(2))
})
