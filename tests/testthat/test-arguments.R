# SPDX-License-Identifier: MIT
# Values that make no sense are errors that name the argument and the value, and start nothing.

test_that("numbers of workers that make no sense are errors", {
  for (workers in list(0, -1, NA, NA_integer_, 1.5, character(), 1e9, Inf, NaN, NULL, list(), 1:2, integer(), TRUE, quote(x), NA_character_, "")) {
    expect_argument_error(makeClusterPSOCK(workers))
  }
  expect_argument_error(makeClusterPSOCK(0), "Number of 'workers' must be one or greater: 0")
  expect_argument_error(makeClusterPSOCK(1:2), "When numeric, argument 'workers' must be a single value: 1:2")
  expect_argument_error(makeClusterPSOCK(1e9), "so many files open")
})

test_that("a name that ssh would take for an option is refused", {
  for (worker in c("-oProxyCommand=x", "-")) {
    expect_argument_error(makeClusterPSOCK(worker), paste0("Worker '", worker, "'"))
    expect_argument_error(makeClusterPSOCK(c("localhost", worker)), paste0("Worker '", worker, "'"))
    expect_argument_error(makeNodePSOCK(worker), paste0("Worker '", worker, "'"))
  }
})

test_that("ports that make no sense are errors, also where no port is needed", {
  for (port in list("abc", NA, NA_integer_, 0, 70000, integer(), 1.5, NULL, list(1), c(2000, NA), -1, TRUE)) {
    for (way in ways) expect_argument_error(do.call(makeClusterPSOCK, c(list(1, port = port), way)), "'port'")
    expect_argument_error(makeNodePSOCK(port = port), "'port'")
  }
})

test_that("values of each argument that make no sense are errors that name it", {
  not_flags <- list(NA, NULL, "TRUE", 1, logical(), c(TRUE, FALSE))
  not_seconds <- list(0, -1, NA, NA_real_, Inf, "a", NULL, c(1, 2), numeric(), TRUE)
  bad <- list(
    autoStop = not_flags, validate = not_flags, useXDR = not_flags, verbose = not_flags, methods = not_flags,
    connectTimeout = not_seconds, timeout = not_seconds,
    engine = list("fast", NA, NULL, 1, character()), transport = list("udp", NA, NULL, 1),
    rscript_options = list("a", list(1), list(a = 1, 2), c(a = 1), quote(x), list(socketOptions = "x")),
    rscript_startup = list(1, TRUE, "1 +", list(1), list("x <-"), identity),
    rscript_envs = list(1, TRUE, list("A"), c("A=B" = "x"), NA_character_, ""),
    rscript_libs = list(1, NA_character_, list("a"), TRUE),
    default_packages = list(1, NA_character_, "no package", "a,b", "-e", list("stats")),
    outfile = list(1, NA_character_, c("a", "b"), character(), TRUE)
  )
  before <- child_pids()
  for (name in names(bad)) for (value in bad[[name]]) {
    arguments <- c(list(1), structure(list(value), names = name))
    expect_argument_error(do.call(makeClusterPSOCK, arguments, quote = TRUE), paste0("'", name, "'|socketOptions"))
  }
  for (value in not_flags) expect_argument_error(makeNodePSOCK(methods = value), "'methods'")
  for (rank in list(0, NA, 1.5, "a", NULL, c(1, 2))) expect_argument_error(makeNodePSOCK(rank = rank), "'rank'")
  expect_identical(setdiff(child_pids(), before), integer())
})

test_that("every argument of parallelly is there, in the same order", {
  skip_if_not_installed("parallelly")
  arguments <- function(package, name) names(formals(args(getExportedValue(package, name))))
  for (name in Filter(function(name) is.function(getExportedValue("parallelly", name)), getNamespaceExports("parallelly"))) {
    theirs <- arguments("parallelly", name)
    expect_identical(intersect(arguments("nodelay", name), theirs), theirs, label = name)
  }
})

test_that("arguments that parallelly got later than the version here stand where it has them", {
  expect_identical(match("rscript_call", names(formals(makeNodePSOCK))), 1L + match("rscript_startup", names(formals(makeNodePSOCK))))
  expect_identical(match("fraction", names(formals(args(availableCores)))), 1L + match("which", names(formals(args(availableCores)))))
})

test_that("unknown and unnamed arguments are errors", {
  expect_argument_error(makeClusterPSOCK(1, nonsense = 1), "Unused argument 'nonsense' of makeClusterPSOCK()")
  expect_error(makeNodePSOCK(nonsense = 1), "unused argument (nonsense = 1)", fixed = TRUE)
  expect_argument_error(makeClusterPSOCK(1, makeNodePSOCK, "auto", NULL, 7), "has no name")
})

test_that("a base-R worker cannot be reached without TCP", {
  expect_argument_error(makeClusterPSOCK(1, engine = "base", transport = "local"), "local transport")
})

test_that("an error in making a cluster is told where the cluster is made as an argument", {
  expect_argument_error(clusterCall(makeClusterPSOCK(0), identity, 1), "one or greater")
})

test_that("errors are of class nodelay_error and carry no call into nodelay's inside", {
  failure <- outcome_of(makeClusterPSOCK(0))
  expect_identical(class(failure), c("nodelay_error_argument", "nodelay_error", "simpleError", "error", "condition"))
  expect_identical(conditionCall(failure), NULL)
})
