# SPDX-License-Identifier: MIT
# Plain values are serialized by a writer of nodelay's own, byte for byte as by R.

plain_values <- list(
  NULL, TRUE, c(NA, FALSE), 1L, c(NA, -5L), integer(), 1, c(NA, NaN, Inf, -Inf, -0, pi), 1i, complex(), as.raw(0:255), raw(), "", "a",
  character(), c(NA, "ascii", "\u00e9\u4e2d", iconv("\u00e9", "UTF-8", "latin1"), "bytes\xff"), list(), list(NULL, 1, list("deep", list(2L))),
  c(a = 1, b = 2), matrix(c(1.5, 2:6), 2, dimnames = list(c("r", "s"), NULL)), factor(c("u", NA, "v")), iris, head(mtcars), as.Date("2020-02-29"),
  as.POSIXct(1e9, origin = "1970-01-01", tz = "UTC"), as.POSIXlt("2020-01-01", tz = "UTC"), structure(list(x = 1, y = "z"), class = c("p", "q")),
  as.name("symbol"), list(as.name("a"), as.name("b"), as.name("a")), pairlist(a = 1, 2, b = NULL), structure(1, names = "n", other = list(as.name("n"))),
  globalenv(), baseenv(), emptyenv(), list(globalenv(), quote(x), envir = globalenv()), Sys.time(), as.list(iris),
  structure(1:3 + 0L, class = "odd", note = structure("x", deeper = pairlist(k = "v"))), package_version("1.2.3"), stats::ts(c(1, 2), start = 2000)
)
left_to_r <- list(
  mean, function(x) x, quote(f(x)), y ~ x, new.env(), asNamespace("stats"), 1:10, sum, expression(a), quote(expr = ), methods::new("numeric"),
  list(1, list(function() 1)), as.list(1:20000), rep_len("s", 20000), Reduce(function(x, i) list(x), 1:100, 1), methods::getClass("numeric")
)

test_that("plain values have the bytes that R would write", {
  for (i in seq_along(plain_values)) {
    expect_identical(nodelay:::serialized_bytes(plain_values[[i]], FALSE), nodelay:::serialized_bytes(plain_values[[i]], TRUE), label = paste("value", i))
    expect_identical(unserialize(nodelay:::serialized_bytes(plain_values[[i]], FALSE)), plain_values[[i]], label = paste("value", i))
  }
})

test_that("so do those that are left to R", {
  for (i in seq_along(left_to_r)) {
    expect_identical(nodelay:::serialized_bytes(left_to_r[[i]], FALSE), nodelay:::serialized_bytes(left_to_r[[i]], TRUE), label = paste("value", i))
  }
})

test_that("values made at random have the bytes that R would write", {
  withr::local_seed(1)
  any_value <- function(depth) {
    n <- sample(0:4, 1)
    value <- switch(sample(if (depth > 3) 6 else 8, 1),
      sample(c(TRUE, NA), n, TRUE), sample(c(1L, NA), n, TRUE), stats::rnorm(n), as.raw(sample(0:255, n)), sample(c("a", NA, "\u00e9", ""), n, TRUE),
      as.name(sample(letters, 1)), lapply(seq_len(n), function(i) any_value(depth + 1)), as.pairlist(lapply(seq_len(n + 1), function(i) any_value(depth + 1)))
    )
    if (is.vector(value) && n > 0 && stats::runif(1) < 0.4) names(value) <- sample(c(letters, ""), length(value))
    if (is.vector(value) && stats::runif(1) < 0.3) attr(value, sample(c("note", "other"), 1)) <- any_value(depth + 1)
    value
  }
  for (i in 1:500) {
    value <- any_value(0)
    expect_identical(nodelay:::serialized_bytes(value, FALSE), nodelay:::serialized_bytes(value, TRUE))
  }
})

test_that("the encoding of the locale is told, also after a change", {
  utf8 <- nodelay:::serialized_bytes("a", FALSE)
  withr::local_locale(c(LC_CTYPE = "C"))
  expect_identical(nodelay:::serialized_bytes("a", FALSE), nodelay:::serialized_bytes("a", TRUE))
  expect_false(identical(nodelay:::serialized_bytes("a", FALSE), utf8))
})
