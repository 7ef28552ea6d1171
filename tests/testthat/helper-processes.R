# SPDX-License-Identifier: MIT
# What the operating system knows of processes, and R scripts run beside this one.

# The fields of /proc/<pid>/stat from the state on; NULL where there is no such process.
process_stat <- function(pid) {
  line <- tryCatch(
    suppressWarnings(readLines(file.path("/proc", pid, "stat"), n = 1L)),
    error = function(e) character()
  )
  if (length(line) == 0L) NULL else strsplit(sub(".*\\) ", "", line), " ", fixed = TRUE)[[1L]]
}

# A zombie has ended.
is_running <- function(pids) {
  vapply(pids, function(pid) !is.null(stat <- process_stat(pid)) && !stat[[1L]] %in% c("Z", "X"), NA)
}

all_pids <- function() as.integer(grep("^[0-9]+$", list.files("/proc"), value = TRUE))

# Those that fork workers for this process.
template_pids <- function() nodelay:::session_template_pids(nodelay:::the$session)

# Children of this process, zombies too, but for the templates, which stay for the next cluster.
child_pids <- function() {
  is_child <- function(pid) identical(process_stat(pid)[2L], as.character(Sys.getpid()))
  setdiff(Filter(is_child, all_pids()), template_pids())
}

num_descriptors <- function() length(list.files("/proc/self/fd"))

# Looks again and again until `claim` is true; FALSE where it is not in time.
wait_until <- function(claim, seconds = 10) {
  deadline <- Sys.time() + seconds
  while (!claim()) {
    if (Sys.time() > deadline) return(FALSE)
    Sys.sleep(0.01)
  }
  TRUE
}

lines_of <- function(path) if (file.exists(path)) readLines(path, warn = FALSE) else character()

rscript_path <- function() file.path(R.home("bin"), "Rscript")

# A main process of its own: runs lines of R code in a fresh Rscript with `env` ("NAME=value"), once the
# commands `shell` have been run.
run_script <- function(lines, env = character(), seconds = 30, shell = "") {
  script <- withr::local_tempfile(fileext = ".R", lines = c("library(parallel); library(nodelay, warn.conflicts = FALSE)", lines))
  command <- paste(shell, "exec", paste(shQuote(c("env", env, rscript_path(), script)), collapse = " "))
  suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = TRUE, stderr = TRUE, timeout = seconds))
}

# The same without waiting for it; returns its pid. Its output goes to `log`.
start_script <- function(lines, env = character(), log = "/dev/null", frame = parent.frame()) {
  script <- withr::local_tempfile(fileext = ".R", lines = c("library(parallel); library(nodelay, warn.conflicts = FALSE)", lines), .local_envir = frame)
  words <- c("env", env, rscript_path(), script)
  command <- sprintf("%s > %s 2>&1 & echo $!", paste(shQuote(words), collapse = " "), shQuote(log))
  pid <- as.integer(system(command, intern = TRUE))
  withr::defer(tools::pskill(pid, tools::SIGKILL), envir = frame)
  pid
}

# Sends this very process an interrupt in `seconds` from now.
interrupt_in <- function(seconds) {
  system(sprintf("(sleep %g; kill -INT %d) >/dev/null 2>&1 &", seconds, Sys.getpid()))
}

# A private place for temporary folders, as the workers of a test see it.
local_temporary_folder <- function(frame = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = frame)
  withr::local_envvar(TMPDIR = folder, .local_envir = frame)
  folder
}
