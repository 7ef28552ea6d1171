# SPDX-License-Identifier: MIT
# Commands as they are shown, and programs that stand in for those that reach other machines.

# What `dryrun = TRUE` prints, without empty lines.
shown_commands <- function(...) {
  withr::local_options(useFancyQuotes = FALSE)
  lines <- utils::capture.output(makeClusterPSOCK(..., dryrun = TRUE))
  trimws(lines[nzchar(lines)])
}

# The command that starts a single local worker.
local_command <- function(...) shown_commands(1, ..., port = 11000)[3L]

# The text in front of the command for a single remote worker.
remote_shell <- function(worker, ..., port = 11000) shown_commands(worker, ..., port = port)[3L]

# The command to be typed there.
remote_command <- function(worker, ..., rshcmd = "ssh") shown_commands(worker, ..., rshcmd = rshcmd, port = 11000)[5L]

# The value of an environment variable on the first worker.
asked_environment <- function(cl, name) clusterCall(cl, Sys.getenv, name)[[1L]]

# An executable shell script of that name, in a folder of its own.
local_program <- function(name, lines, frame = parent.frame()) {
  path <- file.path(withr::local_tempdir(.local_envir = frame), name)
  writeLines(c("#!/bin/sh", lines), path)
  Sys.chmod(path, "0755")
  path
}

# Stands in for ssh: runs its last argument as the shell of the other machine does. Like that, it
# runs `first` before, which may refuse.
local_ssh <- function(first = character(), frame = parent.frame()) {
  local_program("ssh", c(first, "for last; do :; done", "exec sh -c \"$last\""), frame)
}
