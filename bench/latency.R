# SPDX-License-Identifier: MIT
# How long one small call to one local worker takes: through parallel's unmodified functions,
# through nodelay's own, as a task of mirai's, and for two C++ processes with the same bytes.

measures <- list(
  number = list(
    short = "a number", label = "clusterCall(cl, identity, 1)", unit = "us",
    needs = "clusterCall",
    cluster = function(cl, functions) {
      clusterCall <- functions$clusterCall
      function() clusterCall(cl, identity, 1)
    },
    mirai = function(profile) function() mirai::mirai(identity(x), x = 1, .compute = profile)[],
    floor = function() call_bytes(identity, list(1), 1)),
  iris = list(
    short = "iris", label = "clusterEvalQ(cl, iris)[[1]]", unit = "us",
    needs = "clusterEvalQ",
    cluster = function(cl, functions) {
      clusterEvalQ <- functions$clusterEvalQ
      function() clusterEvalQ(cl, iris)[[1]]
    },
    mirai = function(profile) function() mirai::mirai(iris, .compute = profile)[],
    floor = function() call_bytes(eval, list(quote(iris), envir = .GlobalEnv), iris))
)

benchmark <- list(
  title = "How long one small call to one local worker takes",
  subtitle = "Distribution of single calls; the line marks the median; further left is better",
  heading = "Median time of one call in us",
  rows = contestants, measures = measures, reference = "nodelay", one_axis = TRUE,
  targets = list(
    list(measure = "number", row = "nodelay", against = "parallelly_no_delay", at_most = 0.45),
    list(measure = "number", row = "nodelay", against = "mirai_cluster", at_most = 0.25),
    list(measure = "number", row = "nodelay_own", against = "parallelly_no_delay", at_most = 0.17),
    list(measure = "number", row = "nodelay_own", against = "floor", at_most = 4),
    list(measure = "iris", row = "nodelay_own", against = "parallelly", at_most = 0.15),
    list(measure = "iris", row = "nodelay_own", against = "parallel", at_most = 0.0006)),
  measure = function() {
    measure_contestants(contestants, measures, 1, seconds = 20,
                        make_cell = function(row, measure, call) {
                          make_call_cell(row, measure, measures[[measure]]$unit, call)
                        })
  })
