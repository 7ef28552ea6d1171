# SPDX-License-Identifier: MIT

test_that("nodelay's nodes are known to be local and not forked", {
  cl <- local_cluster(2)
  expect_identical(isLocalhostNode(cl), c(TRUE, TRUE))
  expect_identical(isLocalhostNode(cl[[1]]), TRUE)
  expect_identical(isForkedNode(cl), c(FALSE, FALSE))
})

test_that("nodes of package parallel are local where their host is this machine", {
  node_on <- function(host, class = "SOCKnode") structure(list(con = NULL, host = host), class = class)
  for (host in c("localhost", "LOCALHOST", "127.0.0.1", "127.0.1.1", "::1", Sys.info()[["nodename"]])) {
    expect_identical(isLocalhostNode(node_on(host)), TRUE, label = host)
    expect_identical(isLocalhostNode(node_on(host, "SOCK0node")), TRUE, label = host)
  }
  expect_identical(isLocalhostNode(node_on("n1.example.org")), FALSE)
  expect_identical(isLocalhostNode(node_on("127.0.0.1.example.org")), FALSE)
  expect_identical(isLocalhostNode(node_on(NULL)), NA)
  expect_identical(isForkedNode(node_on("localhost")), NA)
})

test_that("attribute localhost of the host overrules its name", {
  node <- structure(list(host = structure("alias", localhost = TRUE)), class = c("RichSOCKnode", "SOCK0node"))
  expect_identical(isLocalhostNode(node), TRUE)
})

test_that("forked nodes are local and forked, and only their processes are forked children", {
  cl <- parallel::makeForkCluster(1)
  on.exit(stopCluster(cl))
  expect_identical(isLocalhostNode(cl), TRUE)
  expect_identical(isForkedNode(cl), TRUE)
  expect_identical(clusterCall(cl, isForkedChild), list(TRUE))
  expect_identical(isForkedChild(), FALSE)
})

test_that("of anything else it cannot be told", {
  expect_identical(isLocalhostNode(1), NA)
  expect_identical(isForkedNode("localhost"), NA)
})

test_that("all names on the lines of this machine in the file of hosts are its own, and no others", {
  hosts <- withr::local_tempfile(lines = c(
    "127.0.0.1 localhost", "# 10.0.0.8 m.y", "10.0.0.1\tfar.m.y  M.Y other last # m1y", "10.0.0.2 mxy m.y.org", "10.0.0.3 m.y"
  ))
  expect_setequal(host_aliases("m.y", hosts), c("10.0.0.1", "far.m.y", "M.Y", "other", "last", "10.0.0.3", "m.y"))
  expect_length(host_aliases("n1", hosts), 0)
  expect_length(host_aliases("m.y", "/no/such/file"), 0)
})
