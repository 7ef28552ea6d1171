# SPDX-License-Identifier: MIT

test_that("without Rmpi and snow the error names what is missing", {
  skip_if(requireNamespace("Rmpi", quietly = TRUE) && requireNamespace("snow", quietly = TRUE), "both are installed")
  expect_argument_error(makeClusterMPI(2), "not installed: .*'(Rmpi|snow)'")
})

test_that("arguments are checked first", {
  expect_argument_error(makeClusterMPI(0), "'workers'")
  expect_argument_error(makeClusterMPI(2, autoStop = NA), "'autoStop'")
})
