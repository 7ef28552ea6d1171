command <- function(code, ...) in_new_session(code, c(R_PARALLELLY_AVAILABLECORES_SYSTEM = "8"), c(...))

test_that("a function that is named on the command line is called with the arguments there", {
  expect_identical(trimws(command("nodelay::availableCores", "--methods=system,nothing", "--omit=1")), c("system", "7"))
  expect_match(command("nodelay::availableWorkers", "--methods=nothing", "--default=a,b"), "\"a\" \"b\"")
  expect_match(command("nodelay::cpuLoad")[1], "1min +5min +15min")
})

test_that("unknown arguments on the command line are refused", {
  output <- suppressWarnings(command("nodelay::availableCores", "--omits=1"))
  expect_match(output[1], "Unknown command-line arguments: --omits=1")
  output <- suppressWarnings(command("nodelay::cpuLoad", "now"))
  expect_match(output[1], "Unknown command-line arguments: now")
})

test_that("anywhere else the function is printed", {
  expect_output(print(cpuLoad), "load_averages")
  expect_match(command("library(nodelay); cpuLoad")[1], "^function")
})
