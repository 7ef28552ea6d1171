# SPDX-License-Identifier: MIT
# Who is measured. A contestant's start(n) makes something with n local workers and stop() ends it.
# Its `api` says how calls are made: the package whose cluster functions are called; "mirai" where
# there is no cluster but a profile of mirai's daemons; "floor".

# R reads the option when a socket opens: this reaches the main session's end of each connection.
with_no_delay <- function(code) {
  old <- options(socketOptions = "no-delay")
  on.exit(options(old))
  code
}

start_daemons <- function(n) {
  profile <- basename(tempfile("bench"))
  mirai::daemons(n, .compute = profile)
  profile
}

contestants <- list(
  parallel = list(
    label = "package parallel", package = "parallel", colour = "#8A8A8A", api = "parallel",
    start = function(n) parallel::makePSOCKcluster(n)),
  parallelly = list(
    label = "parallelly", package = "parallelly", colour = "#D98C21", api = "parallel",
    start = function(n) parallelly::makeClusterPSOCK(I(n))),
  parallelly_no_delay = list(
    label = "parallelly,\nno-delay at both ends", package = "parallelly", colour = "#B5651D",
    api = "parallel", start = function(n) with_no_delay(parallelly::makeClusterPSOCK(I(n)))),
  mirai_cluster = list(
    label = "mirai, make_cluster()", package = "mirai", colour = "#8E6BB0", api = "parallel",
    start = function(n) mirai::make_cluster(n)),
  mirai = list(
    label = "mirai, daemons()", package = "mirai", colour = "#5E3C85", api = "mirai",
    start = start_daemons, stop = function(profile) mirai::daemons(0, .compute = profile)),
  nodelay = list(
    label = "nodelay", package = "nodelay", colour = "#0B4F82", api = "parallel",
    start = function(n) nodelay::makeClusterPSOCK(I(n))),
  nodelay_own = list(
    label = "nodelay,\nits own functions", package = "nodelay", colour = "#1F7A5C", api = "nodelay",
    start = function(n) nodelay::makeClusterPSOCK(I(n))),
  floor = list(
    label = "floor: C++ ping-pong", package = "base", colour = "#444444", api = "floor",
    start = function(n) build_floor(), stop = function(program) NULL)
)

one_line <- function(label) gsub("\n", " ", label, fixed = TRUE)

is_installed <- function(package) nzchar(system.file(package = package))

# mirai is in no Debian release that nodelay is built on; it is brought into the build folder, once.
offer_mirai <- function() {
  library_folder <- file.path(dirname(bench_folder), "build", "peers")
  if (is_installed("mirai") || dir.exists(library_folder)) return(invisible())
  dir.create(library_folder, recursive = TRUE)
  .libPaths(c(.libPaths(), library_folder))
  cat("installing mirai into build/peers, to compare with\n")
  if ("@CRAN@" %in% getOption("repos")) {
    utils::chooseCRANmirror(graphics = FALSE, ind = 1, local.only = TRUE)
  }
  try(suppressWarnings(utils::install.packages(
    "mirai", lib = library_folder, quiet = TRUE, keep_outputs = library_folder)), silent = TRUE)
  if (!is_installed("mirai")) cat("that failed; remove build/peers to try again\n")
}

describe_versions <- function(rows) {
  packages <- setdiff(unique(vapply(rows, `[[`, "", "package")), c("parallel", "base"))
  packages <- Filter(is_installed, packages)
  paste(vapply(packages, function(package) {
    paste(package, utils::packageVersion(package))
  }, ""), collapse = ", ")
}

# -- Starting and stopping ---------------------------------------------------------------------

stop_contestant <- function(row, handle) {
  if (is.null(row$stop)) parallel::stopCluster(handle) else row$stop(handle)
  invisible()
}

# Starts each row with n workers. Rows that cannot be started are absences.
start_contestants <- function(rows, n) {
  if (any(vapply(rows, `[[`, "", "package") == "mirai")) offer_mirai()
  handles <- list()
  absences <- no_absences
  for (name in names(rows)) {
    row <- rows[[name]]
    handle <- if (is_installed(row$package)) tryCatch(row$start(n), error = identity)
    if (is.null(handle)) {
      absences <- rbind(absences, absence(name, "not installed"))
    } else if (inherits(handle, "error")) {
      absences <- rbind(absences, absence(name, paste("failed:", conditionMessage(handle))))
    } else {
      handles[[name]] <- handle
    }
  }
  list(handles = handles, absences = absences)
}

stop_contestants <- function(rows, started) {
  for (name in names(started$handles)) {
    try(stop_contestant(rows[[name]], started$handles[[name]]), silent = TRUE)
  }
}

# The function `name` of a row's api; nothing where that does not have it.
api_function <- function(row, name) {
  if (name %in% getNamespaceExports(row$api)) getExportedValue(row$api, name)
}

# What one visit of a row calls for a measure, or a word why there is nothing to call.
choose_call <- function(row, measure, handle) {
  if (row$api == "mirai") {
    return(if (is.null(measure$mirai)) "-" else measure$mirai(handle))
  }
  functions <- sapply(measure$needs, function(name) api_function(row, name), simplify = FALSE)
  if (any(vapply(functions, is.null, NA))) return("not there")
  measure$cluster(handle, functions)
}

# Makes a cell of each row that was started and each measure. A measure tells how a call is made:
# `needs`, names of cluster functions; `cluster(cl, functions)` and `mirai(profile)` return a
# function that makes the call, `floor()` the sizes of its messages. make_cell(row, measure, call)
# makes a cell.
make_cells <- function(rows, measures, started, make_cell) {
  outcomes <- Map(function(name, measure_name) {
    row <- rows[[name]]
    measure <- measures[[measure_name]]
    handle <- started$handles[[name]]
    if (row$api == "floor") {
      if (is.null(measure$floor)) return(absence(name, "-", measure_name))
      return(make_floor_cell(name, measure_name, measure$unit, handle, measure$floor()))
    }
    call <- choose_call(row, measure, handle)
    if (is.character(call)) return(absence(name, call, measure_name))
    make_cell(name, measure_name, call)
  }, rep(names(started$handles), each = length(measures)),
  rep(names(measures), length(started$handles)), USE.NAMES = FALSE)
  are_absences <- vapply(outcomes, is.data.frame, NA)
  list(cells = outcomes[!are_absences],
       absences = do.call(rbind, c(list(started$absences), outcomes[are_absences])))
}

# Starts `rows` with n workers, measures `measures` of them and stops them.
measure_contestants <- function(rows, measures, n, make_cell, seconds = 0, min_rounds = 3,
                                around = function(code) code) {
  cat(sprintf("starting %d x %d workers\n", length(rows), n))
  started <- start_contestants(rows, n)
  on.exit(stop_contestants(rows, started))
  made <- make_cells(rows, measures, started, make_cell)
  measured <- around(measure_interleaved(made$cells, seconds, min_rounds))
  join_outcomes(measured, make_outcome(NULL, made$absences))
}
