# SPDX-License-Identifier: MIT

test_that("a killed worker is gone, with its temporary folder, and its node is lost", {
  folder <- local_temporary_folder()
  for_each_way(function(way, name) for (signal in c(tools::SIGTERM, tools::SIGKILL)) {
    cl <- do.call(makeClusterPSOCK, c(list(2), way))
    expect_identical(killNode(cl[[2]], signal = signal), TRUE, label = name)
    expect_identical(is_running(pids_of(cl)), c(TRUE, FALSE), label = name)
    expect_length(list.files(folder, pattern = "^Rtmp"), 1L)
    expect_error(clusterCall(cl, identity, 1), paste("killed by signal", signal), class = "nodelay_error_worker_lost")
    expect_identical(killNode(cl), c(TRUE, FALSE), label = name)
    expect_identical(killNode(cl), c(FALSE, FALSE), label = name)
    expect_cluster_ends(cl)
    expect_identical(list.files(folder, pattern = "^Rtmp"), character(), label = name)
  })
})

test_that("a worker that the signal does not end is stopped", {
  for_each_way(function(way, name) {
    cl <- do.call(makeClusterPSOCK, c(list(1), way))
    expect_identical(killNode(cl, signal = tools::SIGSTOP), TRUE, label = name)
    expect_true(wait_until(function() identical(process_stat(pids_of(cl))[1L], "T")))
    expect_identical(killNode(cl), TRUE, label = name)
    expect_identical(isNodeAlive(cl), FALSE, label = name)
    expect_error(clusterCall(cl, identity, 1), class = "nodelay_error_stopped")
    expect_cluster_ends(cl)
  })
})

test_that("child processes of a worker get the signal, too", {
  cl <- local_cluster(1)
  started <- withr::local_tempfile()
  parallel:::sendCall(cl[[1]], task(function(file) system(sprintf("echo $$ > %s; sleep 100", file))), list(started))
  expect_true(wait_until(function() length(lines_of(started)) == 1L))
  expect_identical(killNode(cl), TRUE)
  expect_true(wait_until(function() !is_running(as.integer(lines_of(started)))))
})

test_that("other signals leave the node usable", {
  cl <- local_cluster(1)
  begun <- withr::local_tempfile()
  parallel:::sendCall(cl[[1]], task(function(begun) {
    file.create(begun)
    repeat {}
  }), list(begun))
  expect_true(wait_until(function() file.exists(begun)))
  expect_identical(killNode(cl, signal = tools::SIGINT), TRUE)
  expect_true(wait_until(function() isNodeAlive(cl, timeout = 20)))
})

test_that("what is no signal is refused, for nodes of any kind", {
  cl <- local_cluster(1)
  for (signal in list(0, 65, NA, 1.5, "TERM", 1:2)) {
    expect_argument_error(killNode(cl, signal = signal), "signal")
    expect_argument_error(killNode(cl[[1]], signal = signal), "signal")
    expect_argument_error(killNode("node", signal = signal), "signal")
  }
  expect_identical(isNodeAlive(cl), TRUE)
})

test_that("nodes of other packages get no signal, with a warning; those of other sessions none", {
  psock <- makePSOCKcluster(1)
  withr::defer(stopCluster(psock))
  expect_warning(expect_identical(killNode(psock), NA), "Signal 15 was not sent")
  expect_identical(clusterCall(psock, identity, 1), list(1))
  cl <- local_cluster(1)
  expect_identical(killNode(unserialize(serialize(cl, NULL))), NA)
  expect_identical(unlist(mccollect(mcparallel(killNode(cl))), use.names = FALSE), NA)
  expect_identical(clusterCall(cl, identity, 1), list(1))
})

test_that("a worker on another machine gets its signal there, however it is reached", {
  folder <- withr::local_tempdir()
  log <- file.path(folder, "log")
  # Stands for ssh: drops the host and all options, and runs the command here.
  ssh <- file.path(folder, "fake-ssh")
  writeLines(c("#!/bin/sh", "while [ $# -gt 2 ]; do shift; done", sprintf("echo \"$2\" >> %s", log), "exec sh -c \"$2\""), ssh)
  Sys.chmod(ssh, "755")
  by_function <- function(rshopts, worker) paste(shQuote(ssh), rshopts, worker)
  for (way in list(list(rshcmd = ssh), list(rshcmd = ssh, rshopts = c("-a", "'b c'"), user = "alice"), list(rshcmd = by_function))) {
    cl <- do.call(makeClusterPSOCK, c("other.example.org", way, revtunnel = FALSE, master = "127.0.0.1", rscript = rscript_path()))
    pid <- cl[[1]]$session_info$process$pid
    expect_identical(isNodeAlive(cl), TRUE)
    expect_identical(killNode(cl), TRUE)
    expect_match(tail(lines_of(log), 1L), paste("kill -15", pid), fixed = TRUE)
    expect_true(wait_until(function() !is_running(pid)))
    expect_identical(isNodeAlive(cl), FALSE)
    expect_identical(killNode(cl), FALSE)
    stopCluster(cl)
  }
})

test_that("parallelly's own function kills nodelay's workers, and nodelay's those of parallelly", {
  skip_if_not_installed("parallelly")
  cl <- local_cluster(1)
  expect_identical(parallelly::killNode(cl[[1]]), TRUE)
  expect_false(is_running(pids_of(cl)))
  other <- parallelly::makeClusterPSOCK(1)
  expect_identical(killNode(other), TRUE)
  close(other[[1]]$con)
})
