#' Make a cluster that is this R session
#'
#' A cluster of one node without any process: calls are evaluated at once, in this session. For
#' tests, for debugging, and where nothing can be started.
#'
#' What a worker would find in its global environment is here an environment of the cluster's
#' own whose parent is the global environment: there [parallel::clusterExport()] puts its variables,
#' expressions of [parallel::clusterEvalQ()] are evaluated, and functions from the global environment are
#' called. `.GlobalEnv` in an expression means it too. The session's own variables are found and stay as
#' they are, and so does its random number stream once the cluster has one from
#' [parallel::clusterSetRNGStream()]. A function that was made elsewhere, say in another function, keeps its environment.
#'
#' @return A cluster of class `c("nodelay_sequential_cluster", "sequential_cluster", "cluster")`. Its node is a
#'   list, `host` and `rank`, of class `c("nodelay_sequential_node", "sequential_node")`.
#'
#' @section Errors:
#' `nodelay_error_stopped` where it is used after [parallel::stopCluster()]. Errors in calls are
#' collected as from any worker.
#'
#' @examples
#' cl <- makeClusterSequential()
#' parallel::parSapply(cl, 1:3, sqrt)
#' a <- 1
#' parallel::clusterEvalQ(cl, {
#'   a <- 2
#'   a
#' })
#' a
#' parallel::stopCluster(cl)
#' @export
makeClusterSequential <- function() {
  worker <- new.env(parent = emptyenv())
  worker$globals <- new.env(parent = globalenv())
  worker$globals$.GlobalEnv <- worker$globals
  worker$replies <- list()
  worker$is_stopped <- FALSE
  node <- structure(
    list(host = structure("localhost", localhost = TRUE), rank = 1L),
    worker = worker, class = c("nodelay_sequential_node", "sequential_node")
  )
  as.cluster(node)
}

#' @export
as.cluster.nodelay_sequential_node <- function(x, ...) {
  structure(list(x), class = c("nodelay_sequential_cluster", "sequential_cluster", "cluster"))
}

#' @exportS3Method parallel::sendData
sendData.nodelay_sequential_node <- function(node, data) {
  worker <- running_worker(node)
  if (data$type == "EXEC") {
    worker$replies <- c(worker$replies, list(evaluate_call(data$data, worker$globals)))
  } else if (data$type == "DONE") {
    worker$is_stopped <- TRUE
  }
  invisible(NULL)
}

#' @exportS3Method parallel::recvData
recvData.nodelay_sequential_node <- function(node) {
  worker <- running_worker(node)
  if (length(worker$replies) == 0L) stop_argument("The sequential cluster has no call to answer: send one first.")
  reply <- worker$replies[[1L]]
  worker$replies <- worker$replies[-1L]
  reply
}

#' @exportS3Method parallel::recvOneData
recvOneData.nodelay_sequential_cluster <- function(cl) list(node = 1L, value = recvData.nodelay_sequential_node(cl[[1L]]))

#' @exportS3Method parallel::closeNode
closeNode.nodelay_sequential_node <- function(node) {
  attr(node, "worker")$is_stopped <- TRUE
  invisible(NULL)
}

#' @export
stopCluster.nodelay_sequential_cluster <- function(cl) {
  for (node in unclass(cl)) closeNode.nodelay_sequential_node(node)
  invisible(NULL)
}

#' @export
print.nodelay_sequential_cluster <- function(x, ...) {
  is_stopped <- attr(x[[1L]], "worker")$is_stopped
  cat("Sequential cluster with 1 node in this R session", if (is_stopped) ". It has been stopped", "\n", sep = "")
  invisible(x)
}

#' @export
print.nodelay_sequential_node <- function(x, ...) {
  cat("Node of a sequential cluster in this R session", if (attr(x, "worker")$is_stopped) ". It has been stopped", "\n", sep = "")
  invisible(x)
}

#' @export
isLocalhostNode.nodelay_sequential_node <- function(node, ...) TRUE

#' @export
isForkedNode.nodelay_sequential_node <- function(node, ...) FALSE

running_worker <- function(node) {
  worker <- attr(node, "worker")
  if (worker$is_stopped) signal_error("stopped", "The sequential cluster was stopped: make a new one to go on.")
  worker
}

# What a worker of package parallel sends back for a call.
evaluate_call <- function(call, globals) {
  restore <- enter_random_stream(globals)
  on.exit(restore())
  fun <- within_globals(call$fun, globals)
  args <- lapply(call$args, within_globals, globals)
  success <- TRUE
  began <- proc.time()
  value <- tryCatch(do.call(fun, args, quote = TRUE, envir = globals), error = function(e) {
    success <<- FALSE
    error_value(e)
  })
  list(type = "VALUE", value = value, success = success, time = proc.time() - began, tag = call$tag)
}

# A function or environment that, on another process, would be of the global environment there.
within_globals <- function(value, globals) {
  if (is.environment(value) && identical(value, globalenv())) return(globals)
  if (!is.function(value)) return(value)
  if (identical(environment(value), globalenv()) || identical(value, exporter())) environment(value) <- globals
  value
}

# The function by which parallel::clusterExport() assigns a variable.
exporter <- function() get0("gets", environment(parallel::clusterExport), inherits = FALSE)

# Where the cluster has a random number stream of its own makes it that of the session; returns the
# function that undoes it.
enter_random_stream <- function(globals) {
  seed_in <- function(where) get0(".Random.seed", where, inherits = FALSE)
  set_seed <- function(where, seed) {
    if (!is.null(seed)) assign(".Random.seed", seed, where) else if (!is.null(seed_in(where))) rm(".Random.seed", envir = where)
  }
  own <- seed_in(globals)
  if (is.null(own)) return(function() NULL)
  of_session <- seed_in(globalenv())
  set_seed(globalenv(), own)
  function() {
    if (identical(seed_in(globals), own)) set_seed(globals, seed_in(globalenv())) # else the call set a new one
    set_seed(globalenv(), of_session)
  }
}
