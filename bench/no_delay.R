# SPDX-License-Identifier: MIT
# How long one small call to a worker takes, with TCP's delay and without: through parallel's
# functions, and through nodelay's own, which a script calls that attaches nodelay after parallel. It
# times calls only: not start-up, not clusters of more than one worker. scripts/demo runs it.

measures <- list(
  iris = list(
    short = "iris", label = "clusterEvalQ(cl, iris)[[1]]", unit = "ms",
    needs = "clusterEvalQ",
    cluster = function(cl, functions) {
      clusterEvalQ <- functions$clusterEvalQ
      function() clusterEvalQ(cl, iris)[[1]]
    }),
  raw_8kb = list(
    short = "8 kB", label = "clusterCall(cl, identity, raw(8192))", unit = "ms",
    needs = "clusterCall",
    cluster = function(cl, functions) {
      clusterCall <- functions$clusterCall
      function() clusterCall(cl, identity, raw(8192))
    }),
  number = list(
    short = "a number", label = "clusterCall(cl, identity, 1)", unit = "ms",
    needs = "clusterCall",
    cluster = function(cl, functions) {
      clusterCall <- functions$clusterCall
      function() clusterCall(cl, identity, 1)
    })
)

base_worker <- function(label, colour, socket_options) {
  list(label = label, package = "nodelay", colour = colour, api = "parallel",
       start = function(n) {
         nodelay::makeClusterPSOCK(I(n), engine = "base", socketOptions = socket_options)
       })
}

rows <- c(
  contestants[c("parallel", "parallelly")],
  list(base_null = base_worker("nodelay, base R worker,\nsocketOptions = NULL", "#9CC3E0", NULL),
       base_no_delay = base_worker("nodelay, base R worker,\n\"no-delay\"", "#4A90C4", "no-delay")),
  list(through_parallel = modifyList(contestants$nodelay, list(
         label = "nodelay, through\nparallel's functions", colour = "#2F6FA3")),
       nodelay = modifyList(contestants$nodelay_own, list(label = "nodelay", colour = "#0B4F82"))))

benchmark <- list(
  title = "How long one small call to one local worker takes",
  subtitle = "Distribution of single calls; the line marks the median; further left is better",
  heading = "Median time of one call in ms",
  rows = rows, measures = measures, reference = "nodelay", one_axis = TRUE,
  targets = list(
    list(measure = "iris", row = "nodelay", against = "parallelly", at_most = 0.45),
    list(measure = "iris", row = "through_parallel", against = "parallelly", at_most = 0.45),
    list(measure = "iris", row = "nodelay", against = "parallel", at_most = 0.002),
    list(measure = "raw_8kb", row = "nodelay", against = "parallelly", at_most = 0.003),
    list(measure = "raw_8kb", row = "through_parallel", against = "parallelly", at_most = 0.003),
    list(measure = "raw_8kb", row = "base_no_delay", against = "parallelly", at_most = 0.01)),
  measure = function() {
    measure_contestants(rows, measures, 1, seconds = 18, make_cell = function(row, measure, call) {
      make_call_cell(row, measure, measures[[measure]]$unit, call)
    })
  })
