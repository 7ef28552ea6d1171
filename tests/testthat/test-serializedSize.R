# SPDX-License-Identifier: MIT

test_that("the size is the number of bytes that serialize() makes", {
  values <- list(NULL, TRUE, 1:10, 1:10 + 0, letters, iris, mean, quote(f(x)), new.env(), globalenv(), y ~ x, raw(1e6), "\u00e9")
  for (value in values) expect_identical(serializedSize(value), as.numeric(length(serialize(value, NULL))))
})
