# SPDX-License-Identifier: MIT
# Draws an outcome: a panel for each measure, a line in it for each row, with every value's place
# and the median.

# From so many values on a density is drawn; single points below.
min_density_values <- 30

# More panels than this are drawn in several lines below each other.
max_panels <- 6

# Panels show this part of each cell's values, so that one stray value does not shrink the rest.
shown_quantiles <- c(0.005, 0.995)

clip_cells <- function(values) {
  parts <- split(values, paste(values$row, values$measure))
  do.call(rbind, lapply(parts, function(part) {
    ends <- stats::quantile(part$value, shown_quantiles, type = 1)
    part[part$value >= ends[1] & part$value <= ends[2], ]
  }))
}

# Where a value lies on a panel's axis, and back: a log axis, but where there are zeros.
make_scale <- function(values) {
  if (all(values > 0)) {
    list(is_log = TRUE, to = log10, from = function(at) 10^at)
  } else {
    list(is_log = FALSE, to = identity, from = identity)
  }
}

scale_limits <- function(values, scale) {
  ends <- range(scale$to(values))
  room <- max(diff(ends), if (scale$is_log) 0.3 else 1e-3)
  scale$from(c(ends[1] - 0.12 * room, ends[2] + 0.32 * room))
}

scale_ticks <- function(limits, scale) {
  num_decades <- if (scale$is_log) diff(log10(limits)) else 0
  ticks <- if (num_decades < 0.8) pretty(limits, 4) else {
    decades <- 10^(floor(log10(limits[1])):ceiling(log10(limits[2])))
    if (num_decades < 1.6) sort(c(decades, 2 * decades, 5 * decades)) else decades
  }
  ticks[ticks >= limits[1] & ticks <= limits[2]]
}

# Draws the density of one cell as a shape of fixed height, with its median.
draw_density <- function(values, y, colour, scale) {
  at <- scale$to(values)
  density <- stats::density(at, bw = max(stats::bw.nrd0(at), 0.02))
  height <- 0.62 * density$y / max(density$y)
  seen <- height > 0.004
  polygon(scale$from(c(density$x[seen], rev(density$x[seen]))),
          y - 0.25 + c(height[seen], rep(0, sum(seen))),
          col = grDevices::adjustcolor(colour, 0.55), border = colour, lwd = 1.2)
}

draw_points <- function(values, y, colour) {
  points(values, rep(y + 0.03, length(values)), pch = 19, cex = 1.1,
         col = grDevices::adjustcolor(colour, 0.6))
}

draw_cell <- function(values, y, colour, scale, limits) {
  if (length(values) >= min_density_values && scale$is_log) {
    draw_density(values, y, colour, scale)
  } else {
    draw_points(values, y, colour)
  }
  middle <- stats::median(values)
  segments(middle, y - 0.25, middle, y + 0.37, col = "#222222", lwd = 1.6)
  on_the_right <- scale$to(middle) < mean(scale$to(limits))
  edge <- scale$to(stats::quantile(values, if (on_the_right) 0.99 else 0.01, names = FALSE))
  gap <- 0.03 * diff(scale$to(limits)) * if (on_the_right) 1 else -1
  text(scale$from(edge + gap), y, format_value(middle), adj = c(if (on_the_right) 0 else 1, 0.5),
       cex = 0.95, font = 2, col = "#222222")
}

# The panel's axis holds all of `axis_values`.
draw_panel <- function(measure, values, axis_values, rows, shown_rows) {
  par(mar = c(4.2, 0.8, 2.6, 0.8))
  scale <- make_scale(axis_values)
  limits <- scale_limits(axis_values, scale)
  plot.new()
  plot.window(limits, c(0.45, length(shown_rows) + 0.55), log = if (scale$is_log) "x" else "",
              xaxs = "i", yaxs = "i")
  ticks <- scale_ticks(limits, scale)
  abline(v = ticks, col = "#E4E4E4", lwd = 1)
  abline(h = length(shown_rows):1 - 0.25, col = "#EFEFEF", lwd = 1)
  axis(1, at = ticks, labels = format(ticks, scientific = FALSE, drop0trailing = TRUE, trim = TRUE,
                                      big.mark = ","),
       col = NA, col.ticks = "#999999", cex.axis = 0.95, mgp = c(2, 0.6, 0))
  mtext(measure$label, side = 3, line = 0.7, cex = min(0.82, 30 / nchar(measure$label)),
        family = "mono", font = 2)
  mtext(paste0(measure$unit, if (scale$is_log) " (log scale)"), side = 1, line = 2.4, cex = 0.8)
  for (row in unique(values$row)) {
    y <- length(shown_rows) + 1L - match(row, shown_rows)
    draw_cell(values$value[values$row == row], y, rows[[row]]$colour, scale, limits)
  }
}

draw_row_labels <- function(rows, shown_rows) {
  par(mar = c(4.2, 0.5, 2.6, 0))
  plot.new()
  plot.window(c(0, 1), c(0.45, length(shown_rows) + 0.55), xaxs = "i", yaxs = "i")
  for (i in seq_along(shown_rows)) {
    text(0.97, length(shown_rows) + 1L - i, rows[[shown_rows[i]]]$label, adj = c(1, 0.5),
         cex = 1.1, font = if (startsWith(shown_rows[i], "nodelay")) 2 else 1)
  }
}

draw_picture <- function(benchmark, values, path, footnote) {
  shown_rows <- intersect(names(benchmark$rows), values$row)
  shown_measures <- intersect(names(benchmark$measures), values$measure)
  lines <- split_in_lines(shown_measures, max_panels)
  num_panels <- max(lengths(lines))
  line_height <- 140 + 132 * length(shown_rows)
  grDevices::png(path, width = 600 + 500 * num_panels, height = 200 + line_height * length(lines),
                 res = 150, type = "cairo")
  on.exit(grDevices::dev.off())
  num_places <- (num_panels + 1L) * length(lines)
  layout(matrix(seq_len(num_places), nrow = length(lines), byrow = TRUE),
         widths = c(0.7, rep(1, num_panels)))
  par(oma = c(1.6, 0, 3.6, 0.4), cex = 0.82, family = "sans")
  values <- clip_cells(values)
  for (line in lines) {
    draw_row_labels(benchmark$rows, shown_rows)
    for (measure in line) {
      shown <- values[values$measure == measure, ]
      axis_values <- if (isTRUE(benchmark$one_axis)) values$value else shown$value
      draw_panel(benchmark$measures[[measure]], shown, axis_values, benchmark$rows, shown_rows)
    }
  }
  outer_text <- function(text, side, line, ...) {
    mtext(text, side = side, outer = TRUE, line = line, at = 0.006, adj = 0, ...)
  }
  outer_text(benchmark$title, 3, 1.4, font = 2, cex = 1.25)
  outer_text(benchmark$subtitle, 3, 0.1, cex = 0.85, col = "#444444")
  outer_text(footnote, 1, 0.2, cex = 0.72, col = "#666666")
}
