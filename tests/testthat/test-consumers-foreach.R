# SPDX-License-Identifier: MIT
skip_if_not_installed("foreach")

`%dopar%` <- foreach::`%dopar%`

backends <- list(
  doParallel = function(cl) doParallel::registerDoParallel(cl),
  doSNOW = function(cl) doSNOW::registerDoSNOW(cl)
)

for (backend in names(backends)) local({
  register <- backends[[backend]]

  # `use` on a registered cluster.
  on_backend <- function(use, ...) {
    skip_if_not_installed(backend)
    expect_as_on_parallel(function(cl) {
      register(cl)
      on.exit(foreach::registerDoSEQ())
      use()
    }, ...)
  }
  with <- function(text) paste0(text, " (", backend, ")")
  not_prescheduled <- list(preschedule = FALSE)

  test_that(with("results come in order"), {
    seen <- on_backend(function() {
      foreach::foreach(i = 1:7) %dopar% {
        Sys.sleep((7 - i) / 100)
        i^2
      }
    })
    expect_identical(seen$value, lapply(1:7, function(i) i^2))
  })

  test_that(with("results are combined as they are asked to be"), {
    on_backend(function() foreach::foreach(i = 1:5, .combine = c) %dopar% sqrt(i))
    on_backend(function() foreach::foreach(i = 1:5, j = 5:1, .combine = rbind, .inorder = TRUE) %dopar% c(i, j))
    seen <- on_backend(function() foreach::foreach(i = 1:5, .combine = `+`, .init = 100) %dopar% i)
    expect_equal(seen$value, 115)
  })

  test_that(with("tasks that are not prescheduled give the same"), {
    seen <- on_backend(function() {
      foreach::foreach(i = 1:9, .combine = c, .options.snow = not_prescheduled, .options.multicore = not_prescheduled) %dopar% (i * 2)
    })
    expect_equal(seen$value, 1:9 * 2)
  })

  for (handling in c("stop", "remove", "pass")) {
    test_that(with(sprintf("errors are handled by .errorhandling = \"%s\"", handling)), {
      seen <- on_backend(function() {
        results <- foreach::foreach(i = 1:4, .errorhandling = handling) %dopar% {
          if (i == 2) stop("task two fails") else i
        }
        lapply(results, function(result) if (inherits(result, "error")) conditionMessage(result) else result)
      })
      if (handling == "stop") expect_match(seen$failure, "task two fails")
      if (handling == "remove") expect_identical(seen$value, list(1L, 3L, 4L))
      if (handling == "pass") expect_identical(seen$value[[2]], "task two fails")
    })
  }

  test_that(with("variables and packages come to the workers"), {
    seen <- on_backend(function() {
      helper <- function(x) x * 10
      foreach::foreach(i = 1:3, .combine = c, .export = "helper", .packages = "tools") %dopar% {
        stopifnot("package:tools" %in% search())
        nchar(toTitleCase("word")) + helper(i)
      }
    })
    expect_equal(seen$value, 4 + 1:3 * 10)
  })

  test_that(with("the number of workers is that of the cluster"), {
    seen <- on_backend(function() foreach::getDoParWorkers(), num_workers = 3L)
    expect_equal(seen$value, 3)
  })

  test_that(with("more tasks than workers, and fewer, are worked on"), {
    on_backend(function() foreach::foreach(i = 1:50, .combine = c) %dopar% i)
    on_backend(function() foreach::foreach(i = 1, .combine = c) %dopar% i)
  })
})
