#' Call a function on every worker, without delay
#'
#' The functions of the same names in package \pkg{parallel}, with the same arguments, results and
#' errors, for clusters of nodelay: a call is serialized once for all workers, all of them are
#' served at the same time, and nothing but the call and its value travels. A cluster that has
#' nodes of other packages is given to the functions of \pkg{parallel}, which in turn work on nodelay's
#' clusters too, at half the speed or less.
#'
#' @param cl A cluster; `NULL`: the default cluster, see [parallel::setDefaultCluster()].
#' @param fun A function, or its name as a character string.
#' @param ... Arguments for `fun`.
#' @param expr An expression, which is evaluated in the global environment of every worker.
#' @param varlist A character vector of names of variables, which get the same value in the global
#'   environment of every worker.
#' @param envir The environment where the values of these variables are looked up.
#'
#' @return `clusterCall()` and `clusterEvalQ()`: a list of the values, one for each node, in the
#'   order of the nodes. `clusterExport()`: `NULL`, invisibly.
#'
#' @section Errors:
#' `nodelay_error_task` where `fun` failed on a worker: raised once all workers have answered, its message
#' is that of package \pkg{parallel}, its element `values` has the values of all workers, with those
#' of class `try-error` in the place of errors. `nodelay_error_worker_lost` where a worker ended;
#' `nodelay_error_timeout` where none answered for as many seconds as the cluster's argument `timeout` says.
#' After an interrupt, or an error of the last two kinds, the workers are told to stop.
#'
#' @examples
#' cl <- makeClusterPSOCK(2)
#' base <- 10
#' clusterExport(cl, "base")
#' clusterEvalQ(cl, base + 1)
#' clusterCall(cl, function(x) x^2, 3)
#' parallel::stopCluster(cl)
#' @importFrom parallel getDefaultCluster
#' @export
clusterCall <- function(cl = NULL, fun, ...) {
  if (is.null(cl)) cl <- getDefaultCluster()
  values <- cluster_call(cl, fun, list(...))
  if (is.null(values)) return(parallel::clusterCall(cl = cl, fun = fun, ...))
  # without_errors() asks the same; to call it takes longer than to ask.
  if (is.null(attr(values, "has_errors"))) values else without_errors(values)
}

#' @rdname clusterCall
#' @export
clusterEvalQ <- function(cl = NULL, expr) {
  if (is.null(cl)) cl <- getDefaultCluster()
  expr <- substitute(expr)
  values <- cluster_call(cl, "eval", list(expr, envir = .GlobalEnv))
  if (is.null(values)) return(parallel::clusterCall(cl, eval, expr, envir = .GlobalEnv))
  if (is.null(attr(values, "has_errors"))) values else without_errors(values)
}

#' @rdname clusterCall
#' @export
clusterExport <- function(cl = NULL, varlist, envir = .GlobalEnv) {
  if (is.null(cl)) cl <- getDefaultCluster()
  if (!is_own_cluster(cl)) return(parallel::clusterExport(cl, varlist, envir))
  for (name in varlist) without_errors(cluster_call(cl, assign_globally, list(name, get(name, envir = envir))))
}

# Sends no value back.
assign_globally <- function(name, value) {
  assign(name, value, envir = .GlobalEnv)
  NULL
}
environment(assign_globally) <- baseenv()

# The values, where none of them stands for an error. They are not lost with the error: whoever
# catches it finds them there.
without_errors <- function(values) {
  if (is.null(attr(values, "has_errors"))) return(values)
  attr(values, "has_errors") <- NULL
  errors <- Filter(function(value) inherits(value, "try-error"), values)
  what <- if (length(errors) == 1L) "one node produced an error: " else {
    paste0(length(errors), " nodes produced errors; first error: ")
  }
  signal_error("task", paste0(what, paste(errors[[1L]], collapse = "")), list(values = values))
}
