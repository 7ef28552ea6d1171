# SPDX-License-Identifier: MIT
# Workers that die: who hears of it, with what, and what is left.

is_start_failure <- c("nodelay_error_start_failed", "nodelay_error", "PSOCKConnectionError")
native_and_base <- ways[c("native", "base")]

# Starts two workers that fail, in a temporary place of their own, and returns the error.
expect_start_fails <- function(way, ..., within = 3, leaves_folder = FALSE) {
  folder <- local_temporary_folder()
  before <- child_pids()
  seconds <- seconds_for(failure <- outcome_of(do.call(makeClusterPSOCK, c(list(2), way, list(...)), quote = TRUE)))
  expect_s3_class(failure, is_start_failure)
  expect_lt(seconds, within)
  expect_identical(setdiff(child_pids(), before), integer())
  if (!leaves_folder) expect_identical(list.files(folder, pattern = "^Rtmp"), character())
  expect_identical(is_running(failure$pid), FALSE)
  expect_true(failure$node %in% 1:2)
  expect_identical(failure$host, "localhost")
  expect_match(failure$command, "Rscript --default-packages=", fixed = TRUE)
  expect_match(conditionMessage(failure), paste0("Worker ", failure$node, " of 2 (pid ", failure$pid, " on localhost)"), fixed = TRUE)
  expect_match(conditionMessage(failure), failure$command, fixed = TRUE)
  failure
}

test_that("an error in the start-up code is told at once, in its own words", {
  for (way in native_and_base) {
    failure <- expect_start_fails(way, rscript_startup = quote(stop("no licence today")))
    expect_identical(failure$status, 1L)
    expect_identical(failure$signal, NA_integer_)
    expect_match(failure$stderr, "no licence today")
    expect_match(conditionMessage(failure), "exited with status 1 before it was ready.*no licence today")
  }
})

test_that("a package that start-up code misses is named", {
  for (way in native_and_base) {
    failure <- expect_start_fails(way, rscript_startup = "library(no.such.package)")
    expect_match(failure$stderr, "no.such.package", fixed = TRUE)
  }
})

test_that("a worker that quits while it starts is told with its status", {
  for (way in native_and_base) {
    failure <- expect_start_fails(way, rscript_startup = quote(quit(status = 3)))
    expect_identical(failure$status, 3L)
    expect_match(conditionMessage(failure), "status 3")
  }
})

test_that("a worker that is killed while it starts is told with its signal", {
  for (way in native_and_base) {
    failure <- expect_start_fails(way, rscript_startup = quote(system(paste("kill -9", Sys.getpid()))), leaves_folder = TRUE)
    expect_identical(failure$signal, 9L)
    expect_identical(failure$status, NA_integer_)
    expect_match(conditionMessage(failure), "SIGKILL")
  }
})

test_that("what a start-up file of R complains about is told", {
  profile <- withr::local_tempfile(lines = "stop('profile is broken')")
  for (way in native_and_base) {
    failure <- expect_start_fails(way, rscript_envs = c(R_PROFILE_USER = profile), rscript_startup = quote(stop("later")))
    expect_match(failure$stderr, "profile is broken")
  }
})

test_that("a worker that does not get ready is given up after 'connectTimeout' seconds", {
  for (way in native_and_base) {
    failure <- expect_start_fails(way, rscript_startup = quote(Sys.sleep(600)), connectTimeout = 1, within = 6)
    expect_match(conditionMessage(failure), "not ready after 1 second (argument 'connectTimeout')", fixed = TRUE)
    expect_match(conditionMessage(failure), "^Cluster setup failed[.] Worker 1 ")
  }
})

test_that("an output file that cannot be written is an error that names it", {
  before <- child_pids()
  expect_error(makeClusterPSOCK(2, outfile = "/no/such/folder/log"), "/no/such/folder/log", class = "nodelay_error_system")
  expect_identical(setdiff(child_pids(), before), integer())
})

# Each with what it leaves in the worker's last lines: R itself says much about a SIGSEGV.
deaths <- list(
  list(die = task(function() tools::pskill(Sys.getpid(), 9)), signal = 9L, status = NA_integer_, last = "last words"),
  list(die = task(function() system(paste("kill -SEGV", Sys.getpid()))), signal = 11L, status = NA_integer_, last = "R is aborting now"),
  list(die = task(function() quit(status = 3)), signal = NA_integer_, status = 3L, last = "last words")
)

dies_on_node_2 <- task(function(i, die, doomed) {
  if (Sys.getpid() != doomed) return("stale")
  message("last words")
  die()
})

callers <- list(
  clusterCall = function(cl, die) clusterCall(cl, dies_on_node_2, 1, die, pids_of(cl)[2L]),
  clusterApplyLB = function(cl, die) clusterApplyLB(cl, 1:9, dies_on_node_2, die, pids_of(cl)[2L]),
  parLapply = function(cl, die) parLapply(cl, 1:9, dies_on_node_2, die, pids_of(cl)[2L])
)

test_that("a worker that dies in a call is told with its fate, and the others go on", {
  cases <- rbind(expand.grid(way = "native", caller = 1:3, death = 1:3), data.frame(way = "base", caller = 1:3, death = 1:3))
  for (case in seq_len(nrow(cases))) {
    way <- ways[[as.character(cases$way[case])]]
    caller <- callers[[cases$caller[case]]]
    death <- deaths[[cases$death[case]]]
    cl <- do.call(makeClusterPSOCK, c(list(I(3)), way))
    loss <- outcome_of(within_seconds(10, caller(cl, death$die)))
    expect_s3_class(loss, c("nodelay_error_worker_lost", "nodelay_error", "simpleError", "error", "condition"), exact = TRUE)
    expect_identical(loss[c("node", "pid", "host")], list(node = 2L, pid = pids_of(cl)[2L], host = "localhost"))
    expect_identical(loss[c("signal", "status")], death[c("signal", "status")])
    expect_match(loss$stderr, death$last)
    expect_match(conditionMessage(loss), "Worker 2 .* in the middle of a call")
    expect_identical(within_seconds(10, clusterCall(cl[-2], task(function() "fresh"))), list("fresh", "fresh"))
    again <- outcome_of(clusterCall(cl, task(function() "fresh")))
    expect_identical(unclass(again), unclass(loss))
    expect_identical(within_seconds(10, clusterApplyLB(cl[-2], 1:4, task(function(i) i))), as.list(1:4))
    expect_output(print(cl), "1 node (#2) has a broken connection", fixed = TRUE)
    expect_cluster_ends(cl)
  }
})

test_that("a worker that dies between two calls is noticed by the next", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    tools::pskill(pids_of(cl)[1L], tools::SIGKILL)
    expect_true(wait_until(function() any(grepl("1 node (#1) has a broken connection", capture.output(print(cl)), fixed = TRUE))), label = name)
    expect_error(clusterCall(cl, identity, 1), "Worker 1 .* SIGKILL", class = "nodelay_error_worker_lost")
    expect_identical(clusterCall(cl[2], identity, 2), list(2), label = name)
  })
})

test_that("answers that came before the death are still to be had", {
  cl <- local_cluster(1)
  parallel:::sendCall(cl[[1]], task(function() "before"), list())
  parallel:::sendCall(cl[[1]], task(function() quit(status = 4)), list())
  expect_true(wait_until(function() !is_running(pids_of(cl))))
  expect_identical(parallel:::recvResult(cl[[1]]), "before")
  expect_error(parallel:::recvResult(cl[[1]]), "status 4", class = "nodelay_error_worker_lost")
})

test_that("a child that a dead worker left behind does not hide its death", {
  cl <- local_cluster(1)
  child <- withr::local_tempfile()
  loss <- outcome_of(within_seconds(10, clusterCall(cl, task(function(file) {
    system(sprintf("setsid sleep 60 & echo $! > %s", shQuote(file)))
    tools::pskill(Sys.getpid(), 9)
  }), child)))
  expect_s3_class(loss, "nodelay_error_worker_lost")
  tools::pskill(as.integer(readLines(child)), tools::SIGKILL)
})
