# SPDX-License-Identifier: MIT
skip_if_not_installed("pbapply")

# `use` without a progress bar, whose text tells of time.
without_bar <- function(use) {
  function(cl) {
    old <- pbapply::pboptions(type = "none")
    on.exit(pbapply::pboptions(old))
    use(cl)
  }
}

test_that("pbapply's functions give what they give on a cluster of parallel's", {
  expect_as_on_parallel(without_bar(function(cl) pbapply::pblapply(1:10, sqrt, cl = cl)))
  expect_as_on_parallel(without_bar(function(cl) pbapply::pbsapply(c(a = 1, b = 2, c = 3), function(x) x + 1, cl = cl)))
  expect_as_on_parallel(without_bar(function(cl) pbapply::pbapply(matrix(1:6, 2), 1, sum, cl = cl)))
})

test_that("an error of a task ends pblapply() as on a cluster of parallel's", {
  seen <- expect_as_on_parallel(without_bar(function(cl) pbapply::pblapply(1:4, function(i) stop("no luck with ", i), cl = cl)))
  expect_match(seen$failure, "no luck with 1")
})

test_that("a progress bar is shown to its end", {
  cl <- local_cluster(2)
  old <- pbapply::pboptions(type = "txt", char = "=")
  withr::defer(pbapply::pboptions(old))
  output <- capture.output(value <- pbapply::pblapply(1:20, identity, cl = cl))
  expect_identical(value, as.list(1:20))
  expect_match(paste(output, collapse = ""), "100%", fixed = TRUE)
})
