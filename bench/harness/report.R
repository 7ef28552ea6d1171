# SPDX-License-Identifier: MIT
# Prints an outcome as a table and against the targets, and writes it to bench/results/.
#
# A target is list(measure, row, at_most or at_least), its limit a ratio to the median of the row
# `against` (of the measure `against_measure`, if that is another), or absolute where there is no
# `against`.

# One line for each row and measure that has values.
summarise <- function(benchmark, values) {
  medians <- aggregate(value ~ row + measure, values, stats::median)
  lines <- lapply(seq_len(nrow(medians)), function(i) {
    row <- medians$row[i]
    measure <- medians$measure[i]
    cell <- values$value[values$row == row & values$measure == measure]
    quantiles <- stats::quantile(cell, c(0.05, 0.5, 0.95, 0.99), names = FALSE)
    reference <- look_up(medians, benchmark$reference, measure, "value")
    data.frame(
      row = row, measure = measure, unit = benchmark$measures[[measure]]$unit,
      num_values = length(cell), p05 = quantiles[1], median = quantiles[2], p95 = quantiles[3],
      p99 = quantiles[4], times_reference = quantiles[2] / reference)
  })
  summary <- do.call(rbind, lines)
  summary[order(match(summary$measure, names(benchmark$measures)),
                match(summary$row, names(benchmark$rows))), ]
}

look_up <- function(table, row, measure, column) {
  value <- table[[column]][table$row == row & table$measure == measure]
  if (length(value) == 1L) value else NA_real_
}

# Three significant digits, and none after the point from 100 on.
format_value <- function(value) {
  if (value == 0) return("0")
  decimals <- min(4, max(0, 2 - floor(log10(abs(value)))))
  formatC(value, digits = decimals, format = "f", big.mark = ",")
}

# Parts of at most `max_length`, in order.
split_in_lines <- function(items, max_length) {
  unname(split(items, (seq_along(items) - 1L) %/% max_length))
}

format_times <- function(times) {
  if (!is.finite(times)) return("")
  sprintf(if (times < 0.1) " (%.2gx)" else if (times < 10) " (%.1fx)" else " (%.0fx)", times)
}

reason_of <- function(absences, row, measure) {
  applies <- absences$row == row & (is.na(absences$measure) | absences$measure == measure)
  if (any(applies)) absences$reason[applies][1] else "not measured"
}

# A long reason stands below the table.
format_cell <- function(summary, absences, row, measure) {
  median <- look_up(summary, row, measure, "median")
  if (is.na(median)) {
    reason <- reason_of(absences, row, measure)
    return(if (nchar(reason) > 13L) "see below" else reason)
  }
  paste0(format_value(median), format_times(look_up(summary, row, measure, "times_reference")))
}

# More columns than this are printed as several tables below each other.
max_columns <- 6

print_columns <- function(labels, columns) {
  lines <- do.call(paste, c(list(format(c("", labels))), columns, sep = "  "))
  cat(lines[1], strrep("-", nchar(lines[1])), lines[-1], "", sep = "\n")
}

print_table <- function(benchmark, summary, absences) {
  row_names <- names(benchmark$rows)
  labels <- vapply(benchmark$rows, function(row) one_line(row$label), "")
  columns <- lapply(names(benchmark$measures), function(measure) {
    cells <- vapply(row_names, function(row) format_cell(summary, absences, row, measure), "")
    formatC(c(benchmark$measures[[measure]]$short, cells), width = 15)
  })
  cat("\n", benchmark$heading, " (in brackets: how many times ",
      one_line(benchmark$rows[[benchmark$reference]]$label), "'s)\n\n", sep = "")
  for (part in split_in_lines(columns, max_columns)) print_columns(labels, part)
  for (measure in benchmark$measures) {
    cat(sprintf("  %-14s %s, %s\n", measure$short, measure$label, measure$unit))
  }
  long <- absences[nchar(absences$reason) > 13L, ]
  for (i in seq_len(nrow(long))) {
    measure <- long$measure[i]
    about <- if (is.na(measure)) "" else paste0(", ", benchmark$measures[[measure]]$short)
    cat(sprintf("  %s%s: %s\n", one_line(benchmark$rows[[long$row[i]]]$label), about,
                long$reason[i]))
  }
}

# -- Targets -----------------------------------------------------------------------------------

# Compares one target with what was measured, as one line of a data frame.
judge <- function(benchmark, summary, target) {
  measured <- look_up(summary, target$row, target$measure, "median")
  against_measure <- target$measure
  if (!is.null(target$against_measure)) against_measure <- target$against_measure
  if (!is.null(target$against)) {
    measured <- measured / look_up(summary, target$against, against_measure, "median")
  }
  is_upper <- is.null(target$at_least)
  limit <- if (is_upper) target$at_most else target$at_least
  is_met <- if (is_upper) measured <= limit else measured >= limit
  unit <- if (is.null(target$against)) benchmark$measures[[target$measure]]$unit else {
    paste("x", one_line(benchmark$rows[[target$against]]$label))
  }
  data.frame(
    measure = target$measure, row = target$row,
    against = if (is.null(target$against)) NA_character_ else target$against,
    bound = if (is_upper) "at most" else "at least", limit = limit, unit = unit,
    measured = measured,
    verdict = if (is.na(measured)) "not measured" else if (is_met) "met" else "missed")
}

print_targets <- function(benchmark, judged) {
  cat("\nTargets\n")
  for (i in seq_len(nrow(judged))) {
    target <- judged[i, ]
    measured <- if (is.na(target$measured)) "-" else sprintf("%.3g", target$measured)
    cat(sprintf("  %-14s %-34s %8s %6g %-36s %8s  %s\n",
                benchmark$measures[[target$measure]]$short,
                one_line(benchmark$rows[[target$row]]$label), target$bound, target$limit,
                target$unit, measured, target$verdict))
  }
}

# -- Files -------------------------------------------------------------------------------------

# The commit that the numbers are of; with "+" where files differ from it.
describe_commit <- function() {
  described <- tryCatch(suppressWarnings(system2(
    "git", c("-C", shQuote(bench_folder), "describe", "--always", "--dirty=+", "--exclude='*'"),
    stdout = TRUE, stderr = FALSE)), error = function(e) character())
  if (length(described) == 1L) described else "unknown"
}

write_numbers <- function(path, ...) {
  if (!is_installed("jsonlite")) {
    cat("numbers: not written; that needs package jsonlite\n")
    return(invisible())
  }
  jsonlite::write_json(list(...), path, auto_unbox = TRUE, pretty = TRUE, digits = 8, na = "null")
  cat("numbers: ", path, "\n", sep = "")
}

report <- function(name, benchmark, outcome, load_before) {
  results <- file.path(bench_folder, "results")
  dir.create(results, showWarnings = FALSE)
  if (is.null(outcome$values)) stop("nothing could be measured", call. = FALSE)
  absences <- outcome$absences
  summary <- summarise(benchmark, outcome$values)
  judged <- do.call(rbind, lapply(benchmark$targets, judge, benchmark = benchmark,
                                  summary = summary))
  machine <- describe_machine()
  versions <- describe_versions(benchmark$rows)

  print_table(benchmark, summary, absences)
  print_targets(benchmark, judged)
  cat("\n", machine, "; load average before ", load_before, "; ", versions, "\n", sep = "")

  picture <- file.path(results, paste0(name, ".png"))
  draw_picture(benchmark, outcome$values, picture, paste(machine, versions, sep = "; "))
  cat("picture: ", picture, "\n", sep = "")
  write_numbers(
    file.path(results, paste0(name, ".json")), benchmark = name, commit = describe_commit(),
    measured_at = format(Sys.time(), "%Y-%m-%dT%H:%M:%SZ", tz = "UTC"), machine = machine,
    load_before = load_before, versions = versions, reference = benchmark$reference,
    medians = summary, targets = judged, absences = absences)
}
