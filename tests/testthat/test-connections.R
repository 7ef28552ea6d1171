# SPDX-License-Identifier: MIT

test_that("the standard connections are 0, 1 and 2, and always valid", {
  expect_identical(lapply(list(stdin(), stdout(), stderr()), connectionId), list(0L, 1L, 2L))
  expect_true(isConnectionValid(stdin()))
  expect_true(isConnectionValid(unserialize(serialize(stderr(), NULL))))
})

test_that("an open connection has an identifier of its own", {
  first <- rawConnection(raw(0))
  second <- rawConnection(raw(0))
  on.exit({ close(first); close(second) })
  expect_gte(connectionId(first), 3)
  expect_match(attr(connectionId(first), "raw_id"), "^<pointer: 0x[0-9a-f]+>$")
  expect_false(connectionId(first) == connectionId(second))
  expect_true(isConnectionValid(first))
  expect_true(all.equal(first, first))
  expect_identical(all.equal(first, second), "Connections differ")
  expect_identical(all.equal(first, 1), "Connections differ")
  # As called by others.
  expect_identical(eval(quote(all.equal(first, second)), list(first = first, second = second), globalenv()), "Connections differ")
})

# A library with what matters here of a newer parallelly: its name, and a method of its own.
local_newer_parallelly <- function(frame = parent.frame()) {
  library_folder <- withr::local_tempdir(.local_envir = frame)
  source <- file.path(withr::local_tempdir(), "parallelly")
  dir.create(file.path(source, "R"), recursive = TRUE)
  writeLines(c("Package: parallelly", "Version: 99.0", "Title: Stand-In", "License: MIT"), file.path(source, "DESCRIPTION"))
  writeLines("S3method(all.equal, connection)", file.path(source, "NAMESPACE"))
  writeLines("all.equal.connection <- function(target, current, ...) 'from parallelly'", file.path(source, "R", "all.equal.R"))
  tools::Rcmd(c("INSTALL", "--no-docs", "--no-test-load", paste0("--library=", library_folder), source), stdout = FALSE, stderr = FALSE)
  library_folder
}

# What a fresh R writes that loads `packages` and then compares two connections.
loading <- function(packages, libraries = character()) {
  code <- c(sprintf("invisible(loadNamespace('%s'))", packages), "cat(all.equal(stdin(), stdout()))")
  withr::local_envvar(R_LIBS = paste(c(libraries, .libPaths()), collapse = ":"))
  system2(rscript_path(), c("--no-init-file", "-e", shQuote(paste(code, collapse = "; "))), stdout = TRUE, stderr = TRUE)
}

test_that("nodelay's method for connections and parallelly's give way to each other without a word", {
  newer <- local_newer_parallelly()
  expect_identical(loading("nodelay"), "Connections differ")
  expect_identical(loading(c("nodelay", "parallelly"), newer), "from parallelly")
  expect_identical(loading(c("parallelly", "nodelay"), newer), "from parallelly")
  skip_if_not_installed("parallelly")
  expect_identical(loading(c("nodelay", "parallelly")), "Connections differ")
  expect_identical(loading(c("parallelly", "nodelay")), "Connections differ")
})

test_that("a closed connection is not valid, whether or not its number is in use again", {
  con <- rawConnection(raw(0))
  index <- as.integer(con)
  close(con)
  valid <- isConnectionValid(con)
  expect_false(valid)
  expect_match(attr(valid, "reason"), sprintf("#%d has been closed", index))
  other <- textConnection("other")
  on.exit(close(other))
  expect_identical(as.integer(other), index)
  valid <- isConnectionValid(con)
  expect_false(valid)
  expect_match(attr(valid, "reason"), "another one: .* 'textConnection'")
  expect_true(isConnectionValid(other))
})

test_that("a serialized connection is -1 and not valid", {
  con <- rawConnection(raw(0))
  on.exit(close(con))
  copy <- unserialize(serialize(con, NULL))
  expect_equal(connectionId(copy), -1L, ignore_attr = TRUE)
  valid <- isConnectionValid(copy)
  expect_false(valid)
  expect_match(attr(valid, "reason"), "was serialized")
})

test_that("a connection without an identifier is NA, and what is no connection an error", {
  expect_identical(connectionId(structure(9L, class = "connection")), NA_integer_)
  for (ask in list(connectionId, isConnectionValid)) for (bad in list(1L, NULL, "stdin")) expect_argument_error(ask(bad), "'con'")
})

test_that("however a platform prints the null pointer, it is -1", {
  for (text in c("<pointer: (nil)>", "<pointer: 0x0>", "<pointer: 0>", "<pointer: 0000000000000000>")) {
    expect_identical(number_of_pointer(text), -1L)
  }
  expect_identical(number_of_pointer("<pointer: 0xcf>"), 207L)
  expect_identical(number_of_pointer("<pointer: 0x100000000>"), 2^32)
})

test_that("free connections are the available ones but those in use, and counting leaves none open", {
  before <- getAllConnections()
  the$num_connections <- NULL
  total <- availableConnections()
  expect_gte(total, 128)
  expect_identical(getAllConnections(), before)
  expect_identical(freeConnections(), total - length(before))
  con <- rawConnection(raw(0))
  on.exit(close(con))
  expect_identical(freeConnections(), total - length(before) - 1L)
})

test_that("options set the number of connections, and how far to count", {
  withr::local_options(parallelly.availableConnections = 64L)
  expect_identical(availableConnections(), 64L)
  expect_identical(freeConnections(), 64L - length(getAllConnections()))
  options(parallelly.availableConnections = Inf)
  expect_identical(availableConnections(), Inf)
  expect_identical(count_connections(5L), Inf)
})

test_that("that counting stopped early is not remembered", {
  the$num_connections <- NULL
  withr::local_options(parallelly.availableConnections.tries = 5L)
  expect_identical(availableConnections(), Inf)
  options(parallelly.availableConnections.tries = NULL)
  expect_lt(availableConnections(), Inf)
})

test_that("options that make no sense are errors, whether or not the number is known", {
  availableConnections()
  for (bad in list("abc", 2L, NA_integer_, 128:129, TRUE)) {
    withr::local_options(parallelly.availableConnections = bad)
    expect_argument_error(availableConnections(), "Option 'parallelly.availableConnections'")
    expect_argument_error(availableCores(methods = "connections"), "Option 'parallelly.availableConnections'")
  }
  options(parallelly.availableConnections = NULL)
  for (bad in list("abc", -1L, NA_integer_, 1:2)) {
    withr::local_options(parallelly.availableConnections.tries = bad)
    expect_argument_error(availableConnections(), "Option 'parallelly.availableConnections.tries'")
  }
})
