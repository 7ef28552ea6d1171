# SPDX-License-Identifier: MIT
# Runs one benchmark: bench/<name>.R, which defines the list `benchmark`:
#   title, subtitle  the words over the picture
#   heading          the words over the table; what its numbers are
#   rows             who is measured: a part of `contestants`, or more
#   measures         what is measured: each a list of short, label, unit
#   reference        the row whose median the brackets in the table are relative to
#   one_axis         optional: TRUE where all panels of the picture have the same axis
#   targets          see report.R
#   measure()        returns an outcome (measuring.R)
#   session(args)    optional: what a session does that run_session() starts
#
#   Rscript bench/harness/main.R NAME [ARGUMENT...]    with arguments: benchmark$session()

bench_folder <- local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
  # Rscript writes a space in a path as ~+~.
  dirname(dirname(normalizePath(gsub("~+~", " ", file, fixed = TRUE))))
})

for (part in c("machine", "measuring", "contestants", "floor", "report", "picture")) {
  source(file.path(bench_folder, "harness", paste0(part, ".R")))
}

# Runs benchmark$session(args) in a fresh R session and returns what it prints. `through` is put in
# front of the command.
run_session <- function(args, through = character()) {
  main_file <- file.path(bench_folder, "harness", "main.R")
  command <- c(through, file.path(R.home("bin"), "Rscript"), "--no-init-file", main_file,
               benchmark_name, args)
  lines <- suppressWarnings(system2(command[1], shQuote(command[-1]), stdout = TRUE))
  if (!is.null(attr(lines, "status"))) stop("a session of the benchmark failed", call. = FALSE)
  lines
}

main <- function(args) {
  if (length(args) > 0L) return(invisible(benchmark$session(args)))
  load_before <- load_average()
  outcome <- benchmark$measure()
  report(benchmark_name, benchmark, outcome, load_before)
}

benchmark_name <- commandArgs(TRUE)[1]
source(file.path(bench_folder, paste0(benchmark_name, ".R")))
main(commandArgs(TRUE)[-1])
