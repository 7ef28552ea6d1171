# SPDX-License-Identifier: MIT

r_here <- function() sprintf("(%s, platform %s)", R.version.string, R.version$platform)

printed <- function(x) paste(capture.output(print(x)), collapse = "\n")

test_that("a summary has one row for each node", {
  cl <- local_cluster(2)
  tcp <- local_cluster(1, transport = "tcp")
  about <- summary(c(cl, tcp))
  expect_s3_class(about, "data.frame")
  expect_named(about, c("host", "r_version", "platform", "pwd", "pid", "connection_index", "connection"))
  expect_identical(about$host, rep("localhost", 3))
  expect_identical(about$r_version, rep(R.version.string, 3))
  expect_identical(about$platform, rep(R.version$platform, 3))
  expect_identical(about$pwd, rep(getwd(), 3))
  expect_identical(about$pid, c(pids_of(cl), pids_of(tcp)))
  expect_identical(about$connection_index, rep(NA_integer_, 3))
  expect_identical(about$connection[1:2], rep("socket pair", 2))
  expect_match(about$connection[3], "^TCP port [0-9]+$")
  expect_identical(summary(cl[[2]]), summary(cl[2]))
})

test_that("what was not asked for is NA in a summary, and said in print", {
  cl <- local_cluster(1, validate = FALSE)
  expect_identical(unlist(summary(cl)[c("r_version", "platform", "pwd")], use.names = FALSE), rep(NA_character_, 3))
  expect_identical(printed(cl), "Socket cluster with 1 node on host 'localhost' (R version and platform not queried)")
})

test_that("a cluster prints how many nodes it has where", {
  cl <- local_cluster(2)
  expect_identical(printed(cl), paste("Socket cluster with 2 nodes on host 'localhost'", r_here()))
  expect_identical(printed(cl[1]), paste("Socket cluster with 1 node on host 'localhost'", r_here()))
  expect_identical(printed(cl[0]), "Socket cluster with no nodes")
  elsewhere <- cl[[2]]
  elsewhere$host[] <- "n1"
  three <- as.cluster(list(cl, elsewhere))
  expect_identical(printed(three), paste0(
    "Socket cluster with 3 nodes where 2 nodes are on host 'localhost' ", r_here(), ", 1 node is on host 'n1' ", r_here()
  ))
  expect_match(printed(local_cluster(1, autoStop = TRUE)), "automatically stopped by the garbage collector$")
})

test_that("a node prints its worker and what connects the two", {
  cl <- local_cluster(1)
  expect_identical(printed(cl[[1]]), sprintf(
    "nodelay_node of a socket cluster on local host 'localhost' with pid %d %s using a socket pair, native engine",
    pids_of(cl), r_here()
  ))
  expect_match(printed(local_cluster(1, engine = "base")[[1]]), "using a TCP port [0-9]+, base engine$")
})

test_that("lost and stopped nodes are named as broken", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    tools::pskill(pids_of(cl)[2], tools::SIGKILL)
    expect_true(wait_until(function() grepl("SIGKILL", summary(cl)$connection[2])), label = name)
    expect_match(printed(cl), "\\. 1 node \\(#2\\) has a broken connection \\(ERROR: Worker 2 .*SIGKILL")
    stopCluster(cl)
    expect_identical(summary(cl)$connection, rep("ERROR: stopped", 2))
    expect_match(printed(cl), ". 2 nodes (#1, #2) have broken connections (ERROR: stopped)", fixed = TRUE)
    expect_match(printed(cl[[1]]), "using a broken connection (ERROR: stopped)", fixed = TRUE)
  })
})

test_that("a node's R connection is numbered once it is there, and named as broken when it was closed", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    expect_identical(summary(cl)$connection_index, c(NA, NA_integer_))
    con <- cl[[2]]$con
    expect_identical(summary(cl)$connection_index, c(NA, as.integer(con)))
    expect_identical(summary(cl[[2]])$connection_index, as.integer(con))
    expect_no_match(printed(cl), "broken")
    close(con)
    expect_identical(summary(cl)$connection_index, c(NA, NA_integer_))
    expect_match(printed(cl), "1 node (#2) has a broken connection (ERROR: invalid connection, node$con was closed)", fixed = TRUE)
    expect_match(printed(cl[[2]]), "broken connection", fixed = TRUE)
    expect_identical(clusterCall(cl, identity, 1), list(1, 1))
  })
})

test_that("a cluster of two kinds tells of all its nodes", {
  rich <- local_cluster(1)
  plain <- makePSOCKcluster(1)
  cl <- c(plain, rich)
  about <- summary(cl)
  expect_named(about, names(summary(rich)))
  expect_identical(about$host, rep("localhost", 2))
  expect_identical(about$pid, c(NA, pids_of(rich)))
  expect_identical(about$connection_index, c(as.integer(plain[[1]]$con), NA))
  expect_identical(printed(cl), sprintf(
    "Socket cluster with 2 nodes where 1 node is on host 'localhost' (R version and platform not queried), 1 node is on host 'localhost' %s", r_here()
  ))
  stopCluster(plain)
  expect_match(printed(cl), "1 node (#1) has a broken connection (ERROR: invalid connection)", fixed = TRUE)
})

test_that("a cluster from another session can be printed", {
  cl <- local_cluster(1)
  expect_match(printed(unserialize(serialize(cl, NULL))), "ERROR: made in another R session")
})
