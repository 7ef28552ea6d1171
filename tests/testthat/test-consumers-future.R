# SPDX-License-Identifier: MIT
skip_if_not_installed("future")

# `use` with a plan on a cluster.
with_plan <- function(use) {
  function(cl) {
    old <- future::plan(future::cluster, workers = cl)
    on.exit(future::plan(old))
    use()
  }
}

test_that("values of futures are those on a cluster of parallel's", {
  seen <- expect_as_on_parallel(with_plan(function() {
    x <- 3
    futures <- lapply(1:5, function(i) future::future(i + x))
    vapply(futures, future::value, 0)
  }))
  expect_identical(seen$value, 1:5 + 3)
})

test_that("errors, warnings, messages and output of a future are relayed", {
  expect_as_on_parallel(with_plan(function() future::value(future::future(stop("no luck")))))
  seen <- expect_as_on_parallel(with_plan(function() {
    future::value(future::future({
      message("a message")
      cat("output\n")
      warning("a warning")
      print(1:3)
      "value"
    }))
  }))
  expect_identical(seen$value, "value")
  expect_identical(seen$messages, "a message\n")
  expect_identical(seen$warnings, "a warning")
  expect_identical(seen$output, c("output", "[1] 1 2 3"))
})

test_that("seed = TRUE gives the random numbers of a cluster of parallel's", {
  seen <- expect_as_on_parallel(with_plan(function() {
    set.seed(42, kind = "L'Ecuyer-CMRG")
    on.exit(RNGkind("default"))
    futures <- lapply(1:4, function(i) future::future(runif(2), seed = TRUE))
    lapply(futures, future::value)
  }))
  expect_length(unique(seen$value), 4L)
})

test_that("resolved() tells without waiting, and value() gives the value after it", {
  for_each_way(function(way, name) {
    with_plan(function() {
      gate <- withr::local_tempfile()
      waiting <- future::future({
        while (!file.exists(gate)) Sys.sleep(0.01)
        "open"
      })
      polls <- seen_of(vapply(1:20, function(i) future::resolved(waiting), NA))
      expect_identical(polls$value, rep(FALSE, 20), label = name)
      expect_identical(polls$warnings, character(), label = name)
      file.create(gate)
      expect_true(wait_until(function() future::resolved(waiting)), label = name)
      expect_identical(future::value(waiting), "open", label = name)
      expect_identical(future::value(future::future("next")), "next", label = name)
    })(cluster_for(way, 2))
  })
})

test_that("immediate conditions are relayed while the future runs, by resolved() as well", {
  for_each_way(function(way, name) {
    with_plan(function() {
      gate <- withr::local_tempfile()
      running <- future::future(
        {
          message(structure(class = c("immediateCondition", "message", "condition"), list(message = "at once\n", call = NULL)))
          while (!file.exists(gate)) Sys.sleep(0.01)
          "done"
        },
        conditions = structure("condition", immediateConditionClasses = "immediateCondition")
      )
      messages <- character()
      note <- function(m) {
        messages <<- c(messages, conditionMessage(m))
        tryInvokeRestart("muffleMessage")
      }
      withCallingHandlers(
        expect_true(wait_until(function() !future::resolved(running) && length(messages) > 0), label = name),
        message = note
      )
      expect_identical(messages, "at once\n", label = name)
      file.create(gate)
      expect_identical(withCallingHandlers(future::value(running), message = note), "done", label = name)
    })(cluster_for(way, 1))
  })
})

test_that("a killed worker fails its future and says why, and the others work on", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    with_plan(function() {
      doomed <- future::future({
        tools::pskill(Sys.getpid(), tools::SIGKILL)
        Sys.sleep(60)
      })
      expect_true(wait_until(function() tryCatch(future::resolved(doomed), error = function(e) TRUE)), label = name)
      failure <- outcome_of(future::value(doomed))
      expect_s3_class(failure, "FutureError")
      # future 1.40 and later say "interrupted" themselves, and stop a cluster when its plan ends.
      said <- if (utils::packageVersion("future") < "1.40.0") "SIGKILL" else "interrupted"
      expect_match(conditionMessage(failure), said, label = name)
      expect_identical(clusterCall(cl[2], identity, 1), list(1), label = name)
    })(cl)
  })
})

test_that("future.apply gives what it gives on a cluster of parallel's", {
  skip_if_not_installed("future.apply")
  expect_as_on_parallel(with_plan(function() future.apply::future_lapply(1:10, sqrt)))
  expect_as_on_parallel(with_plan(function() future.apply::future_sapply(c(a = 1, b = 2), function(x) x + 1)))
  expect_as_on_parallel(with_plan(function() future.apply::future_mapply(`+`, 1:6, 6:1)))
  expect_as_on_parallel(with_plan(function() future.apply::future_lapply(1:5, function(i) runif(1), future.seed = 42L)))
  seen <- expect_as_on_parallel(with_plan(function() future.apply::future_lapply(1:3, function(i) if (i == 2) stop("no luck"))))
  expect_match(seen$failure, "no luck")
})
