# SPDX-License-Identifier: MIT
# Plain values are serialized by a writer of nodelay's own, byte for byte as by R, and read by a reader of its own.

bytes_by_r <- function(value) nodelay:::serialized_bytes(value, TRUE)

# A list of the value, or NULL where that is left to R.
read_plainly <- function(bytes) nodelay:::plain_value_of(bytes)

plain_values <- list(
  NULL, TRUE, c(NA, FALSE), 1L, c(NA, -5L), integer(), 1, c(NA, NaN, Inf, -Inf, -0, pi), 1i, complex(), as.raw(0:255), raw(), "", "a",
  character(), c(NA, "ascii", "\u00e9\u4e2d", iconv("\u00e9", "UTF-8", "latin1"), `Encoding<-`("bytes\xff", "bytes")), list(), list(NULL, 1, list("deep", list(2L))),
  c(a = 1, b = 2), matrix(c(1.5, 2:6), 2, dimnames = list(c("r", "s"), NULL)), factor(c("u", NA, "v")), iris, head(mtcars), as.Date("2020-02-29"),
  as.POSIXct(1e9, origin = "1970-01-01", tz = "UTC"), as.POSIXlt("2020-01-01", tz = "UTC"), structure(list(x = 1, y = "z"), class = c("p", "q")),
  as.name("symbol"), list(as.name("a"), as.name("b"), as.name("a")), pairlist(a = 1, 2, b = NULL), structure(1, names = "n", other = list(as.name("n"))),
  globalenv(), baseenv(), emptyenv(), list(globalenv(), quote(x), envir = globalenv()), Sys.time(), as.list(iris),
  quote(f(x)), quote(f(x, y = g(x)[["a"]], "b")), quote(x[, 1] <- -2L), eval(quote(y ~ x), globalenv()), list(quote(expr = )), quote(f()(1)), as.call(list(as.name("if"), TRUE, NULL)),
  structure(1:3 + 0L, class = "odd", note = structure("x", deeper = pairlist(k = "v"))), package_version("1.2.3"), stats::ts(c(1, 2), start = 2000)
)
left_to_r <- list(
  mean, function(x) x, y ~ x, as.call(list(sum, 1)), new.env(), asNamespace("stats"), 1:10, sum, expression(a),
  list(1, list(function() 1)), as.list(1:20000), rep_len("s", 20000), Reduce(function(x, i) list(x), 1:100, 1), methods::getClass("numeric")
)

test_that("plain values have the bytes that R would write", {
  for (i in seq_along(plain_values)) {
    expect_identical(nodelay:::serialized_bytes(plain_values[[i]], FALSE), bytes_by_r(plain_values[[i]]), label = paste("value", i))
    expect_identical(unserialize(nodelay:::serialized_bytes(plain_values[[i]], FALSE)), plain_values[[i]], label = paste("value", i))
  }
})

test_that("so do those that are left to R", {
  for (i in seq_along(left_to_r)) {
    expect_identical(nodelay:::serialized_bytes(left_to_r[[i]], FALSE), bytes_by_r(left_to_r[[i]]), label = paste("value", i))
  }
})

test_that("they are read as R reads them", {
  for (i in seq_along(plain_values)) {
    expect_identical(read_plainly(bytes_by_r(plain_values[[i]])), list(plain_values[[i]]), label = paste("value", i))
  }
})

test_that("others are left to R, which reads them", {
  for (i in seq_along(left_to_r)) {
    expect_null(read_plainly(bytes_by_r(left_to_r[[i]])), label = paste("value", i))
  }
  expect_null(read_plainly(serialize(1, NULL, xdr = TRUE)), label = "of another byte order")
  expect_null(read_plainly(serialize(1, NULL, xdr = FALSE, version = 2)), label = "of an older version")
  expect_null(read_plainly(bytes_by_r("\xff")), label = "a string that is not of its encoding")
  expect_null(read_plainly(bytes_by_r(raw(1e6))), label = "a large one")
  expect_null(read_plainly(c(bytes_by_r(1), as.raw(0))), label = "with more behind it")
})

# Copies that share nothing with the value.
test_that("what was read can be changed", {
  value <- list(a = 1, b = "x", c = list(2L))
  copy <- read_plainly(bytes_by_r(value))[[1]]
  copy$a[1] <- 5
  copy$c[[1]] <- 6L
  expect_identical(copy, list(a = 5, b = "x", c = list(6L)))
  expect_identical(value, list(a = 1, b = "x", c = list(2L)))
})

test_that("broken bytes are left to R, which tells of them, or mean what they mean to R", {
  withr::local_seed(2)
  by_r <- function(bytes) tryCatch(suppressWarnings(unserialize(bytes)), error = function(e) NULL)
  num_read <- 0
  for (value in list(iris[1:3, ], list(a = c("x", NA), b = quote(f(x, x))), structure(1:2 + 0L, note = list(TRUE, 1i)))) {
    bytes <- bytes_by_r(value)
    for (length in seq_along(bytes) - 1L) expect_null(read_plainly(bytes[seq_len(length)]))
    for (i in 1:2000) {
      broken <- bytes
      at <- sample(23:length(bytes), 1)
      broken[at] <- as.raw(sample(0:255, 1))
      read <- tryCatch(read_plainly(broken), error = function(e) "failed")
      if (identical(read, "failed")) expect_null(by_r(broken))
      if (!is.list(read)) next
      num_read <- num_read + 1
      # Compared by their bytes: some of these values are none that R's functions would make.
      expect_identical(bytes_by_r(read[[1]]), bytes_by_r(by_r(broken)))
    }
  }
  expect_gt(num_read, 100)
})

test_that("values made at random have the bytes that R would write, and are read", {
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
    expect_identical(nodelay:::serialized_bytes(value, FALSE), bytes_by_r(value))
    expect_identical(read_plainly(bytes_by_r(value)), list(value))
  }
})

test_that("the encoding of the locale is told, also after a change", {
  utf8 <- nodelay:::serialized_bytes("a", FALSE)
  withr::local_locale(c(LC_CTYPE = "C"))
  expect_identical(nodelay:::serialized_bytes("a", FALSE), bytes_by_r("a"))
  expect_false(identical(nodelay:::serialized_bytes("a", FALSE), utf8))
  expect_null(read_plainly(utf8))
  expect_identical(read_plainly(bytes_by_r("a")), list("a"))
})
