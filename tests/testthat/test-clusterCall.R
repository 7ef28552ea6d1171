# SPDX-License-Identifier: MIT
# nodelay's own functions on whole clusters.

use_cluster_functions_of("nodelay")
source(test_path("same-as-parallel.R"), local = TRUE)
source(test_path("interrupts.R"), local = TRUE)

test_that("nodelay has each of these functions with the arguments of parallel's", {
  for (name in cluster_functions) {
    expect_identical(formals(getExportedValue("nodelay", name)), formals(getExportedValue("parallel", name)), label = name)
  }
})

test_that("an error of a task carries the values of all", {
  cl <- local_cluster(2)
  error <- expect_error(clusterApply(cl, 1:3, task(function(i) if (i == 2) stop("two") else i)), "two",
    class = "nodelay_error_task"
  )
  expect_identical(error$values[c(1, 3)], list(1L, 3L))
  expect_s3_class(error$values[[2]], c("snow-try-error", "try-error"), exact = TRUE)
})

test_that("a call on a cluster with nodes of package parallel is left to that", {
  theirs <- makePSOCKcluster(1)
  own <- local_cluster(1)
  withr::defer(parallel::stopCluster(theirs))
  mixed <- structure(c(unclass(own), unclass(theirs)), class = c("SOCKcluster", "cluster"))
  expect_identical(clusterCall(mixed, task(function(x) x), 1), list(1, 1))
  expect_identical(clusterApply(mixed, 1:3, task(function(x) x)), as.list(1:3))
  expect_error(clusterCall("no cluster", identity, 1), "not a valid cluster")
  expect_error(clusterCall(fun = identity), "no cluster 'cl' supplied and none is registered")
})

test_that("a node that is twice in a cluster works twice", {
  cl <- local_cluster(2)
  twice <- cl[c(1, 2, 1)]
  expect_identical(clusterCall(twice, Sys.getpid), as.list(pids_of(cl)[c(1, 2, 1)]))
  expect_identical(clusterApply(twice, 1:20, task(function(i) i)), as.list(1:20))
  expect_identical(clusterApplyLB(twice, 1:20, task(function(i) i)), as.list(1:20))
  expect_identical(unlist(clusterApply(twice, 1:20, task(function(i) Sys.getpid()))), rep_len(pids_of(cl)[c(1, 2, 1)], 20))
})

test_that("under static scheduling task i runs on the node that parallel gives it", {
  cl <- local_cluster(I(3))
  expect_identical(unlist(clusterApply(cl, 1:100, task(function(i) Sys.getpid()))), rep_len(pids_of(cl), 100))
})

test_that("more than sixteen workers are served at once", {
  cl <- local_cluster(I(20))
  expect_identical(clusterCall(cl, Sys.getpid), as.list(pids_of(cl)))
  big <- clusterCall(cl, task(function(n) raw(n)), 1e6)
  expect_identical(lengths(big), rep(1000000L, 20))
  expect_identical(clusterCall(cl, length, raw(1e6)), rep(list(1000000L), 20))
  expect_identical(parSapply(cl, 1:500, task(function(x) x + 0.5)), 1:500 + 0.5)
  expect_identical(parSapplyLB(cl, 1:500, task(function(x) x + 0.5)), 1:500 + 0.5)
  expect_identical(clusterApplyLB(cl, 1:500, task(function(x) x)), as.list(1:500))
})

test_that("tasks with large arguments and values pass each other", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    values <- lapply(1:12, function(i) rep(i, 3e5))
    expect_identical(clusterApply(cl, values, task(function(x) x)), values, label = name)
    expect_identical(clusterApplyLB(cl, values, task(function(x) x)), values, label = name)
    boxed <- lapply(values, function(x) list2env(list(x = x), parent = emptyenv())) # not in shared memory
    for (apply in list(clusterApply, clusterApplyLB)) {
      expect_identical(lapply(apply(cl, boxed, task(function(box) box)), get, x = "x"), values, label = name)
    }
  })
})

test_that("what a function changes in its own environment is seen by no other task", {
  counting <- function() {
    count <- 0
    function(i) count <<- count + 1
  }
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    expect_identical(clusterApply(cl, 1:20, counting()), as.list(rep(1, 20)), label = name)
    expect_identical(clusterApplyLB(cl, 1:20, counting()), as.list(rep(1, 20)), label = name)
  })
})

test_that("no task waits behind a long one while another worker is idle", {
  cl <- local_cluster(2)
  slow_first <- task(function(i) if (i == 1) Sys.sleep(0.5) else Sys.getpid())
  pids <- unlist(clusterApplyLB(cl, 1:11, slow_first)[-1])
  expect_identical(unique(pids), pids_of(cl)[2])
  pids <- unlist(parLapplyLB(cl, 1:11, slow_first)[-1])
  expect_identical(unique(pids), pids_of(cl)[2])
})

test_that("after a worker was killed the call says so, and the others stay usable", {
  cl <- local_cluster(I(3))
  for (call in list(
    function(...) clusterCall(cl, ...), function(...) clusterApply(cl, 1:9, ...), function(...) clusterApplyLB(cl, 1:9, ...)
  )) {
    victim <- local_cluster(1)
    cl <- structure(c(unclass(cl)[1:2], unclass(victim)), class = class(cl))
    kill <- `environment<-`(function(...) {
      if (Sys.getpid() == target) tools::pskill(target, tools::SIGKILL)
      Sys.sleep(0.05)
    }, list2env(list(target = pids_of(victim)), parent = globalenv()))
    expect_error(call(kill), "SIGKILL", class = "nodelay_error_worker_lost")
    expect_identical(within_seconds(20, clusterCall(cl[1:2], identity, 1)), list(1, 1))
  }
})

test_that("a worker that never answers is an error after the timeout", {
  cl <- local_cluster(2, timeout = 0.5)
  expect_error(clusterCall(cl, Sys.sleep, 10), "within 0.5 seconds", class = "nodelay_error_timeout")
  expect_identical(within_seconds(10, clusterCall(cl, identity, 1)), list(1, 1))
})

test_that("calls on a cluster that was stopped are an error that says so", {
  cl <- makeClusterPSOCK(2)
  stopCluster(cl)
  expect_error(clusterCall(cl, identity, 1), "was stopped", class = "nodelay_error_stopped")
  expect_error(parLapply(cl, 1:3, identity), "was stopped", class = "nodelay_error_stopped")
})

test_that("an error while arguments are made gives the rest up, and the next call gets its own", {
  cl <- local_cluster(2)
  odd <- structure(list(1, 2, 3, 4, 5), class = "odd")
  registerS3method("[[", "odd", function(x, i) if (i == 4) stop("no element four") else unclass(x)[[i]], envir = globalenv())
  expect_error(clusterApply(cl, odd, identity), "no element four")
  expect_error(clusterApplyLB(cl, odd, identity), "no element four")
  expect_identical(clusterCall(cl, identity, "new"), list("new", "new"))
})

test_that("values that a task sends before it ends are not taken for its value", {
  cl <- local_cluster(1)
  send <- task(function() {
    for (frame in sys.frames()) if (!is.null(master <- frame$master)) break
    parallel:::sendData(master, list(type = "VALUE", value = "early"))
    "value"
  })
  expect_identical(clusterCall(cl, send), list("value"))
})

test_that("many calls leave no memory behind, in the main process and in the worker", {
  skip_if_not(file.exists("/proc/self/statm"))
  resident_mb <- task(function() {
    gc()
    as.numeric(strsplit(readLines("/proc/self/statm"), " ")[[1]][2]) * 4096 / 2^20
  })
  cl <- local_cluster(1)
  call_often <- function() {
    for (i in 1:20000) clusterCall(cl, identity, i)
    clusterApply(cl, 1:20000, task(function(i) i))
    c(resident_mb(), clusterCall(cl, resident_mb)[[1]])
  }
  call_often() # until the heaps have the size that they need
  before <- call_often()
  after <- call_often()
  expect_true(all(after - before < 4), label = paste("growth of", toString(round(after - before, 1)), "MB"))
})

test_that("a worker never works with a function that it was not asked for", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    one <- task(function(x) x + 1)
    two <- task(function(x) x * 10)
    for (i in 1:3) {
      expect_identical(clusterCall(cl, one, 1), list(2, 2), label = name)
      expect_identical(clusterCall(cl, one, 2), list(3, 3), label = name)
      expect_identical(clusterCall(cl[1], two, 2), list(20), label = name)
      expect_identical(clusterCall(cl, one, 3), list(4, 4), label = name)
      expect_identical(clusterApplyLB(cl, 1:4, two), list(10, 20, 30, 40), label = name)
      expect_identical(parallel::clusterCall(cl, two, 1), list(10, 10), label = name)
      expect_identical(clusterEvalQ(cl, 1 + 1), list(2, 2), label = name)
    }
    changed <- one
    body(changed)[[1]] <- as.name("-")
    expect_identical(clusterCall(cl, changed, 1), list(0, 0), label = name)
    formals(changed)$x <- 7
    expect_identical(clusterCall(cl, changed), list(6, 6), label = name)
    for (i in 1:5) expect_identical(clusterCall(cl, task(function(x) -x), i), list(-i, -i), label = name)
    environment(one) <- list2env(list(`+` = function(a, b) "own"), parent = globalenv())
    expect_identical(clusterCall(cl, one, 1), list("own", "own"), label = name)
  })
})

test_that("after a call that failed or was given up the next one has its own function", {
  cl <- local_cluster(2)
  good <- task(function(x) x)
  failing <- task(function(x) stop("no"))
  expect_error(clusterCall(cl, failing, 1), "no")
  expect_error(clusterCall(cl, failing, 2), "no")
  expect_identical(clusterCall(cl, good, 1), list(1, 1))
  expect_error(clusterApply(cl, 1:6, task(function(i) if (i == 1) stop("one") else i)), "one")
  expect_identical(clusterCall(cl, good, 2), list(2, 2))
  for (i in 1:5) {
    expect_error(within_seconds(0.2, clusterApply(cl, 1:20, task(function(i) Sys.sleep(0.1)))), "time limit")
    expect_identical(clusterCall(cl, good, i), list(i, i))
    expect_identical(clusterApply(cl, 1:2, task(function(i) i + 0.5)), list(1.5, 2.5))
  }
})

test_that("further arguments of the function are its own, whatever they are called", {
  cl <- local_cluster(2)
  square <- task(function(x, ...) x^2)
  expect_identical(parSapply(cl, 1:4, task(function(x, f) f(x) + 1), f = square), (1:4)^2 + 1)
  expect_identical(parSapplyLB(cl, 1:4, task(function(x, f) f(x) + 1), f = square), (1:4)^2 + 1)
  expect_identical(parLapply(cl, 1:2, fun = task(function(x, f) x * f), f = 2), list(2, 4))
  expect_identical(parLapplyLB(cl, 1:2, fun = task(function(x, f) x * f), f = 2), list(2, 4))
  expect_identical(clusterApply(cl = cl, 1:2, task(function(i, c) i + c), c = 1), list(2, 3))
  expect_identical(parLapply(cl = cl, X = 1:2, fun = task(function(i, c) i + c), c = 1), list(2, 3))
})

test_that("a function that carries an environment in its code is sent anew for each call", {
  cl <- local_cluster(1)
  env <- new.env()
  env$n <- 0
  counting <- task(eval(bquote(function(i) { e <- .(env); e$n <- e$n + 1; e$n })))
  expect_identical(clusterApply(cl, 1:3, counting), list(1, 1, 1))
  env$n <- 100
  expect_identical(clusterApply(cl, 1:2, counting), list(101, 101))
  in_formals <- task(function(i, e) { e$n <- e$n + 1; e$n })
  formals(in_formals)$e <- env
  expect_identical(clusterApply(cl, 1:3, in_formals), list(101, 101, 101))
  expect_error(clusterCall(cl, NULL))
})

test_that("a cluster that is used again in the course of its own call says so, and both go on", {
  cl <- local_cluster(2)
  nested <- structure(list(1, 2, 3), class = "nested_use")
  registerS3method("[[", "nested_use", function(x, i) { clusterEvalQ(cl, 0); unclass(x)[[i]] }, envir = globalenv())
  for (apply in list(clusterApply, clusterApplyLB)) {
    expect_error(apply(cl, nested, identity), "used again", class = "nodelay_error_argument")
    expect_identical(clusterCall(cl, identity, 1), list(1, 1))
  }
  registerS3method("[[", "nested_use", function(x, i) { stopCluster(cl); unclass(x)[[i]] }, envir = globalenv())
  other <- makeClusterPSOCK(2)
  cl <- other
  expect_error(clusterApply(cl, nested, identity), "was stopped", class = "nodelay_error_stopped")
})

test_that("finalizers that use the cluster while its values are read harm nothing", {
  cl <- local_cluster(1)
  make <- task(function(n) list2env(list(x = sin(seq_len(n))))) # through the stream, 16 MB
  told <- character()
  for (i in 1:10) {
    reg.finalizer(new.env(), function(e) told <<- c(told, class(outcome_of(clusterCall(cl, identity, 1)))[1L]))
    reg.finalizer(new.env(), function(e) isNodeAlive(cl, timeout = 0.01))
    expect_identical(clusterCall(cl, make, 2e6)[[1]]$x, sin(1:2e6))
  }
  expect_identical(clusterCall(cl, identity, 2), list(2))
})

test_that("the time limit is on waiting for workers, not on making their arguments", {
  cl <- local_cluster(1, timeout = 1.2)
  slow <- structure(list(1, 2, 3), class = "slow_elements")
  registerS3method("[[", "slow_elements", function(x, i) { Sys.sleep(0.45); unclass(x)[[i]] }, envir = globalenv())
  expect_identical(clusterApply(cl, slow, task(function(x) { Sys.sleep(0.2); x })), list(1, 2, 3))
})

test_that("each task gets its own copy of a function and what that has captured", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    make <- function(data) {
      count <- 0
      function(i) {
        count <<- count + i
        data[1] <<- data[1] + i
        c(count, data[1], length(data))
      }
    }
    data <- sin(1:1e5) # large enough for shared memory
    f <- make(data)
    expected <- lapply(1:20, function(i) c(i, data[1] + i, 1e5))
    expect_identical(clusterApplyLB(cl, 1:20, f), expected, label = name)
    expect_identical(clusterApply(cl, 1:20, f), expected, label = name)
    expect_identical(clusterCall(cl, f, 1), rep(list(c(1, data[1] + 1, 1e5)), 2), label = name)
    expect_identical(data[1], sin(1))
  })
})

test_that("arguments share with the function of their call what both hold", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    place <- new.env()
    f <- local(function(other, i) c(identical(other, place), i), list2env(list(place = place), parent = globalenv()))
    environment(f)$place <- place
    expect_identical(clusterCall(cl, f, place, 1L), list(c(1L, 1L), c(1L, 1L)), label = name)
    expect_identical(clusterMap(cl, f, list(place, new.env(), place), 1:3), list(c(1L, 1L), 0:1 + c(0L, 1L), c(1L, 3L)), label = name)
  })
})
