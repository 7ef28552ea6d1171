# SPDX-License-Identifier: MIT
# Measures how long one small call to a worker takes with package parallel, parallelly and
# nodelay, all through parallel's own functions. Prints one table and the targets, and writes a
# picture and the numbers to bench/results/. It times calls only: not start-up (startup.R), not
# clusters of more than one worker, not nodelay's own clusterCall().
#
#   Rscript bench/no_delay.R
#
# All clusters are up at the same time and are visited in turn, in another order each round, so
# that whatever else the machine does hits all alike. A visit makes one call that is not counted:
# after a pause Linux acknowledges the first segments at once, which hides the delay that every
# further call meets. The calls after it are timed one by one; the clock adds about 1 us to each.

library(parallel)

measuring_s <- 18
min_rounds <- 3
min_calls_per_visit <- 2
max_calls_per_visit <- 20
visit_ms <- 4

payloads <- list(
  iris = list(short = "iris", label = "clusterEvalQ(cl, iris)[[1]]",
              call = function(cl) clusterEvalQ(cl, iris)[[1]]),
  raw_8kb = list(short = "8 kB", label = "clusterCall(cl, identity, raw(8192))",
                 call = function(cl) clusterCall(cl, identity, raw(8192))),
  number = list(short = "a number", label = "clusterCall(cl, identity, 1)",
                call = function(cl) clusterCall(cl, identity, 1))
)

rows <- list(
  parallel = list(
    label = "package parallel", package = "parallel", colour = "#8A8A8A",
    make = function() parallel::makePSOCKcluster(1)),
  parallelly = list(
    label = "parallelly", package = "parallelly", colour = "#D98C21",
    make = function() parallelly::makeClusterPSOCK(1)),
  base_null = list(
    label = "nodelay, base R worker,\nsocketOptions = NULL", package = "nodelay",
    colour = "#9CC3E0",
    make = function() nodelay::makeClusterPSOCK(1, engine = "base", socketOptions = NULL)),
  base_no_delay = list(
    label = "nodelay, base R worker,\n\"no-delay\"", package = "nodelay", colour = "#4A90C4",
    make = function() nodelay::makeClusterPSOCK(1, engine = "base", socketOptions = "no-delay")),
  nodelay = list(
    label = "nodelay", package = "nodelay", colour = "#0B4F82",
    make = function() nodelay::makeClusterPSOCK(1))
)

targets <- list(
  list(payload = "iris", row = "nodelay", against = "parallelly", limit = 0.45),
  list(payload = "iris", row = "nodelay", against = "parallel", limit = 0.002),
  list(payload = "raw_8kb", row = "nodelay", against = "parallelly", limit = 0.003),
  list(payload = "raw_8kb", row = "base_no_delay", against = "parallelly", limit = 0.01)
)

# -- Measuring ---------------------------------------------------------------------------------

start_clusters <- function(rows) {
  installed <- vapply(rows, function(row) requireNamespace(row$package, quietly = TRUE), NA)
  lapply(rows[installed], function(row) row$make())
}

# The latency of each of `num_calls` calls in a row, in ms.
time_calls <- function(call, cl, num_calls) {
  at <- numeric(num_calls + 1L)
  call(cl)
  at[1L] <- Sys.time()
  for (i in seq_len(num_calls)) {
    call(cl)
    at[i + 1L] <- Sys.time()
  }
  diff(at) * 1e3
}

# Fast cells get more calls in a visit than slow ones, so that a round stays short.
choose_num_calls <- function(call, cl) {
  typical_ms <- stats::median(time_calls(call, cl, 5L))
  as.integer(min(max_calls_per_visit, max(min_calls_per_visit, visit_ms %/% typical_ms)))
}

make_cells <- function(clusters) {
  cells <- expand.grid(payload = names(payloads), row = names(clusters), stringsAsFactors = FALSE)
  lapply(seq_len(nrow(cells)), function(i) {
    cell <- list(row = cells$row[i], payload = cells$payload[i], ms = list())
    cell$call <- compiler::cmpfun(payloads[[cell$payload]]$call)
    cell$num_calls <- choose_num_calls(cell$call, clusters[[cell$row]])
    cell
  })
}

show_progress <- function(fraction, num_rounds) {
  text <- sprintf("measuring: %3.0f %%, round %d", floor(100 * fraction), num_rounds)
  if (isatty(stdout())) {
    cat("\r", text, if (fraction >= 1) "\n", sep = "")
  } else {
    cat(text, "\n", sep = "")
  }
  flush(stdout())
}

measure <- function(clusters) {
  cells <- make_cells(clusters)
  row_of_cell <- vapply(cells, `[[`, "", "row")
  began <- proc.time()[["elapsed"]]
  num_rounds <- 0L
  shown <- 0
  repeat {
    first <- num_rounds %% length(clusters)
    order <- names(clusters)[(seq_along(clusters) - 1L + first) %% length(clusters) + 1L]
    for (i in unlist(lapply(order, function(row) which(row_of_cell == row)))) {
      cell <- cells[[i]]
      ms <- time_calls(cell$call, clusters[[cell$row]], cell$num_calls)
      cells[[i]]$ms[[num_rounds + 1L]] <- ms
    }
    num_rounds <- num_rounds + 1L
    fraction <- min(1, (proc.time()[["elapsed"]] - began) / measuring_s)
    done <- fraction >= 1 && num_rounds >= min_rounds
    if (done || isatty(stdout()) || fraction >= shown + 0.1) {
      show_progress(if (done) 1 else fraction, num_rounds)
      shown <- fraction
    }
    if (done) break
  }
  lapply(cells, function(cell) {
    data.frame(row = cell$row, payload = cell$payload, ms = unlist(cell$ms))
  })
}

# -- Reporting ---------------------------------------------------------------------------------

# One line per row and payload; rows whose package is not installed have no line.
summarise_cells <- function(cells) {
  median_of <- function(row, payload) {
    for (cell in cells) {
      if (cell$row[1] == row && cell$payload[1] == payload) return(stats::median(cell$ms))
    }
    NA_real_
  }
  do.call(rbind, lapply(cells, function(cell) {
    quantiles <- stats::quantile(cell$ms, c(0.05, 0.5, 0.95, 0.99), names = FALSE)
    data.frame(
      row = cell$row[1], payload = cell$payload[1], calls = nrow(cell),
      p05_ms = quantiles[1], median_ms = quantiles[2], p95_ms = quantiles[3],
      p99_ms = quantiles[4],
      times_nodelay = quantiles[2] / median_of("nodelay", cell$payload[1]))
  }))
}

look_up <- function(summary, row, payload, column) {
  value <- summary[summary$row == row & summary$payload == payload, column]
  if (length(value) == 1L) value else NA_real_
}

format_cell <- function(summary, row, payload) {
  median_ms <- look_up(summary, row, payload, "median_ms")
  if (is.na(median_ms)) return("not installed")
  times <- look_up(summary, row, payload, "times_nodelay")
  digits <- if (median_ms >= 10) 1L else 3L
  in_brackets <- if (is.na(times)) "" else sprintf(if (times < 10) " (%.1fx)" else " (%.0fx)", times)
  sprintf("%.*f%s", digits, median_ms, in_brackets)
}

one_line <- function(label) sub("\n", " ", label, fixed = TRUE)

print_table <- function(summary) {
  labels <- vapply(rows, function(row) one_line(row$label), "")
  columns <- lapply(names(payloads), function(payload) {
    values <- vapply(names(rows), function(row) format_cell(summary, row, payload), "")
    formatC(c(payloads[[payload]]$short, values), width = 14)
  })
  lines <- do.call(paste, c(list(format(c("", labels))), columns, sep = "   "))
  cat("\nMedian time of one call in ms (in brackets: how many times nodelay's default)\n\n")
  cat(lines[1], strrep("-", nchar(lines[1])), lines[-1], "", sep = "\n")
  for (payload in payloads) cat(sprintf("  %-9s %s\n", payload$short, payload$label))
}

print_targets <- function(summary) {
  cat("\nTargets\n")
  for (target in targets) {
    ratio <- look_up(summary, target$row, target$payload, "median_ms") /
      look_up(summary, target$against, target$payload, "median_ms")
    verdict <- if (is.na(ratio)) "not measured" else if (ratio <= target$limit) "met" else "missed"
    cat(sprintf("  %-5s %-35s at most %-5g x %-16s  measured %s: %s\n",
                payloads[[target$payload]]$short, one_line(rows[[target$row]]$label),
                target$limit, rows[[target$against]]$label,
                if (is.na(ratio)) "nothing" else sprintf("%.2g", ratio), verdict))
  }
}

describe_machine <- function() {
  cpu_lines <- tryCatch(readLines("/proc/cpuinfo", warn = FALSE), error = function(e) character())
  models <- sub(".*:[[:space:]]*", "", grep("^model name", cpu_lines, value = TRUE))
  model <- if (length(models) > 0L) models[1] else Sys.info()[["machine"]]
  sprintf("%s, %d cores, %s %s, R %s", model, detectCores(), Sys.info()[["sysname"]],
          Sys.info()[["release"]], getRversion())
}

describe_versions <- function(clusters) {
  packages <- unique(vapply(rows[names(clusters)], `[[`, "", "package"))
  packages <- setdiff(packages, "parallel")
  paste(vapply(packages, function(package) {
    paste(package, utils::packageVersion(package))
  }, ""), collapse = ", ")
}

# -- The picture -------------------------------------------------------------------------------

format_ms <- function(ms) {
  sprintf("%.*f ms", if (ms >= 10) 0L else if (ms >= 1) 1L else 3L, ms)
}

# Draws the density of one cell on the log axis as a shape of fixed height, with its median.
draw_distribution <- function(ms, y, colour, x_limits) {
  logs <- log10(ms)
  density <- stats::density(logs, bw = max(stats::bw.nrd0(logs), 0.02))
  height <- 0.62 * density$y / max(density$y)
  seen <- height > 0.004
  polygon(10^c(density$x[seen], rev(density$x[seen])),
          y - 0.25 + c(height[seen], rep(0, sum(seen))),
          col = grDevices::adjustcolor(colour, 0.55), border = colour, lwd = 1.2)
  middle <- stats::median(ms)
  segments(middle, y - 0.25, middle, y + 0.37, col = "#222222", lwd = 1.6)
  on_the_right <- log10(middle) < mean(log10(x_limits))
  edge <- stats::quantile(ms, if (on_the_right) 0.99 else 0.01, names = FALSE)
  text(edge * if (on_the_right) 1.35 else 1 / 1.35, y, format_ms(middle),
       adj = c(if (on_the_right) 0 else 1, 0.5), cex = 0.95, font = 2, col = "#222222")
}

draw_panel <- function(cells, payload, shown_rows, x_limits) {
  par(mar = c(4.2, 0.8, 2.6, 0.8))
  plot.new()
  plot.window(x_limits, c(0.45, length(shown_rows) + 0.55), log = "x", xaxs = "i", yaxs = "i")
  decades <- 10^(-3:3)
  decades <- decades[decades >= x_limits[1] & decades <= x_limits[2]]
  abline(v = decades, col = "#E4E4E4", lwd = 1)
  abline(h = length(shown_rows):1 - 0.25, col = "#EFEFEF", lwd = 1)
  axis(1, at = decades, labels = format(decades, scientific = FALSE, drop0trailing = TRUE,
                                        trim = TRUE),
       col = NA, col.ticks = "#999999", cex.axis = 0.95, mgp = c(2, 0.6, 0))
  mtext(payloads[[payload]]$label, side = 3, line = 0.7, cex = 0.82, family = "mono", font = 2)
  mtext("time of one call, ms (log scale)", side = 1, line = 2.4, cex = 0.8)
  for (cell in cells) {
    y <- length(shown_rows) + 1L - match(cell$row[1], shown_rows)
    if (cell$payload[1] == payload) {
      draw_distribution(cell$ms, y, rows[[cell$row[1]]]$colour, x_limits)
    }
  }
}

draw_row_labels <- function(shown_rows) {
  par(mar = c(4.2, 0.5, 2.6, 0))
  plot.new()
  plot.window(c(0, 1), c(0.45, length(shown_rows) + 0.55), xaxs = "i", yaxs = "i")
  for (i in seq_along(shown_rows)) {
    row <- rows[[shown_rows[i]]]
    text(0.97, length(shown_rows) + 1L - i, row$label, adj = c(1, 0.5), cex = 1.1,
         font = if (shown_rows[i] == "nodelay") 2 else 1)
  }
}

draw_picture <- function(cells, path, subtitle) {
  grDevices::png(path, width = 2100, height = 1000, res = 150, type = "cairo")
  on.exit(grDevices::dev.off())
  shown_rows <- intersect(names(rows), vapply(cells, function(cell) cell$row[1], ""))
  all_ms <- unlist(lapply(cells, `[[`, "ms"))
  x_limits <- c(min(all_ms) / 1.6, max(max(all_ms), 100) * 1.6)
  layout(matrix(seq_len(length(payloads) + 1L), nrow = 1), widths = c(0.62, 1, 1, 1))
  par(oma = c(1.6, 0, 3.6, 0.4), cex = 0.82, family = "sans")
  draw_row_labels(shown_rows)
  for (payload in names(payloads)) {
    draw_panel(cells, payload, shown_rows, x_limits)
  }
  mtext("How long one small call to one local worker takes", side = 3, outer = TRUE, line = 1.4,
        at = 0.006, adj = 0, font = 2, cex = 1.25)
  mtext(paste("Distribution of single calls through package parallel's own functions;",
              "the line marks the median; further left is better"),
        side = 3, outer = TRUE, line = 0.1, at = 0.006, adj = 0, cex = 0.85, col = "#444444")
  mtext(subtitle, side = 1, outer = TRUE, line = 0.2, at = 0.006, adj = 0, cex = 0.72, col = "#666666")
}

# -- The run -----------------------------------------------------------------------------------

script_folder <- function() {
  file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
  # Rscript writes a space in a path as ~+~.
  if (length(file) == 1L) dirname(gsub("~+~", " ", file, fixed = TRUE)) else "bench"
}

main <- function() {
  results <- file.path(script_folder(), "results")
  dir.create(results, showWarnings = FALSE, recursive = TRUE)
  results <- normalizePath(results)

  cat("starting the clusters, one worker each\n")
  clusters <- start_clusters(rows)
  on.exit(for (cl in clusters) stopCluster(cl))
  cells <- measure(clusters)
  summary <- summarise_cells(cells)
  machine <- describe_machine()
  versions <- describe_versions(clusters)

  print_table(summary)
  print_targets(summary)
  cat("\n", machine, "; ", versions, "\n", sep = "")

  picture <- file.path(results, "no_delay.png")
  numbers <- file.path(results, "no_delay.csv")
  draw_picture(cells, picture, paste(machine, versions, sep = "; "))
  utils::write.csv(cbind(summary, machine = machine, versions = versions), numbers,
                   row.names = FALSE)
  cat("picture: ", picture, "\nnumbers: ", numbers, "\n", sep = "")
}

main()
