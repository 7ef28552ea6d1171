# SPDX-License-Identifier: MIT
# R values to bytes of nodelay's format and back: what comes is what R's own serializer delivers.

encoded <- function(value) nodelay:::encoded_value(value)
decoded <- function(bytes) nodelay:::decoded_value(bytes)
travelled <- function(value) decoded(encoded(value))
by_r <- function(value) unserialize(serialize(value, NULL))

# Functions and environments are never identical to their copies; their bytes are.
expect_travels <- function(value, label = "value") {
  got <- travelled(value)
  is_same <- identical(got, value) || identical(serialize(got, NULL), serialize(by_r(value), NULL))
  expect_true(is_same && identical(names(attributes(got)), names(attributes(value))), label = label)
  invisible(got)
}

plain_values <- list(
  NULL, TRUE, c(a = NA, b = FALSE), 1L, c(0.5, NaN, NA, Inf, -0), 1i, as.raw(0:255), character(), "text", c("x", NA, "", "x"),
  c("\u00e9", iconv("\u00e9", "UTF-8", "latin1"), "plain"), strrep("long", 5000), list(), list(1, list("a", NULL)), pairlist(a = 1, 2), quote(f(x, y = 2)),
  quote(x), as.name("\u00e9"), as.formula("y ~ x + z", globalenv()), expression(a + b, 3, "x"), iris, mtcars, Titanic, letters, factor(c("u", "v", NA)), as.Date("2020-01-01"),
  as.POSIXlt("2020-01-01", tz = "UTC"), ts(1:10, start = 1900, frequency = 4), matrix(1:6, 2, dimnames = list(NULL, c("a", "b", "c"))), array(1:8, c(2, 2, 2)),
  array(1:3, 3, list(x = c("a", "b", "c"))), structure(list(1), class = "odd", note = 1:3), structure(1:2, names = structure(c("a", "b"), note = "on names")),
  1:1e6, seq(2, 1e5, by = 2), as.character(1:1e4), sort(c(3, 1, 2)), globalenv(), baseenv(), emptyenv(), topenv(environment(stats::lm)), .BaseNamespaceEnv,
  sum, `if`, `[[`, stats::lm, compiler::cmpfun(task(function(x) x + 1)), as.list(1:1000), lapply(1:500, function(i) c(i, i + 0.5)), rep(list("a", "b", NA), 200),
  rep(list(NULL), 10), rep(list(1, c(a = 1)), 10), rep(list(integer()), 20), quote(function(x, ...) x), as.name("a b"), numeric_version("1.2.3"),
  structure(list(), names = character()), data.frame(), data.frame(a = 1:3)[0, , drop = FALSE], structure(1:4, dim = c(2L, 2L), class = "odd")
)

test_that("plain values of every kind travel", {
  for (i in seq_along(plain_values)) expect_travels(plain_values[[i]], paste("value", i))
})

test_that("the data sets of R travel", {
  names <- ls("package:datasets")
  expect_gt(length(names), 90)
  for (name in names) expect_travels(get(name, "package:datasets"), name)
})

test_that("models travel with what they have captured", {
  model <- lm(as.formula("mpg ~ wt + factor(cyl)", globalenv()), mtcars)
  got <- travelled(model)
  expect_equal(got, model)
  expect_identical(predict(got, mtcars), predict(model, mtcars))
  got <- travelled(glm(as.formula("am ~ wt", globalenv()), binomial, mtcars))
  expect_identical(got$family$linkinv(0), 0.5)
})

test_that("values that R's own functions would not make travel by R", {
  # A factor of doubles, from the bytes of a vector with the same attributes but another class.
  bytes <- serialize(structure(c(1, 2), levels = c("a", "b"), class = "facxor"), NULL, xdr = FALSE)
  bytes[utils::tail(which(bytes == charToRaw("x")), 1)] <- charToRaw("t")
  broken <- unserialize(bytes)
  expect_identical(class(broken), "factor")
  expect_type(broken, "double")
  for (value in list(broken, structure(1:6, comment = "kept"), structure(list(1, 2), dim = 2L), structure(quote(f(x)), class = "k"))) expect_travels(value)
})

test_that("functions travel with their environments, and cycles and sharing are kept", {
  make <- function(a, b, ...) {
    hidden <- a * 2
    list(get = function() hidden, set = function(value) hidden <<- value, self = environment())
  }
  both <- travelled(make(21))
  expect_identical(both$get(), 42)
  both$set(5)
  expect_identical(both$get(), 5)
  expect_identical(environment(both$get), both$self)
  inner <- new.env()
  outer <- new.env(parent = inner)
  inner$child <- outer
  inner$inner <- inner
  got <- travelled(list(outer, inner))
  expect_identical(parent.env(got[[1]]), got[[2]])
  expect_identical(got[[2]]$child, got[[1]])
  expect_identical(got[[2]]$inner, got[[2]])
})

test_that("promises travel as they are: asked for or not", {
  outside <- new.env()
  outside$x <- 1
  make <- function(forced, waiting, default = forced + 1, absent) {
    force(forced)
    environment()
  }
  place <- eval(quote(make(x + 10, x + 100)), list(make = make), outside)
  got <- travelled(list(place, outside))
  expect_identical(substitute(forced, got[[1]]), substitute(forced, by_r(place)))
  expect_identical(substitute(waiting, got[[1]]), quote(x + 100))
  got[[2]]$x <- 2
  expect_identical(got[[1]]$forced, 11)
  expect_identical(got[[1]]$waiting, 102)
  expect_identical(got[[1]]$default, 12)
  expect_true(eval(quote(missing(absent)), by_r(place)) == eval(quote(missing(absent)), got[[1]]))
})

test_that("dots travel", {
  make <- function(...) function() list(...)
  expect_identical(travelled(make(1, b = "x"))(), list(1, b = "x"))
  keep <- function(...) environment()
  got <- travelled(keep(stop("not asked for"), 2))
  expect_identical(eval(quote(...length()), got), 2L)
  expect_error(eval(quote(..1), got), "not asked for")
})

test_that("active bindings, locks and attributes of environments travel", {
  place <- new.env()
  place$count <- 0
  makeActiveBinding("next_one", local(function() place$count <- place$count + 1, list2env(list(place = place))), place)
  place$fixed <- 1
  lockBinding("fixed", place)
  attr(place, "note") <- "kept"
  class(place) <- "odd"
  lockEnvironment(place)
  got <- travelled(place)
  expect_identical(place$count, 0) # nobody has asked
  expect_identical(got$next_one, 1)
  expect_identical(got$count, 1)
  expect_error(got$fixed <- 2, "locked")
  expect_error(assign("another", 1, got), "cannot add")
  expect_identical(attributes(got), attributes(place))
})

test_that("variables of environments are listed in the same order", {
  calls <- (function(z, a, m) { k <- 1; environment() })(1, 2, 3)
  expect_identical(ls(travelled(calls), sorted = FALSE), ls(calls, sorted = FALSE))
  table <- list2env(list(z = 1, a = 2, m = 3, b = 4), new.env())
  expect_identical(ls(travelled(table), sorted = FALSE), ls(table, sorted = FALSE))
  expect_identical(names(as.list(travelled(table))), names(as.list(table)))
})

test_that("objects of S4 and of reference classes travel", {
  where <- globalenv()
  methods::setClass("NodelayPoint", methods::representation(x = "numeric", tags = "list"), where = where)
  methods::setClass("NodelayNumbers", contains = "numeric", methods::representation(unit = "character"), where = where)
  counter <- methods::setRefClass("NodelayCounter", fields = list(n = "numeric"), methods = list(up = function() n <<- n + 1), where = where)
  withr::defer({
    methods::removeClass("NodelayPoint", where)
    methods::removeClass("NodelayNumbers", where)
    methods::removeClass("NodelayCounter", where)
  })
  point <- methods::new("NodelayPoint", x = 1:3 / 2, tags = list("a", NULL))
  expect_identical(expect_travels(point), point)
  numbers <- methods::new("NodelayNumbers", c(1, 2), unit = "m")
  expect_identical(expect_travels(numbers), numbers)
  one <- counter$new(n = 1)
  got <- travelled(list(one, one))
  got[[1]]$up()
  expect_identical(c(got[[2]]$n, one$n), c(2, 1))
  expect_s4_class(travelled(methods::show), "standardGeneric")
})

test_that("pointers arrive empty, and once", {
  pointer <- methods::new("externalptr")
  attr(pointer, "note") <- 1
  got <- travelled(list(pointer, pointer))
  expect_identical(typeof(got[[1]]), "externalptr")
  expect_identical(got[[1]], got[[2]])
  expect_identical(attr(got[[1]], "note"), 1)
})

test_that("sources of functions travel", {
  withr::local_options(keep.source = TRUE)
  f <- eval(parse(text = "function(x) {\n  # a comment\n  x\n}", keep.source = TRUE), globalenv())
  expect_match(paste(capture.output(print(f)), collapse = ""), "a comment")
  expect_identical(capture.output(print(travelled(f))), capture.output(print(f)))
})

test_that("deep and wide values travel", {
  deep <- list()
  for (i in 1:3000) deep <- list(deep, i)
  expect_identical(travelled(deep), deep)
  chain <- NULL
  for (i in 1:20000) chain <- list2env(list(before = chain, i = i), new.env(parent = emptyenv()))
  got <- travelled(chain)
  expect_identical(got$before$before$i, 19998L)
  expect_identical(travelled(as.pairlist(as.list(1:20000))), as.pairlist(as.list(1:20000)))
  words <- paste0("w", 1:10000)
  expect_identical(travelled(c(words, rev(words), words[1:10])), c(words, rev(words), words[1:10]))
})

test_that("values made at random travel", {
  withr::local_seed(1)
  any_value <- function(depth) {
    n <- sample(0:5, 1)
    value <- switch(sample(if (depth > 3) 6 else 10, 1),
      sample(c(TRUE, NA), n, TRUE), sample(c(1L, NA), n, TRUE), stats::rnorm(n), as.raw(sample(0:255, n)), sample(c("a", NA, "\u00e9", "", iconv("\u00e9", "UTF-8", "latin1")), n, TRUE),
      as.name(sample(letters, 1)), lapply(seq_len(n), function(i) any_value(depth + 1)), as.pairlist(lapply(seq_len(n + 1), function(i) any_value(depth + 1))),
      as.call(c(quote(f), lapply(seq_len(n), function(i) any_value(depth + 1)))), as.expression(lapply(seq_len(n), function(i) any_value(depth + 1)))
    )
    if (is.vector(value) && n > 0 && stats::runif(1) < 0.4) names(value) <- sample(c(letters, ""), length(value))
    if (is.vector(value) && stats::runif(1) < 0.3) attr(value, sample(c("note", "other"), 1)) <- any_value(depth + 1)
    if (is.vector(value) && n == 4 && stats::runif(1) < 0.5) dim(value) <- c(2, 2)
    value
  }
  for (i in 1:1000) {
    value <- any_value(0)
    expect_identical(travelled(value), by_r(value))
  }
})

test_that("strings without a mark come from the locale of their writer", {
  unmarked <- "\xe9"
  Encoding(unmarked) <- "unknown"
  latin1 <- c("en_US.ISO-8859-1", "de_DE.ISO-8859-1", "en_US.iso88591")
  set <- FALSE
  for (locale in latin1) set <- set || nzchar(suppressWarnings(Sys.setlocale("LC_CTYPE", locale)))
  withr::defer(Sys.setlocale("LC_CTYPE", ""))
  if (!set) skip("no locale with another encoding")
  bytes <- encoded(unmarked)
  Sys.setlocale("LC_CTYPE", "C.UTF-8")
  expect_identical(enc2utf8(decoded(bytes)), "\u00e9")
})

test_that("what was read can be changed", {
  value <- list(a = 1, b = "x", c = list(2L))
  copy <- travelled(value)
  copy$a[1] <- 5
  copy$c[[1]] <- 6L
  expect_identical(copy, list(a = 5, b = "x", c = list(6L)))
  expect_identical(value, list(a = 1, b = "x", c = list(2L)))
})

test_that("broken bytes are refused by a classed error or R's own, and do no harm", {
  withr::local_seed(2)
  bytes <- encoded(list(iris[1:3, ], task(function(x) x), c("x", NA, "x"), new.env(parent = globalenv()), quote(f(x, y)), as.list(1:9)))
  refused <- 0
  for (length in seq_along(bytes) - 1L) expect_error(decoded(bytes[seq_len(length)]))
  for (i in 1:4000) {
    broken <- bytes
    for (at in sample(length(bytes), sample(3, 1))) broken[at] <- as.raw(sample(0:255, 1))
    got <- suppressWarnings(tryCatch(decoded(broken), error = identity))
    refused <- refused + inherits(got, "nodelay_error_protocol")
  }
  expect_gt(refused, 500)
  expect_error(decoded(c(encoded(1), as.raw(0))), class = "nodelay_error_protocol")
  expect_error(decoded(as.raw(c(0x4e, 0, 31))), class = "nodelay_error_protocol")
})
