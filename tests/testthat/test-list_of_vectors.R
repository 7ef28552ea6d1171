# SPDX-License-Identifier: MIT
# Lists of many small vectors, which travel to and from native workers in runs of those that are alike.

many <- function(...) rep(list(...), length.out = 300)

lists <- list(
  as.list(1:300), as.list(sin(1:300)), many(TRUE, NA, FALSE), many("text", NA_character_, "\u00e9\u4e2d"), many(NULL, 1, "a", 2L, NA),
  many(integer(), character(), 1:0 + 0L), many(1:7 + 0L, c(0.5, NaN, NA, Inf, -0)), stats::setNames(as.list(1:300), paste0("n", 1:300)),
  structure(as.list(1:300), class = "odd", note = "kept"), array(as.list(1:300), c(3, 100)), as.list(1:127), as.list(1:128),
  many(iconv("\u00e9", "UTF-8", "latin1"), "bytes\xff"),
  # In part no runs: elements of other kinds.
  many(1, c(a = 1)), many(1, factor("a")), many(1, 1i), many(1, as.raw(1)), many(1, list(2)), many(1, quote(x)), many(1, 1:3),
  many(1, task(function(x) x)), many(1, globalenv()), many(1, numeric(5000)), many(1, 1:1e6), list(as.list(1:300), list(many("deep"), 1)),
  as.list(data.frame(a = 1:300, b = "x")), do.call(data.frame, as.list(stats::setNames(1:200, paste0("v", 1:200))))
)

test_that("lists of every kind come back as they were", {
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 1)
    for (i in seq_along(lists)) {
      expect_identical(clusterCall(cl, task(function(x) x), lists[[i]]), lists[i], label = paste(name, i))
      expect_identical(parallel::clusterCall(cl, task(function(x) x), lists[[i]]), lists[i], label = paste(name, i, "parallel"))
    }
  })
})

test_that("the encodings of strings are kept", {
  cl <- local_cluster(1)
  strings <- many("ascii", "\u00e9", iconv("\u00e9", "UTF-8", "latin1"), NA_character_)
  back <- clusterCall(cl, task(function(x) x), strings)[[1]]
  expect_identical(vapply(back, Encoding, ""), vapply(strings, Encoding, ""))
})

test_that("elements of a list that came are independent of each other", {
  cl <- local_cluster(1)
  changed <- clusterCall(cl, task(function(x) {
    x[[1]][1] <- 99L
    x[[300]] <- "end"
    x[c(1, 2, 299, 300)]
  }), as.list(1:300))[[1]]
  expect_identical(changed, list(99L, 2L, 299L, "end"))
})

test_that("a list of very many small vectors passes, also through parLapply()", {
  cl <- local_cluster(2)
  x <- as.list(1:200000)
  expect_identical(clusterCall(cl, task(function(x) x), x), list(x, x))
  expect_identical(parLapply(cl, 1:200000, task(function(i) i + 0.5)), as.list(1:200000 + 0.5))
})
