# SPDX-License-Identifier: MIT
skip_if_not_installed("BiocParallel")

# `use` with the parameter object of a cluster.
with_param <- function(use) {
  function(cl) {
    param <- methods::as(cl, "SnowParam")
    use(param)
  }
}

test_that("a cluster is coerced to a SnowParam that is up, with all its workers", {
  cl <- local_cluster(I(3))
  param <- methods::as(cl, "SnowParam")
  expect_true(methods::is(param, "SnowParam"))
  expect_true(BiocParallel::bpisup(param))
  expect_identical(BiocParallel::bpnworkers(param), 3L)
})

test_that("a cluster of nodelay's nodes and parallel's is coerced, too", {
  cl <- c(local_cluster(2), cluster_of_parallel(1))
  param <- methods::as(cl, "SnowParam")
  expect_identical(BiocParallel::bplapply(1:9, sqrt, BPPARAM = param), lapply(1:9, sqrt))
})

test_that("bplapply() gives results in order", {
  seen <- expect_as_on_parallel(with_param(function(param) BiocParallel::bplapply(1:9, sqrt, BPPARAM = param)))
  expect_identical(seen$value, lapply(1:9, sqrt))
})

test_that("bpmapply() and bpvec() give what they give on a cluster of parallel's", {
  expect_as_on_parallel(with_param(function(param) BiocParallel::bpmapply(`+`, 1:4, 5:8, BPPARAM = param)))
  expect_as_on_parallel(with_param(function(param) BiocParallel::bpvec(1:10, sqrt, BPPARAM = param)))
})

test_that("an error of a task is an error of BiocParallel that keeps the other results", {
  seen <- expect_as_on_parallel(with_param(function(param) {
    result <- BiocParallel::bptry(BiocParallel::bplapply(1:4, function(i) if (i == 2) stop("no luck") else i, BPPARAM = param))
    list(ok = BiocParallel::bpok(result), message = conditionMessage(result[[2]]))
  }))
  expect_identical(seen$value$ok, c(TRUE, FALSE, TRUE, TRUE))
  expect_match(seen$value$message, "no luck")
})

test_that("bpiterate() takes values until there is none", {
  seen <- expect_as_on_parallel(with_param(function(param) {
    num_given <- 0L
    give <- function() {
      if (num_given == 10L) return(NULL)
      num_given <<- num_given + 1L
      num_given
    }
    BiocParallel::bpiterate(give, function(i) i^2, BPPARAM = param, REDUCE = `+`, init = 0)
  }))
  expect_equal(seen$value, sum((1:10)^2))
})

test_that("RNGseed makes random numbers the same however many workers there are", {
  draw <- function(param) {
    BiocParallel::bpRNGseed(param) <- 42L
    BiocParallel::bplapply(1:5, function(i) runif(2), BPPARAM = param)
  }
  two <- expect_as_on_parallel(with_param(draw))$value
  three <- expect_as_on_parallel(with_param(draw), num_workers = 3L)$value
  expect_identical(two, three)
  expect_false(anyDuplicated(unlist(two)) > 0)
})

test_that("messages and warnings of tasks come back", {
  expect_as_on_parallel(with_param(function(param) {
    BiocParallel::bplapply(1:2, function(i) {
      message("message ", i)
      warning("warning ", i)
      i
    }, BPPARAM = param)
  }))
})
