# SPDX-License-Identifier: MIT

no_port_settings <- c(R_PARALLEL_PORT = NA, R_PARALLELLY_RANDOM_PORTS = NA, R_FUTURE_RANDOM_PORTS = NA)
withr::local_envvar(no_port_settings, .local_envir = teardown_env())

# Listens on a port until the test ends.
local_taken_port <- function(frame = parent.frame()) {
  port <- freePort()
  listener <- serverSocket(port)
  withr::defer(close(listener), envir = frame)
  port
}

test_that("a port that was found can be listened on", {
  port <- freePort(20000:60000)
  expect_type(port, "integer")
  expect_true(port %in% 20000:60000)
  listener <- serverSocket(port)
  close(listener)
})

test_that("a port that is taken is passed over, and not returned unless asked for", {
  taken <- local_taken_port()
  expect_identical(freePort(taken), NA_integer_)
  expect_identical(freePort(taken, default = NA), NA_integer_)
  expect_identical(freePort(taken, default = 12), 12L)
  expect_identical(freePort(c(taken, taken), default = "first"), taken)
  others <- setdiff(20000:60000, taken)
  expect_true(freePort(c(taken, others), randomize = FALSE) %in% others)
})

test_that("ports are tried as they stand, or in random order", {
  free <- freePort(30000:60000)
  expect_identical(freePort(rep(free, 3), randomize = FALSE), free)
  expect_gt(length(unique(replicate(20, freePort(20000:60000)))), 1L)
  in_order <- replicate(3, freePort(20000:60000, randomize = FALSE))
  expect_length(unique(in_order), 1L)
})

test_that("every port is free where a variable says so, and no other value of it is known", {
  taken <- local_taken_port()
  withr::local_envvar("_R_PARALLELLY_CHECK_AVAILABLE_PORTS_" = "any")
  expect_identical(freePort(taken), taken)
  expect_identical(freePort(c(taken, 7L), randomize = FALSE), taken)
  for (bad in c("none", "TRUE", "any ")) {
    withr::local_envvar("_R_PARALLELLY_CHECK_AVAILABLE_PORTS_" = bad)
    expect_argument_error(freePort(taken), "_R_PARALLELLY_CHECK_AVAILABLE_PORTS_")
  }
})

test_that("no ports give NA", {
  expect_identical(freePort(integer(0)), NA_integer_)
  expect_identical(freePort(integer(0), default = "first"), NA_integer_)
})

test_that("the state of R's random numbers is left alone", {
  set.seed(1)
  before <- .Random.seed
  freePort()
  expect_identical(.Random.seed, before)
  withr::with_preserve_seed({
    rm(".Random.seed", envir = globalenv())
    freePort()
    expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
  })
})

test_that("R_PARALLELLY_RANDOM_PORTS, else R_FUTURE_RANDOM_PORTS, gives the set of random ports", {
  expect_identical(random_ports(), 11000:11999)
  withr::local_envvar(R_FUTURE_RANDOM_PORTS = "4007, 4001:4003,4002")
  expect_identical(random_ports(), c(4001:4003, 4007L))
  withr::local_envvar(R_PARALLELLY_RANDOM_PORTS = "5000")
  expect_identical(random_ports(), 5000L)
  expect_identical(as_ports("random"), 5000L)
  expect_identical(as_ports(c("auto", "random")), 5000L)
})

test_that("what is no port in the set of random ports is skipped with a warning", {
  withr::local_envvar(R_PARALLELLY_RANDOM_PORTS = "4001,foo,99999,0,4:,4:5:6")
  expect_warning(ports <- random_ports(), "R_PARALLELLY_RANDOM_PORTS: 'foo', '99999', '0', '4:', '4:5:6'")
  expect_identical(ports, 4001L)
  withr::local_envvar(R_PARALLELLY_RANDOM_PORTS = "foo")
  expect_warning(ports <- random_ports(), "using 11000 to 11999")
  expect_identical(ports, 11000:11999)
})

test_that("R_PARALLEL_PORT gives the port of \"auto\", but not of \"random\"", {
  withr::local_envvar(R_PARALLEL_PORT = "5001")
  expect_identical(as_ports("auto"), 5001L)
  expect_identical(as_ports("random"), 11000:11999)
  withr::local_envvar(R_PARALLEL_PORT = "random")
  expect_identical(as_ports("auto"), 11000:11999)
  for (bad in c("abc", "99999")) {
    withr::local_envvar(R_PARALLEL_PORT = bad)
    expect_warning(ports <- as_ports("auto"), bad)
    expect_identical(ports, 11000:11999)
  }
})

test_that("a cluster takes its port from the set of random ports", {
  port <- freePort()
  withr::local_envvar(R_PARALLELLY_RANDOM_PORTS = port)
  cl <- local_cluster(1, transport = "tcp")
  expect_identical(summary(cl)$connection, paste("TCP port", port))
})

test_that("what is no port is an error", {
  for (bad in list(0, 65536, NA, 1.5, "foo", -1, list(1))) expect_argument_error(freePort(bad), "'ports'")
  for (bad in list(0, "foo", 1:2, NULL)) expect_argument_error(freePort(5000, default = bad), "'default'")
  expect_argument_error(freePort(randomize = NA), "'randomize'")
})
