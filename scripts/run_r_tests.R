# SPDX-License-Identifier: MIT
# Runs tests/testthat against the installed package and writes one line for each test_that() block
# to the file given: passed, failed or skipped, a tab, and its name. It installs nothing.
#
#   Rscript scripts/run_r_tests.R REPORT    (in the repository's root)

report <- commandArgs(TRUE)[1]

results <- as.data.frame(testthat::test_dir(
  "tests/testthat", package = "nodelay", load_package = "installed",
  reporter = testthat::CheckReporter$new(), stop_on_failure = FALSE))

failed <- results$failed > 0 | results$error
outcome <- ifelse(failed, "failed", ifelse(results$skipped, "skipped", "passed"))
test <- ifelse(is.na(results$test), "outside of test_that()", results$test)
name <- gsub("[[:space:]]+", " ", paste0("R ", results$file, ": ", test))
writeLines(paste(outcome, name, sep = "\t"), report)
quit(status = as.integer(any(failed)))
