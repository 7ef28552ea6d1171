supported <- function(..., variables = c(RSTUDIO = "", RSTUDIO_TERM = ""), options = list(parallelly.fork.enable = NULL)) {
  with_settings(supportsMulticore(...), variables, options)
}

console <- c(RSTUDIO = "1", RSTUDIO_TERM = "")
terminal <- c(RSTUDIO = "1", RSTUDIO_TERM = "abc")

test_that("forking is supported outside of RStudio, unless it is disabled", {
  expect_true(supported())
  expect_false(supported(options = list(parallelly.fork.enable = FALSE)))
  expect_true(supported(options = list(parallelly.fork.enable = NA)))
})

test_that("in RStudio it is disabled where option disableOn says", {
  expect_false(supported(variables = console))
  expect_true(supported(variables = terminal))
  only_terminal <- list(parallelly.supportsMulticore.disableOn = "rstudio_terminal")
  expect_false(supported(variables = terminal, options = only_terminal))
  expect_true(supported(variables = console, options = only_terminal))
  expect_true(supported(variables = console, options = list(parallelly.fork.enable = TRUE)))
})

test_that("it warns where asked to, once, and not where silenced", {
  the$has_warned_of_forking <- NULL
  expect_silent(supported(variables = console))
  expect_silent(supported(warn = TRUE, variables = console, options = list(parallelly.supportsMulticore.unstable = "quiet")))
  expect_warning(supported(warn = TRUE, variables = console), "not safe in RStudio")
  expect_silent(supported(warn = TRUE, variables = console))
})
