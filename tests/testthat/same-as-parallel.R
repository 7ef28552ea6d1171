# SPDX-License-Identifier: MIT
# The same calls on nodelay's clusters and on one of package parallel give the same. Run by
# test-cluster.R with the functions of package parallel, by test-clusterCall.R with nodelay's.

clusters <- c(
  list(parallel = makePSOCKcluster(2)),
  lapply(ways, function(way) do.call(makeClusterPSOCK, c(list(2), way)))
)

# What `ask` gets from each of nodelay's clusters is what it gets from parallel's: the
# value, or the class, message and call of the error; nodelay's functions give their errors
# further classes and no call.
expect_as_parallel <- function(ask) {
  is_own <- identical(environment(clusterCall), asNamespace("nodelay"))
  told <- function(outcome) {
    if (inherits(outcome, "condition")) unclass(outcome)[c("message", if (!is_own) "call")] else outcome
  }
  class_of <- function(outcome) {
    if (!is_own || !inherits(outcome, "condition")) return(class(outcome))
    grep("^nodelay_error", class(outcome), value = TRUE, invert = TRUE)
  }
  asked <- lapply(clusters, function(cl) outcome_of(within_seconds(20, ask(cl))))
  for (way in names(ways)) {
    expect_identical(told(asked[[way]]), told(asked$parallel), label = way)
    expect_identical(class_of(asked[[way]]), class_of(asked$parallel), label = paste("class over", way))
  }
  invisible(asked$parallel)
}

test_that("clusterCall() gives what parallel gives", {
  expect_as_parallel(function(cl) clusterCall(cl, task(function(x, y = 2) x + y), 1))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(...) list(...)), 1, b = "two", NULL, NA))
  expect_as_parallel(function(cl) clusterCall(cl, "paste", "a", "b", sep = "-"))
  expect_as_parallel(function(cl) clusterCall(cl, paste, "a", "b", sep = "-"))
  expect_as_parallel(function(cl) clusterCall(cl, sum, 1, 2, NA, na.rm = TRUE))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() NULL)))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() invisible(7))))
  expect_as_parallel(function(cl) clusterCall(cl, c, a = 1, b = 2))
})

test_that("values of every kind come back as they were", {
  values <- list(
    NULL, NA, NA_character_, NaN, -0, TRUE, 1i, raw(3), integer(), list(), list(NULL, a = list(1)),
    structure(1:6, dim = 2:3, dimnames = list(NULL, letters[1:3]), note = "kept"), iris,
    factor(c("a", NA)), as.POSIXlt("2020-01-01", tz = "UTC"), "\u00e9\u4e2d", iconv("\u00e9", "UTF-8", "latin1"),
    "bytes\xff", quote(f(x)), quote(x), quote(x[1]), stats::as.formula("y ~ x", globalenv()), expression(a, b + 1), 1:1e5, seq(0.5, 10, 0.5),
    as.list(1:3), pairlist(a = 1, 2), methods::new("numeric"), list(type = "DONE"), quote(expr = )
  )
  expect_as_parallel(function(cl) clusterApply(cl, values[-length(values)], task(function(x) x)))
  expect_as_parallel(function(cl) clusterApply(cl, values, task(function(...) missing(...))))
  expect_as_parallel(function(cl) {
    environment <- list2env(list(a = 1, b = "two"), parent = emptyenv())
    came_back <- clusterCall(cl, task(function(e) {
      e$c <- TRUE
      e
    }), environment)
    list(exists("c", environment), lapply(came_back, function(e) mget(c("a", "b", "c"), envir = e)))
  })
  expect_as_parallel(function(cl) {
    shared <- new.env()
    came_back <- clusterCall(cl, identity, list(shared, shared, globalenv(), baseenv(), emptyenv(), asNamespace("stats")))
    lapply(came_back, function(x) c(list(identical(x[[1]], x[[2]])), x[3:6]))
  })
  expect_as_parallel(function(cl) clusterCall(cl, task(function() function(x) x + 1)))
})

test_that("arguments that are code arrive as code", {
  expect_as_parallel(function(cl) clusterCall(cl, task(function(x) substitute(x)), quote(a + b)))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(x) deparse(substitute(x))), as.name("unknown")))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(x) list(class(x), x)), quote(stop("not run"))))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(...) match.call()), quote(u), b = 2, "three"))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(...) sys.call()[-1]), quote(u), b = quote(v + 1)))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(x, ...) c(nargs(), ...length())), 1, 2, z = 3))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(x, y) c(missing(x), missing(y))), 1))
  expect_as_parallel(function(cl) clusterCall(cl, "match.arg", "me", c("mean", "median")))
  expect_as_parallel(function(cl) clusterCall(cl, eval, quote(1 + 1)))
  expect_as_parallel(function(cl) clusterCall(cl, do.call, "sum", list(1, 2)))
  expect_as_parallel(function(cl) clusterCall(cl, "if", TRUE, quote(yes), quote(no)))
  expect_as_parallel(function(cl) clusterCall(cl, "(", quote(a)))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(fun) fun(2)), task(function(x) x^2)))
})

test_that("code without an environment of its own leaves nothing in the worker's workspace", {
  look <- task(function() ls(globalenv(), all.names = TRUE))
  expect_as_parallel(function(cl) {
    before <- clusterCall(cl, look)
    clusterCall(cl, eval, quote(leaked <- 1))
    clusterCall(cl, "assign", "leaked", 1)
    clusterCall(cl, assign, "leaked", 1)
    clusterCall(cl, "<-", "leaked", 1)
    identical(before, clusterCall(cl, look))
  })
  expect_as_parallel(function(cl) clusterCall(cl, "exists", "leaked"))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() exists("leaked"))))
})

test_that("clusterEvalQ() and clusterExport() work in the worker's workspace", {
  expect_as_parallel(function(cl) {
    kept <- 5
    clusterExport(cl, "kept", environment())
    clusterEvalQ(cl, {
      doubled <- kept * 2
      library(splines)
      NULL
    })
    seen <- clusterEvalQ(cl, list(kept, doubled, "package:splines" %in% search(), sort(ls())))
    clusterEvalQ(cl, rm(kept, doubled))
    seen
  })
  expect_as_parallel(function(cl) clusterExport(cl, "there_is_no_such_object"))
  expect_as_parallel(function(cl) clusterEvalQ(cl, library("no.such.package")))
})

test_that("clusterApply() and clusterApplyLB() give what parallel gives", {
  for (apply in list(clusterApply, clusterApplyLB)) {
    expect_as_parallel(function(cl) apply(cl, 1:7, task(function(i, by) i * by), by = 3))
    expect_as_parallel(function(cl) apply(cl, list(a = 1, b = NULL, "c"), task(function(x) x)))
    expect_as_parallel(function(cl) apply(cl, integer(), identity))
    expect_as_parallel(function(cl) apply(cl, 5, "identity"))
    expect_as_parallel(function(cl) apply(cl, 1:5, task(function(i) if (i == 3) stop("at ", i) else i)))
    expect_as_parallel(function(cl) apply(cl, 1:5, task(function(i) stop("at ", i))))
  }
})

test_that("clusterMap() gives what parallel gives", {
  for (scheduling in c("static", "dynamic")) {
    map <- function(...) clusterMap(..., .scheduling = scheduling)
    expect_as_parallel(function(cl) map(cl, task(function(x, y) x + y), 1:4, 4:1))
    expect_as_parallel(function(cl) map(cl, rep, 1:3, times = 3:1))
    expect_as_parallel(function(cl) map(cl, task(function(x, y, z) c(x, y, z)), 1:4, 1:2, MoreArgs = list(z = 0)))
    expect_as_parallel(function(cl) map(cl, task(function(x, y) x + y), 1:4, 1:2, RECYCLE = FALSE))
    expect_as_parallel(function(cl) map(cl, task(function(x, y) x + y), 1:4, 4:1, SIMPLIFY = TRUE))
    expect_as_parallel(function(cl) map(cl, task(function(x) nchar(x)), c("a", "bb"), USE.NAMES = TRUE))
    expect_as_parallel(function(cl) map(cl, task(function(x) nchar(x)), c(p = "a", q = "bb"), USE.NAMES = FALSE))
    expect_as_parallel(function(cl) map(cl, task(function(x) stop("no ", x)), 1:3))
  }
})

test_that("the apply family gives what parallel gives", {
  matrix <- matrix(1:12, 3, dimnames = list(letters[1:3], NULL))
  for (lapply in list(parLapply, parLapplyLB)) {
    expect_as_parallel(function(cl) lapply(cl, c(a = 1, b = 2, c = 3), task(function(x, p) x^p), 2))
    expect_as_parallel(function(cl) lapply(cl, list(), identity))
    expect_as_parallel(function(cl) lapply(cl, 1:5, task(function(x) x), chunk.size = 2))
    expect_as_parallel(function(cl) lapply(cl, 1:5, task(function(x) if (x == 4) stop("four") else x)))
  }
  for (sapply in list(parSapply, parSapplyLB)) {
    expect_as_parallel(function(cl) sapply(cl, c("u", "vv"), nchar))
    expect_as_parallel(function(cl) sapply(cl, 1:4, task(function(x) c(x, x^2))))
    expect_as_parallel(function(cl) sapply(cl, 1:2, task(function(x) diag(x)), simplify = FALSE))
    expect_as_parallel(function(cl) sapply(cl, c("u", "vv"), nchar, USE.NAMES = FALSE))
  }
  expect_as_parallel(function(cl) parApply(cl, matrix, 1, sum))
  expect_as_parallel(function(cl) parApply(cl, matrix, 2, task(function(x, k) x * k), 10))
  expect_as_parallel(function(cl) parApply(cl, matrix, c(1, 2), task(function(x) x + 1)))
  expect_as_parallel(function(cl) parRapply(cl, matrix, sum))
  expect_as_parallel(function(cl) parCapply(cl, matrix, sum))
  expect_as_parallel(function(cl) clusterSplit(cl, 1:7))
})

test_that("random numbers follow clusterSetRNGStream()", {
  expect_as_parallel(function(cl) {
    clusterSetRNGStream(cl, 123)
    list(clusterCall(cl, stats::rnorm, 3), parSapply(cl, 1:4, task(function(i) runif(1))), clusterEvalQ(cl, sample(10)))
  })
  expect_as_parallel(function(cl) {
    clusterEvalQ(cl, set.seed(7, kind = "Mersenne-Twister"))
    clusterEvalQ(cl, rnorm(2))
  })
})

test_that("calls without a cluster use the default one", {
  withr::defer(setDefaultCluster(NULL))
  expect_as_parallel(function(cl) {
    setDefaultCluster(cl)
    list(clusterCall(NULL, task(function() 1)), parSapply(X = 1:3, FUN = task(function(x) -x)), clusterEvalQ(expr = 2))
  })
})

test_that("a subset of a cluster is a cluster of these nodes", {
  who <- task(function() Sys.getpid())
  for (cl in clusters[-1L]) {
    expect_s3_class(cl[2L], class(cl), exact = TRUE)
    expect_identical(clusterCall(cl[2L], who), clusterCall(cl, who)[2L])
    expect_identical(clusterCall(cl[-1L], who), clusterCall(cl, who)[2L])
    expect_identical(clusterCall(cl[c(2L, 1L)], who), rev(clusterCall(cl, who)))
  }
})

test_that("errors reach the caller as they do with parallel", {
  own <- task(function() stop(structure(class = c("own", "error", "condition"), list(message = "boom", call = NULL))))
  expect_as_parallel(function(cl) clusterCall(cl, own))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() stop("caf\u00e9: ", 1))))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() stop())))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() log(-1:"a"))))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() undefined_function())))
  expect_as_parallel(function(cl) clusterCall(cl, "undefined_function"))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() match.arg("x", c("a", "b")))))
  expect_as_parallel(function(cl) clusterCall(cl, task(function(x) x), 1, 2))
  expect_as_parallel(function(cl) clusterApply(cl, 1:2, task(function(i) if (i == 2) stop("only the second"))))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() "still here")))
})

test_that("conditions that are handled on the worker stay there", {
  expect_as_parallel(function(cl) clusterCall(cl, task(function() {
    warning("not passed on")
    message("nor this")
    1
  })))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() try(stop("inside"), silent = TRUE))))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() {
    tryCatch(
      tryCatch(stop("inner"), error = function(e) stop("outer after ", conditionMessage(e)), finally = 1),
      error = conditionMessage
    )
  })))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() {
    withCallingHandlers(
      { warning("w"); "went on" },
      warning = function(w) invokeRestart("muffleWarning")
    )
  })))
  expect_as_parallel(function(cl) clusterCall(cl, task(function() {
    options(warn = 2)
    on.exit(options(warn = 0))
    as.integer("x")
  })))
})

test_that("endless recursion is an error like any other, and the worker goes on", {
  asked <- lapply(clusters[-1L], function(cl) {
    expect_error(clusterCall(cl, task(function() { f <- function() f(); f() })), "infinite recursion|stack usage")
    clusterCall(cl, task(function() "still here"))
  })
  for (answer in asked) expect_identical(answer, list("still here", "still here"))
})

test_that("an error whose message fails is an error, and native workers go on", {
  broken <- task(function() {
    conditionMessage.broken <- function(c) if (is_raised) stop("no message") else "m" # stop() asks first
    registerS3method("conditionMessage", "broken", conditionMessage.broken, envir = baseenv())
    is_raised <- FALSE
    on.exit(is_raised <- TRUE)
    stop(structure(class = c("broken", "error", "condition"), list(message = "m", call = NULL)))
  })
  for (cl in clusters[c("native", "tcp")]) {
    expect_error(clusterCall(cl, broken), "message cannot be read")
    expect_identical(clusterCall(cl, task(function() 1)), list(1, 1))
  }
})

test_that("stopCluster() gives what parallel gives", {
  pids <- unlist(lapply(clusters[-1L], pids_of))
  expect_as_parallel(function(cl) withVisible(stopCluster(cl)))
  expect_false(any(is_running(pids)))
})
