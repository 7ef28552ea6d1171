# SPDX-License-Identifier: MIT
# What the machine is and what its processes use, from /proc.

num_cores <- parallel::detectCores()

describe_machine <- function() {
  cpu_lines <- tryCatch(readLines("/proc/cpuinfo", warn = FALSE), error = function(e) character())
  models <- sub(".*:[[:space:]]*", "", grep("^model name", cpu_lines, value = TRUE))
  model <- if (length(models) > 0L) models[1] else Sys.info()[["machine"]]
  sprintf("%s, %d cores, %s %s, R %s", model, num_cores, Sys.info()[["sysname"]],
          Sys.info()[["release"]], getRversion())
}

# What else the machine does: processes that want to run, over the last minute.
load_average <- function() {
  as.numeric(strsplit(readLines("/proc/loadavg"), " ")[[1]][1])
}

# The number of kB in the line `name` of a file such as /proc/meminfo, in MB.
read_mb <- function(path, name) {
  line <- grep(paste0("^", name, ":"), readLines(path), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

available_mb <- function() read_mb("/proc/meminfo", "MemAvailable")

# The memory of a process in MB, pages that n processes share counted as 1/n.
process_mb <- function(process_id) {
  read_mb(file.path("/proc", process_id, "smaps_rollup"), "Pss")
}

# The seconds that all threads of a process have run on a CPU; more exact than its clock ticks.
process_cpu_s <- function(process_id) {
  files <- Sys.glob(file.path("/proc", process_id, "task", "*", "schedstat"))
  sum(vapply(files, function(file) scan(file, quiet = TRUE)[1], 0)) / 1e9
}
