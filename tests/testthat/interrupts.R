# SPDX-License-Identifier: MIT
# Ctrl-C in the main process: the first worker sends it in the middle of its own call. Run by
# test-cluster.R with the functions of package parallel, by test-clusterCall.R with nodelay's.

interrupts <- task(function(i, main, first, seconds = 10, delay = 0) {
  if (Sys.getpid() == first) {
    Sys.sleep(delay)
    tools::pskill(main, tools::SIGINT)
  }
  Sys.sleep(seconds)
  "old"
})

# A call that must end by the interrupt. Where it ends by itself, the interrupt that is yet
# to come must not end the whole run.
expect_interrupt <- function(expr) {
  ended_by_itself <- FALSE
  tryCatch({ expr; ended_by_itself <- TRUE; Sys.sleep(2) }, interrupt = function(e) NULL)
  expect_false(ended_by_itself)
}

# A value as large as `x` that goes through the stream: in pieces that are too small for shared memory.
streamed <- function(x) lapply(seq(1, length(x), by = 1e5), function(from) x[seq(from, min(from + 1e5 - 1, length(x)))])

interrupted_call <- function(cl, ...) {
  expect_interrupt(clusterCall(cl, interrupts, 0, Sys.getpid(), pids_of(cl)[1L], ...))
}

new_value <- function(cl, value = "new") within_seconds(30, clusterCall(cl, identity, value))

test_that("after an interrupt native workers answer the next call at once", {
  for (way in ways[c("native", "tcp")]) {
    cl <- cluster_for(way, 2)
    pids <- pids_of(cl)
    interrupted_call(cl)
    expect_lt(seconds_for(answer <- new_value(cl)), 3)
    expect_identical(answer, list("new", "new"))
    expect_identical(clusterCall(cl, Sys.getpid), as.list(pids))
  }
})

test_that("after an interrupt base-R workers answer the next call when the old one is over", {
  cl <- local_cluster(2, engine = "base")
  interrupted_call(cl, seconds = 1)
  expect_identical(new_value(cl), list("new", "new"))
  expect_identical(new_value(cl, "newer"), list("newer", "newer"))
})

test_that("after twenty interrupts in a row the next call gets its own value", {
  for (way in ways[c("native", "base")]) {
    cl <- cluster_for(way, 2)
    for (i in 1:20) {
      interrupted_call(cl, delay = i %% 8 / 50, seconds = if (identical(way$engine, "base")) 0.05 else 10)
      if (i %% 3 == 0) expect_identical(new_value(cl, i), list(i, i))
    }
    expect_identical(new_value(cl), list("new", "new"))
  }
})

test_that("an interrupt ends clusterApplyLB(), and no task of it is heard of again", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    expect_interrupt(clusterApplyLB(cl, 1:10, interrupts, Sys.getpid(), pids_of(cl)[1L], 0.5, 0.1))
    expect_identical(within_seconds(30, clusterApplyLB(cl, 1:10, task(function(i) i))), as.list(1:10), label = name)
  })
})

test_that("an interrupt ends parLapply(), and no task of it is heard of again", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    expect_interrupt(parLapply(cl, 1:2, interrupts, Sys.getpid(), pids_of(cl)[1L], 0.5, 0.1))
    expect_identical(within_seconds(30, parLapply(cl, 1:5, task(function(i) i))), as.list(1:5), label = name)
  })
})

test_that("an interrupt reaches a worker that computes without a pause", {
  cl <- local_cluster(1)
  expect_interrupt(clusterCall(cl, task(function(main) {
    tools::pskill(main, tools::SIGINT)
    repeat {}
  }), Sys.getpid()))
  expect_identical(new_value(cl), list("new"))
})

test_that("a task that handles the interrupt itself cannot answer the next call", {
  cl <- local_cluster(1)
  expect_interrupt(clusterCall(cl, task(function(main) {
    tools::pskill(main, tools::SIGINT)
    tryCatch(Sys.sleep(30), interrupt = function(e) "caught")
  }), Sys.getpid()))
  expect_identical(new_value(cl), list("new"))
})

test_that("what an interrupted task had set up with on.exit() is undone", {
  cl <- local_cluster(1)
  file <- withr::local_tempfile()
  expect_interrupt(clusterCall(cl, task(function(main, file) {
    on.exit(file.create(file))
    tools::pskill(main, tools::SIGINT)
    Sys.sleep(30)
  }), Sys.getpid(), file))
  expect_identical(new_value(cl), list("new"))
  expect_true(file.exists(file))
})

test_that("an interrupt of one cluster's call leaves the calls of another alone", {
  one <- local_cluster(1)
  other <- local_cluster(1)
  parallel:::sendCall(other[[1]], task(function() "mine"), list())
  interrupted_call(one)
  expect_identical(within_seconds(10, parallel:::recvResult(other[[1]])), "mine")
  expect_identical(new_value(one), list("new"))
})

test_that("an error in one node's call leaves no value behind on the others", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    expect_error(clusterApplyLB(cl, 1:6, task(function(i) if (i == 1) stop("first") else "stale")), "first")
    expect_identical(new_value(cl), list("new", "new"), label = name)
  })
})

test_that("an interrupt while a large value is on its way leaves the stream in step", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    expect_interrupt(clusterCall(cl, task(function(main, x) {
      tools::pskill(main, tools::SIGINT)
      x
    }), Sys.getpid(), streamed(numeric(5e6))))
    expect_identical(new_value(cl), list("new"), label = name)
  })
})

test_that("an interrupt while workers start ends them all", {
  before <- child_pids()
  first <- withr::local_tempfile()
  expect_interrupt(makeClusterPSOCK(2, rscript_startup = bquote({
    if (dir.create(.(first), showWarnings = FALSE)) tools::pskill(.(Sys.getpid()), tools::SIGINT)
    Sys.sleep(60)
  })))
  expect_identical(setdiff(child_pids(), before), integer())
})

test_that("an interrupt that comes when its call has failed does not hit the next one", {
  cl <- local_cluster(1)
  late <- task(function(main) suspendInterrupts({
    tools::pskill(main, tools::SIGINT)
    Sys.sleep(0.4) # the cancel comes meanwhile, and nobody looks
    stop("late")
  }))
  for (i in 1:3) {
    expect_interrupt(clusterCall(cl, late, Sys.getpid()))
    expect_identical(clusterCall(cl, task(function() { for (j in 1:200000) sqrt(j); "fine" })), list("fine"))
  }
})

test_that("a call whose sending was interrupted is never answered", {
  cl <- local_cluster(1)
  pid <- pids_of(cl)
  expect_true(tools::pskill(pid, tools::SIGSTOP))
  system(sprintf("(sleep 0.3; kill -INT %d; sleep 0.2; kill -CONT %d) &", Sys.getpid(), pid))
  expect_interrupt(parallel:::sendCall(cl[[1]], task(function(x) "old"), list(streamed(raw(5e7)))))
  parallel:::sendCall(cl[[1]], task(function() "new"), list())
  expect_identical(within_seconds(30, parallel:::recvResult(cl[[1]])), "new")
})

test_that("an interrupt while a call is being sent stops the workers that have it already", {
  cl <- local_cluster(2)
  pids <- pids_of(cl)
  expect_true(tools::pskill(pids[2L], tools::SIGSTOP))
  system(sprintf("(sleep 0.3; kill -INT %d; sleep 0.2; kill -CONT %d) &", Sys.getpid(), pids[2L]))
  expect_interrupt(clusterCall(cl, task(function(x) repeat {}), streamed(raw(5e7))))
  expect_identical(within_seconds(30, clusterCall(cl, task(function() "new"))), list("new", "new"))
})
