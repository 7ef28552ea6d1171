# SPDX-License-Identifier: MIT
# The floor: what a round trip of the same bytes costs between two C++ processes (bench/floor.cpp)
# over the same kind of stream, with nothing of R in between.

# What parallel's functions send for a call, and what the worker answers, as lists.
call_message <- function(fun, args) {
  list(type = "EXEC", data = list(fun = fun, args = args, return = TRUE, tag = NULL), tag = NULL)
}

reply_message <- function(value) {
  list(type = "VALUE", value = value, success = TRUE, time = proc.time(), tag = NULL)
}

frame_header_bytes <- 24  # docs/protocol.md

frame_bytes <- function(message) {
  frame_header_bytes + length(serialize(message, NULL, xdr = FALSE))
}

# The sizes of the two messages of one call; an argument of the measures' floor().
call_bytes <- function(fun, args, value) {
  c(frame_bytes(call_message(fun, args)), frame_bytes(reply_message(value)))
}

# Builds the program where it is missing or older than its sources, and returns its path.
build_floor <- function() {
  root <- dirname(bench_folder)
  program <- file.path(root, "build", "bench", "floor")
  core <- file.path(root, "src", "core")
  sources <- c(file.path(bench_folder, "floor.cpp"),
               file.path(core, c("base/descriptor.cpp", "base/error.cpp", "net/poll.cpp",
                                 "net/spin_budget.cpp")))
  if (file.exists(program) && all(file.mtime(program) > file.mtime(sources))) return(program)
  dir.create(dirname(program), showWarnings = FALSE, recursive = TRUE)
  configured <- system2(file.path(R.home("bin"), "R"), c("CMD", "config", "CXX20"), stdout = TRUE)
  compiler <- strsplit(configured, " ")[[1]]
  arguments <- c(compiler[-1], "-std=c++20", "-O2", "-I", file.path(root, "inst", "include"),
                 "-I", core, sources, "-o", program)
  if (system2(compiler[1], shQuote(arguments)) != 0) stop("the floor could not be built")
  program
}

# Each visit is a process of its own, which makes calls that are not counted first.
make_floor_cell <- function(row, measure, unit, program, bytes, visit_ms = default_visit_ms) {
  arguments <- format(c(bytes, visit_ms), scientific = FALSE, trim = TRUE)
  list(row = row, measure = measure, visit = function() {
    as.numeric(system2(program, arguments, stdout = TRUE)) / 1e9 * per_second[[unit]]
  })
}
