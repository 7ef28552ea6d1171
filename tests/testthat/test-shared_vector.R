# SPDX-License-Identifier: MIT
# Vectors of 256 kB and more travel to and from native workers through shared memory.

num <- 2e5 # elements: more than 256 kB of each type but raw and logical

large_values <- function() {
  x <- sin(seq_len(num))
  list(
    x, as.integer(x * 1e6), x > 0, complex(real = x, imaginary = -x), as.raw(rep_len(0:255, 4e5)), x[0], c(x, NA, NaN, Inf, -0),
    matrix(x, 100, dimnames = list(NULL, seq_len(num / 100))), factor(rep_len(letters, num)), structure(x, class = "odd", note = 1:3),
    data.frame(a = x, b = rep_len(c("u", "v"), num), c = seq_len(num) + 0L), list(x, list(deep = list(x, "y")), NULL),
    as.POSIXct(x, origin = "1970-01-01", tz = "UTC"), stats::ts(x, start = 1900), seq_len(1e7), rep_len("text", num),
    stats::setNames(x, rep_len(c("p", "q"), num)), pairlist(x, a = x), quote(f(1)), list2env(list(x = x))$x
  )
}

test_that("large vectors of every kind come back as they were, through both packages' functions", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    values <- large_values()
    for (i in seq_along(values)) {
      expect_identical(clusterCall(cl, identity, values[[i]]), values[i], label = paste(name, i))
      expect_identical(parallel::clusterCall(cl, identity, values[[i]]), values[i], label = paste(name, i, "parallel"))
    }
    expect_identical(clusterApply(cl, values, task(function(x) x)), values, label = name)
  })
})

test_that("what one side does to a vector is not seen by the other, nor by another worker", {
  cl <- local_cluster(2)
  x <- sin(seq_len(num))
  before <- x + 0
  clusterExport(cl, "x", environment())
  change <- task(function(value) {
    x[1] <<- value
    x[1:2]
  })
  expect_identical(clusterApply(cl, 1:2, change), list(c(1, before[2]), c(2, before[2])))
  expect_identical(x, before)
  expect_identical(clusterEvalQ(cl, x[1:2]), list(c(1, before[2]), c(2, before[2])))
  back <- clusterCall(cl, task(function(x) x), x)
  back[[1]][5] <- 99
  expect_identical(back[[2]], before)
  twice <- clusterCall(cl[1], task(function(x) list(x, x)), x)[[1]]
  twice[[1]][1] <- 7
  expect_identical(twice[[2]], before)
})

test_that("a vector that came from a worker is saved as any other", {
  cl <- local_cluster(1)
  came <- clusterCall(cl, task(function(n) sin(seq_len(n))), num)[[1]]
  file <- withr::local_tempfile()
  saveRDS(came, file)
  code <- sprintf("x <- readRDS(%s); cat(identical(x, sin(seq_len(%d))), 'nodelay' %%in%% loadedNamespaces())", deparse(file), num)
  rscript <- file.path(R.home("bin"), "Rscript")
  expect_identical(system2(rscript, c("--vanilla", "-e", shQuote(code)), stdout = TRUE), "TRUE FALSE")
  expect_identical(unserialize(serialize(came, NULL)), sin(seq_len(num)))
})

test_that("a vector outlives the cluster that it came from", {
  cl <- makeClusterPSOCK(1)
  came <- clusterCall(cl, task(function(n) sin(seq_len(n))), num)[[1]]
  stopCluster(cl)
  gc()
  expect_identical(came, sin(seq_len(num)))
})

mapped_vectors <- function() length(grep("memfd:nodelay", readLines("/proc/self/maps")))
open_descriptors <- function() length(list.files("/proc/self/fd"))

test_that("vectors that nobody uses any more leave no memory and no descriptor behind", {
  skip_if_not(file.exists("/proc/self/maps"))
  cl <- local_cluster(1)
  make <- task(function(n) sin(seq_len(n)))
  invisible(clusterCall(cl, make, num))
  gc()
  before <- c(mapped_vectors(), open_descriptors())
  for (i in 1:50) clusterCall(cl, make, num)
  gc()
  expect_identical(c(mapped_vectors(), open_descriptors()), before)
  count <- task(function(x) {
    gc()
    c(length(grep("memfd:nodelay", readLines("/proc/self/maps"))), length(list.files("/proc/self/fd")))
  })
  x <- make(num)
  first <- clusterCall(cl, count, x)
  for (i in 1:20) last <- clusterCall(cl, count, x)
  expect_identical(last, first)
})

test_that("large vectors that nobody collects do not pile up", {
  skip_if_not(file.exists("/proc/self/maps"))
  cl <- local_cluster(1)
  for (i in 1:60) clusterCall(cl, task(function(n) numeric(n)), 8e6) # 60 times 64 MB
  expect_lt(mapped_vectors(), 20)
})

test_that("values of calls that were given up leave nothing behind", {
  skip_if_not(file.exists("/proc/self/maps"))
  cl <- local_cluster(2)
  gc()
  before <- c(mapped_vectors(), open_descriptors())
  for (i in 1:10) {
    # The error holds the values of the other tasks, so it must not stay.
    failed <- tryCatch(
      clusterApply(cl, 1:6, task(function(i, n) if (i == 1) stop("one") else sin(seq_len(n))), num),
      error = function(e) TRUE
    )
    expect_true(failed)
    parallel:::sendCall(cl[[2]], task(function(n) sin(seq_len(n))), list(num))
    expect_identical(clusterCall(cl, task(function() "next")), list("next", "next"))
  }
  gc()
  expect_identical(c(mapped_vectors(), open_descriptors()), before)
})

test_that("where there is no memory to share everything goes through the stream", {
  told <- run_script(c(
    "cl <- makeClusterPSOCK(1)",
    sprintf("x <- sin(seq_len(%d))", num),
    "cat(identical(clusterCall(cl, identity, x)[[1]], x), '\\n')",
    "cat(identical(clusterCall(cl, function(n) sin(seq_len(n)), length(x))[[1]], x), '\\n')",
    "cat(length(grep('memfd:nodelay', readLines('/proc/self/maps'))), '\\n')",
    "stopCluster(cl)"
  ), env = c("sh", "-c", "ulimit -f 1000; exec \"$@\"", "sh"))
  expect_identical(trimws(told), c("TRUE", "TRUE", "0"))
})

test_that("a worker that dies while its vectors are in use takes none of them along", {
  cl <- makeClusterPSOCK(1)
  came <- clusterCall(cl, task(function(n) sin(seq_len(n))), num)[[1]]
  tools::pskill(pids_of(cl), tools::SIGKILL)
  expect_error(clusterCall(cl, identity, came), class = "nodelay_error_worker_lost")
  expect_identical(came, sin(seq_len(num)))
})

test_that("a small vector does not keep the memory of a large one that came with it", {
  skip_if_not(file.exists("/proc/self/maps"))
  cl <- local_cluster(1)
  gc()
  before <- mapped_vectors()
  small <- clusterCall(cl, task(function(n) list(large = numeric(50 * n), small = sin(seq_len(n)))), num)[[1]]$small
  gc()
  expect_identical(small, sin(seq_len(num)))
  expect_identical(mapped_vectors(), before)
})
