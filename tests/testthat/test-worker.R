# SPDX-License-Identifier: MIT
# The life of a worker: what ends it, and what it leaves behind.

busy <- list(
  sleeping = "Sys.sleep(100)",
  computing = "repeat {}",
  "in a child process" = "system('sleep 100')"
)

# The code of a main process that starts two workers, writes their pids to `pids` once all
# are in the middle of `code`, and waits for them.
main_process <- function(way, code, pids) {
  begun <- paste0(pids, ".begun")
  c(
    sprintf("cl <- do.call(makeClusterPSOCK, c(list(2), %s))", paste(deparse(way), collapse = "")),
    sprintf("for (node in unclass(cl)) cat(attr(node, 'pid'), '\\n', sep = '', file = %s, append = TRUE)", deparse(begun)),
    sprintf("invisible(clusterCall(cl, eval, quote({ cat('begun\\n', file = %s, append = TRUE); %s }), globalenv()))", deparse(pids), code)
  )
}

test_that("workers are gone within two seconds of the death of their main process", {
  for (way in names(ways)) for (what in names(busy)) {
    folder <- withr::local_tempdir()
    pids <- file.path(folder, "pids")
    main <- start_script(main_process(ways[[way]], busy[[what]], pids), env = paste0("TMPDIR=", folder))
    expect_true(wait_until(function() length(lines_of(pids)) == 2L, 20), label = paste(way, what))
    workers <- as.integer(lines_of(paste0(pids, ".begun")))
    expect_identical(is_running(workers), c(TRUE, TRUE))
    tools::pskill(main, tools::SIGKILL)
    expect_true(wait_until(function() !any(is_running(workers)), 2), label = paste(way, what))
    # The main process itself leaves one.
    if (way != "base") expect_lte(length(list.files(folder, pattern = "^Rtmp")), 1L)
  }
})

test_that("workers end when their main process quits without stopping them", {
  for_each_way(function(way, name) {
    folder <- withr::local_tempdir()
    told <- run_script(c(
      sprintf("cl <- do.call(makeClusterPSOCK, c(list(2), %s))", paste(deparse(way), collapse = "")),
      "writeLines(as.character(unlist(clusterCall(cl, Sys.getpid))))"
    ), env = paste0("TMPDIR=", folder))
    expect_length(told, 2L)
    expect_true(wait_until(function() !any(is_running(as.integer(told))), 3), label = name)
    expect_identical(list.files(folder, pattern = "^Rtmp"), character(), label = name)
  })
})

test_that("busy workers are gone, with their temporary folders, when their main process has quit", {
  for_each_way(function(way, name) for (what in names(busy)) {
    folder <- withr::local_tempdir()
    begun <- file.path(folder, "begun")
    told <- run_script(c(
      sprintf("cl <- do.call(makeClusterPSOCK, c(list(2), %s))", paste(deparse(way), collapse = "")),
      sprintf("code <- quote({ cat('begun\\n', file = %s, append = TRUE); %s })", deparse(begun), busy[[what]]),
      "for (node in unclass(cl)) parallel:::sendCall(node, eval, list(code, globalenv()))",
      sprintf("while (!file.exists(%1$s) || length(readLines(%1$s)) < 2) Sys.sleep(0.01)", deparse(begun)),
      "writeLines(as.character(vapply(unclass(cl), attr, 0L, 'pid')))"
    ), env = paste0("TMPDIR=", folder))
    expect_length(told, 2L)
    expect_false(any(is_running(as.integer(told))), label = paste(name, what))
    expect_identical(list.files(folder, pattern = "^Rtmp"), character(), label = paste(name, what))
  })
})

test_that("what is done at the end of the main process does nothing in its forked children", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    mccollect(mcparallel(nodelay:::stop_all_nodes(nodelay:::the)))
    expect_identical(within_seconds(20, clusterCall(cl, identity, 1)), list(1), label = name)
  })
})

test_that("stopCluster() returns when busy workers are gone, within three seconds", {
  for_each_way(function(way, name) for (code in busy) {
    cl <- do.call(makeClusterPSOCK, c(list(2), way))
    begun <- tempfile()
    for (node in unclass(cl)) {
      parallel:::sendCall(node, task(function(begun, code) {
        cat("begun\n", file = begun, append = TRUE)
        eval(parse(text = code))
      }), list(begun, code))
    }
    expect_true(wait_until(function() length(lines_of(begun)) == 2L), label = name)
    expect_lt(seconds_for(stopCluster(cl)), 3)
    expect_identical(is_running(pids_of(cl)), c(FALSE, FALSE), label = paste(name, code))
  })
})

test_that("stopCluster() returns the same as parallel's, and may be called twice", {
  cl <- makeClusterPSOCK(1)
  expect_identical(withVisible(stopCluster(cl)), list(value = NULL, visible = FALSE))
  expect_silent(stopCluster(cl))
  expect_error(clusterCall(cl, identity, 1), "was stopped at [0-9:]{8}", class = "nodelay_error_stopped")
  expect_output(print(cl), "1 node (#1) has a broken connection (ERROR: stopped)", fixed = TRUE)
})

test_that("a stopped worker leaves no temporary folder", {
  folder <- local_temporary_folder()
  for_each_way(function(way, name) {
    cl <- do.call(makeClusterPSOCK, c(list(2), way))
    expect_length(list.files(folder, pattern = "^Rtmp"), 2L)
    stopCluster(cl)
    expect_identical(list.files(folder, pattern = "^Rtmp"), character(), label = name)
  })
})

test_that("a killed worker leaves no temporary folder", {
  folder <- local_temporary_folder()
  for_each_way(function(way, name) for (validate in c(TRUE, FALSE)) {
    cl <- do.call(makeClusterPSOCK, c(list(2, validate = validate), way))
    expect_length(list.files(folder, pattern = "^Rtmp"), 2L)
    tools::pskill(pids_of(cl)[1L], tools::SIGKILL)
    expect_error(within_seconds(20, clusterCall(cl, identity, 1)), class = "nodelay_error_worker_lost")
    expect_length(list.files(folder, pattern = "^Rtmp"), 1L)
    stopCluster(cl)
    expect_identical(list.files(folder, pattern = "^Rtmp"), character(), label = paste(name, validate))
  })
})

test_that("a worker that has to be killed leaves no temporary folder", {
  folder <- local_temporary_folder()
  cl <- makeClusterPSOCK(1, engine = "base")
  parallel:::sendCall(cl[[1]], task(function() repeat tryCatch(repeat {}, interrupt = function(e) NULL)), list())
  stopCluster(cl)
  expect_identical(list.files(folder, pattern = "^Rtmp"), character())
})

test_that("busy workers end when their cluster is garbage collected, with nobody looking after them", {
  for_each_way(function(way, name) {
    cl <- do.call(makeClusterPSOCK, c(list(1), way))
    pid <- pids_of(cl)
    begun <- withr::local_tempfile()
    parallel:::sendCall(cl[[1]], task(function(begun) {
      file.create(begun)
      repeat {}
    }), list(begun))
    expect_true(wait_until(function() file.exists(begun)), label = name)
    rm(cl)
    gc()
    expect_true(wait_until(function() !is_running(pid)), label = name)
  })
})

test_that("workers end when their cluster is garbage collected", {
  for_each_way(function(way, name) {
    cl <- do.call(makeClusterPSOCK, c(list(2), way))
    pids <- pids_of(cl)
    kept <- cl[2]
    rm(cl)
    gc()
    expect_true(wait_until(function() !is_running(pids[1L])), label = name)
    expect_identical(clusterCall(kept, Sys.getpid), list(pids[2L]), label = name)
    rm(kept)
    gc()
    expect_true(wait_until(function() !is_running(pids[2L])), label = name)
  })
})

test_that("two clusters live side by side", {
  one <- local_cluster(2)
  other <- local_cluster(2, engine = "base")
  parallel:::sendCall(one[[1]], task(function() "one"), list())
  expect_identical(clusterCall(other, identity, "other"), list("other", "other"))
  expect_identical(parallel:::recvResult(one[[1]]), "one")
  stopCluster(one)
  expect_identical(clusterCall(other, identity, "other"), list("other", "other"))
})

test_that("a worker ends after 'timeout' seconds without a call", {
  cl <- local_cluster(1, timeout = 1)
  expect_true(wait_until(function() !is_running(pids_of(cl)), 5))
})

test_that("the worker function is of no use outside of a worker", {
  expect_argument_error(nodelay:::run_worker(), "for workers that nodelay starts")
})

test_that("fifty clusters one after the other leave no descriptor, connection or zombie behind", {
  make_and_stop <- function(way) {
    cl <- do.call(makeClusterPSOCK, c(list(1, validate = FALSE, default_packages = character()), way))
    clusterCall(cl, identity, 1)
    stopCluster(cl)
  }
  for (way in ways) make_and_stop(way)
  gc()
  before <- list(num_descriptors(), child_pids(), nrow(showConnections()))
  for (i in 1:50) make_and_stop(ways[[i %% 3 + 1]])
  gc()
  expect_identical(list(num_descriptors(), child_pids(), nrow(showConnections())), before)
})

test_that("values of 10 and 100 MB arrive both ways as they were", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    for (bytes in c(1e7, if (name != "base") 1e8)) {
      value <- rep_len(as.raw(0:250), bytes)
      expect_true(identical(within_seconds(60, clusterCall(cl, identity, value))[[1L]], value), label = paste(name, bytes))
    }
  })
})

test_that("many calls do not make the main process or the worker grow", {
  cl <- local_cluster(1)
  resident_kb <- function(pid) {
    lines <- readLines(file.path("/proc", pid, "status"))
    as.integer(gsub("[^0-9]", "", grep("^VmRSS", lines, value = TRUE)))
  }
  pids <- c(Sys.getpid(), pids_of(cl))
  call_often <- function(times) {
    for (i in seq_len(times)) {
      parallel:::sendCall(cl[[1]], identity, list(i))
      parallel:::recvResult(cl[[1]])
    }
    gc()
    vapply(pids, resident_kb, 0L)
  }
  before <- call_often(15000) # R lets its heap grow to some size first
  expect_true(all(call_often(20000) - before < 10000))
})

test_that("output of many short calls does not fill the memory", {
  cl <- local_cluster(1)
  for (i in 1:3) {
    for (j in 1:15) clusterCall(cl, task(function() message(strrep("x", 1e6))))
    Sys.sleep(1.1) # a log is looked after once a second
  }
  clusterCall(cl, identity, 1)
  blocks <- clusterCall(cl, task(function() as.numeric(system2("stat", c("-L", "-c", "%b", "/proc/self/fd/2"), stdout = TRUE))))
  expect_lt(blocks[[1L]] * 512, 2e7)
})

test_that("a cluster in a worker leaves the user's log file alone", {
  log <- withr::local_tempfile()
  cl <- local_cluster(1)
  clusterCall(cl, task(function(log, lib) {
    nested <- getNamespace("nodelay")$makeClusterPSOCK(1, outfile = log)
    parallel::clusterCall(nested, function() { for (i in 1:8) message(strrep("x", 1e6)); Sys.sleep(1.5) })
    parallel::stopCluster(nested)
  }), log)
  expect_gt(file.size(log), 8e6)
  expect_false(any(readBin(log, "raw", 2e6) == as.raw(0)))
})

test_that("workers end with their main process although a fork of that goes on", {
  pids <- withr::local_tempfile()
  main <- start_script(c(
    "cl <- makeClusterPSOCK(2)",
    "parallel:::sendCall(cl[[1]], function() repeat {}, list())",
    "job <- mcparallel(Sys.sleep(30))",
    sprintf("writeLines(as.character(c(vapply(unclass(cl), attr, 0L, 'pid'), job$pid)), %s)", deparse(pids)),
    "Sys.sleep(30)"
  ))
  expect_true(wait_until(function() length(lines_of(pids)) == 3L, 20))
  all <- as.integer(lines_of(pids))
  withr::defer(tools::pskill(all, tools::SIGKILL))
  tools::pskill(main, tools::SIGKILL)
  expect_true(wait_until(function() !any(is_running(all[1:2])), 3))
})
