# SPDX-License-Identifier: MIT
# Whether a reply shows on the connection of a node within `seconds`.
is_ready <- function(node, seconds = 0) socketSelect(list(node$con), FALSE, seconds)

send_call <- function(node, fun, ...) parallel:::sendCall(node, fun, list(...))

num_connections <- function() nrow(showConnections())

test_that("a cluster that nobody asks for its connections takes none of R's", {
  before <- num_connections()
  cl <- local_cluster(I(3))
  clusterEvalQ(cl, 1)
  expect_identical(num_connections(), before)
  cl[[2]]$con
  expect_identical(num_connections(), before + 1L)
})

test_that("other elements of a node are those of a list", {
  node <- local_cluster(1)[[1]]
  expect_identical(node$rank, 1L)
  expect_identical(node[["rank"]], 1L)
  expect_identical(node[[2L]], 1L)
  expect_identical(node$ra, 1L) # partial matching, as in a list
  expect_null(node$nonsense)
  expect_null(node[["nonsense"]])
  expect_error(node[[99L]], "subscript out of bounds")
})

for_each_way(function(way, way_name) {
  by_way <- function(text) paste0(text, " (", way_name, ")")

  test_that(by_way("con is one open socket connection for the life of the node"), {
    node <- cluster_for(way, 1)[[1]]
    con <- node$con
    expect_s3_class(con, c("sockconn", "connection"), exact = TRUE)
    expect_true(isOpen(con))
    expect_identical(node[["con"]], con)
    copy <- node
    expect_identical(copy$con, con)
  })

  test_that(by_way("con is readable exactly while a reply waits"), {
    cl <- cluster_for(way, 2)
    node <- cl[[1]]
    expect_false(is_ready(node))
    send_call(node, identity, 1)
    expect_true(is_ready(node, 10))
    expect_false(is_ready(cl[[2]]))
    expect_true(is_ready(node))
    expect_identical(parallel:::recvResult(node), 1)
    expect_false(is_ready(node))
  })

  test_that(by_way("con is not readable while the worker computes, nor made so by polling"), {
    node <- cluster_for(way, 1)[[1]]
    gate <- withr::local_tempfile()
    send_call(node, function(gate) while (!file.exists(gate)) Sys.sleep(0.01), gate)
    polls <- vapply(1:1000, function(i) is_ready(node), NA)
    expect_false(any(polls))
    file.create(gate)
    expect_true(is_ready(node, 10))
    expect_null(parallel:::recvResult(node))
  })

  test_that(by_way("a reply that had come before con was made shows on it"), {
    cl <- cluster_for(way, 2)
    for (node in cl) for (i in 1:2) send_call(node, identity, i)
    # Long enough that both replies of a worker are read at once.
    Sys.sleep(0.2)
    expect_identical(parallel:::recvResult(cl[[1]]), 1L)
    expect_true(is_ready(cl[[1]], 10))
    expect_identical(parallel:::recvResult(cl[[1]]), 2L)
    expect_false(is_ready(cl[[1]]))
  })

  test_that(by_way("calls and polls mix"), {
    cl <- cluster_for(way, 2)
    is_right <- vapply(1:200, function(i) {
      called <- clusterCall(cl, identity, i)
      send_call(cl[[1]], identity, i)
      shown <- c(is_ready(cl[[1]], 10), is_ready(cl[[2]]))
      identical(list(called, shown, parallel:::recvResult(cl[[1]])), list(list(i, i), c(TRUE, FALSE), i))
    }, NA)
    expect_true(all(is_right))
    expect_identical(parLapply(cl, 1:10, sqrt), lapply(1:10, sqrt))
    expect_identical(clusterApplyLB(cl, 1:10, sqrt), lapply(1:10, sqrt))
    expect_false(is_ready(cl[[1]]))
  })

  test_that(by_way("a long reply shows from its first byte and comes whole"), {
    node <- cluster_for(way, 1)[[1]]
    send_call(node, function(n) as.raw(seq_len(n) %% 256L), 5e6)
    expect_true(is_ready(node, 10))
    expect_identical(parallel:::recvResult(node), as.raw(seq_len(5e6) %% 256L))
    expect_false(is_ready(node))
  })

  test_that(by_way("reading from con or writing to it does not disturb the node"), {
    node <- cluster_for(way, 1)[[1]]
    send_call(node, identity, "reply")
    expect_true(is_ready(node, 10))
    expect_lt(seconds_for(expect_error(serialize(1, node$con))), 10)
    expect_identical(suppressWarnings(readBin(node$con, "raw", 100)), raw())
    expect_error(suppressWarnings(unserialize(node$con)))
    expect_true(is_ready(node))
    expect_identical(parallel:::recvResult(node), "reply")
  })

  test_that(by_way("a node whose con was closed by hand works on"), {
    cl <- cluster_for(way, 1)
    node <- cl[[1]]
    close(node$con)
    # Its number is free for another connection, which must outlive the node.
    other <- textConnection("text")
    withr::defer(close(other))
    expect_identical(clusterCall(cl, identity, 1), list(1))
    expect_false(isConnectionValid(node$con))
    stopCluster(cl)
    expect_true(isOpen(other))
  })

  test_that(by_way("con of a killed worker is readable"), {
    cl <- cluster_for(way, 2)
    con <- cl[[1]]$con
    for (node in cl) send_call(node, Sys.sleep, 60)
    for (node in cl) tools::pskill(pids_of(list(node)), tools::SIGKILL)
    # The signal of a child's death may end a wait early.
    expect_true(wait_until(function() socketSelect(list(con), FALSE, 1)))
    for (node in cl) {
      expect_error(parallel:::recvData(node), class = "nodelay_error_worker_lost")
      expect_true(is_ready(node))
    }
  })

  test_that(by_way("stopping the cluster closes con"), {
    before <- num_connections()
    cl <- cluster_for(way, 2)
    con <- cl[[1]]$con
    stopCluster(cl)
    expect_error(isOpen(con), "invalid connection")
    expect_error(isOpen(cl[[1]]$con), "invalid connection")
    expect_error(isOpen(cl[[2]]$con), "invalid connection") # asked for too late
    expect_identical(num_connections(), before)
  })

  test_that(by_way("con goes with its node when that is garbage collected, without a warning"), {
    before <- num_connections()
    expect_no_warning({
      local({
        cl <- do.call(makeClusterPSOCK, c(list(1), way))
        cl[[1]]$con
      })
      gc()
      gc()
    })
    expect_identical(num_connections(), before)
  })

  test_that(by_way("con stays open when only the node is referred to"), {
    cl <- cluster_for(way, 1)
    cl[[1]]$con
    gc()
    gc()
    expect_true(isOpen(cl[[1]]$con))
    expect_false(is_ready(cl[[1]]))
  })
})

test_that("a reply to a call that was given up does not show", {
  cl <- local_cluster(1)
  send_call(cl[[1]], identity, "unwanted")
  send_call(cl[[1]], identity, "unwanted too")
  expect_identical(clusterCall(cl, identity, "wanted"), list("wanted"))
  send_call(cl[[1]], identity, "unwanted")
  nodelay:::nodes_give_up(nodelay:::node_handles(cl))
  Sys.sleep(0.2)
  expect_false(is_ready(cl[[1]]))
  expect_identical(clusterCall(cl, identity, "next"), list("next"))
})

test_that("a node of another session has no con", {
  node <- local_cluster(1)[[1]]
  expect_null(unserialize(serialize(node, NULL))$con)
})
