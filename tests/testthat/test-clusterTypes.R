# SPDX-License-Identifier: MIT

test_that("every type of cluster is registered by a name that is not parallelly's", {
  types <- list()
  register_cluster_types(function(type, makeCluster) types[[type]] <<- makeCluster)
  expect_named(types, c(RPSOCK, RMPI, SEQ))
  expect_identical(types[[RPSOCK]], makeClusterPSOCK)
  expect_identical(types[[RMPI]], makeClusterMPI)
  expect_s3_class(types[[SEQ]](1), "sequential_cluster")
  expect_argument_error(types[[SEQ]](2), "one node")
  expect_false(any(startsWith(names(types), "parallelly")))
})

test_that("where R has no registry nothing happens", {
  expect_silent(register_cluster_types(NULL))
})

test_that("parallel::makeCluster() takes the types where R has a registry", {
  skip_if_not("registerClusterType" %in% getNamespaceExports("parallel"), "R >= 4.5.0")
  cl <- parallel::makeCluster(2, type = RPSOCK, rscript_envs = c(OF_THIS_TEST = "here"))
  expect_s3_class(cl, "nodelay_cluster")
  expect_identical(parallel::clusterCall(cl, Sys.getenv, "OF_THIS_TEST"), list("here", "here"))
  expect_cluster_ends(cl)
  cl <- parallel::makeCluster(1, type = SEQ)
  expect_s3_class(cl, "sequential_cluster")
  expect_identical(parallel::clusterApply(cl, 1:3, sqrt), lapply(1:3, sqrt))
  expect_argument_error(parallel::makeCluster(2, type = SEQ), "one node")
})
