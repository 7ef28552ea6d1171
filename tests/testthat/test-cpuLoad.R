test_that("the load has three averages", {
  load <- cpuLoad()
  expect_named(load, c("1min", "5min", "15min"))
  expect_type(load, "double")
  expect_true(all(is.na(load) | load >= 0))
})

test_that("the free cores are those that the load leaves, and at least one", {
  with_settings({
    free <- freeCores(memory = "15min", fraction = 0.5)
    expect_equal(c(free), max(1, floor(0.5 * (1000 - attr(free, "loadavg")[["15min"]]))))
    expect_named(attributes(free), c("loadavg", "maxCores", "memory", "fraction"))
    expect_identical(attr(free, "maxCores"), c(system = 1000L))
    expect_identical(attr(free, "memory"), "15min")
    expect_gte(freeCores(fraction = 1e-9), 1L)
  }, options = list(parallelly.availableCores.system = 1000L))
})

test_that("arguments of freeCores() that make no sense are refused", {
  expect_error(freeCores(memory = "2min"), class = "nodelay_error_argument")
  expect_error(freeCores(fraction = 2), class = "nodelay_error_argument")
})
