# SPDX-License-Identifier: MIT
# What one small call takes where CPUs are short, where spinning could do harm: beside as many busy
# loops as there are cores, with four workers for each core, and within a control group that has
# half a core. It starts its busy loops and its control group itself, and ends them.

seconds_each <- 8
num_crowd <- 4 * num_cores
longest_loop_s <- 60
quota_cores <- 0.5

call_number <- list(
  unit = "us", needs = "clusterCall",
  cluster = function(cl, functions) {
    clusterCall <- functions$clusterCall
    function() clusterCall(cl, identity, 1)
  },
  mirai = function(profile) function() mirai::mirai(identity(x), x = 1, .compute = profile)[],
  floor = function() call_bytes(identity, list(1), 1))
one_call <- function(short, label) c(list(short = short, label = label), call_number)

calls <- list(
  busy = one_call("all cores busy", "all cores busy, 1 worker"),
  crowd = list(short = "crowd", label = "4 workers for each core", unit = "us",
               needs = "clusterCall", cluster = call_number$cluster),
  quota = one_call("half a core", "quota of half a core, 1 worker"))

# A spin that goes wrong is rare and long: the median does not see it.
mean_of <- function(call) {
  list(short = "mean of these", label = paste0(call$label, ": mean"), unit = call$unit)
}
measures <- list(busy = calls$busy, busy_mean = mean_of(calls$busy),
                 crowd = calls$crowd, crowd_mean = mean_of(calls$crowd),
                 quota = calls$quota, quota_mean = mean_of(calls$quota))

# Adds each row's mean to an outcome of one measure.
with_means <- function(outcome) {
  means <- aggregate(value ~ row + measure, outcome$values, mean)
  means$measure <- paste0(means$measure, "_mean")
  absences <- outcome$absences
  of_measure <- absences[!is.na(absences$measure), ]
  of_measure$measure <- paste0(of_measure$measure, rep("_mean", nrow(of_measure)))
  join_outcomes(outcome, make_outcome(means, of_measure))
}

measure_one <- function(name, n, ...) {
  with_means(measure_contestants(
    contestants, calls[name], n, seconds = seconds_each, ...,
    make_cell = function(row, measure, call) {
      make_call_cell(row, measure, calls[[measure]]$unit, call)
    }))
}

# -- Busy loops --------------------------------------------------------------------------------

# Runs `code` beside a busy loop for each core. A loop ends by itself after longest_loop_s.
beside_busy_loops <- function(code) {
  loop <- "timeout %d sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!"
  process_ids <- vapply(seq_len(num_cores), function(i) {
    as.integer(system(sprintf(loop, longest_loop_s), intern = TRUE))
  }, 0L)
  on.exit(tools::pskill(process_ids, tools::SIGTERM))
  Sys.sleep(0.2)
  code
}

# -- A control group with a quota --------------------------------------------------------------

write_line <- function(text, path) {
  tryCatch(suppressWarnings({
    writeLines(text, path)
    TRUE
  }), error = function(e) FALSE)
}

# Makes a control group of its own that has `cores` CPUs, of version 2 or 1, and returns its folder;
# nothing where this process may not.
make_quota_group <- function(cores) {
  period_us <- 100000
  quota_us <- cores * period_us
  for (version in 2:1) {
    parent <- if (version == 2) "/sys/fs/cgroup" else "/sys/fs/cgroup/cpu"
    folder <- file.path(parent, paste0("nodelay-bench-", Sys.getpid()))
    if (version == 2 && !file.exists(file.path(parent, "cgroup.controllers"))) next
    if (!suppressWarnings(dir.create(folder, showWarnings = FALSE))) next
    is_made <- if (version == 2) {
      write_line(sprintf("%.0f %.0f", quota_us, period_us), file.path(folder, "cpu.max"))
    } else {
      write_line(sprintf("%.0f", period_us), file.path(folder, "cpu.cfs_period_us")) &&
        write_line(sprintf("%.0f", quota_us), file.path(folder, "cpu.cfs_quota_us"))
    }
    if (is_made) return(folder)
    remove_group(folder)
  }
  NULL
}

# Only an empty folder of control files goes, which is what the kernel leaves when all have left.
remove_group <- function(folder) {
  deadline <- Sys.time() + 5
  while (system2("rmdir", shQuote(folder), stdout = FALSE, stderr = FALSE) != 0) {
    if (Sys.time() > deadline) {
      warning("the control group ", folder, " could not be removed", call. = FALSE)
      break
    }
    Sys.sleep(0.1)
  }
}

# Measures in a session that has half a core together with its workers.
measure_quota <- function() {
  folder <- make_quota_group(quota_cores)
  if (is.null(folder)) {
    reason <- "not measured: no control group can be made here"
    return(make_outcome(NULL, rbind(absence(names(contestants), reason, "quota"),
                                    absence(names(contestants), reason, "quota_mean"))))
  }
  on.exit(remove_group(folder))
  cat("measuring with half a core\n")
  enter <- "echo $$ >\"$0\"/cgroup.procs && exec \"$@\""
  file <- tempfile(fileext = ".rds")
  run_session(file, through = c("sh", "-c", enter, folder))
  readRDS(file)
}

benchmark <- list(
  title = "How long one small call takes where CPUs are short",
  subtitle = paste("Distribution of single calls, the line marks the median; and means;",
                   "further left is better"),
  heading = "Median time of one call in us, and the mean",
  rows = contestants, measures = measures, reference = "nodelay",
  targets = unlist(lapply(names(measures), function(measure) list(
    list(measure = measure, row = "nodelay", against = "parallelly_no_delay", at_most = 1),
    list(measure = measure, row = "nodelay_own", against = "parallelly_no_delay", at_most = 1))),
    recursive = FALSE),
  measure = function() {
    busy <- measure_one("busy", 1, around = beside_busy_loops)
    crowd <- measure_one("crowd", num_crowd)
    join_outcomes(busy, crowd, measure_quota())
  },
  session = function(args) saveRDS(measure_one("quota", 1), args))
