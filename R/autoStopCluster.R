#' Stop a cluster when it is garbage collected
#'
#' The workers of a cluster of nodelay end in any case when their nodes are garbage collected.
#' For other clusters this has to be asked for.
#'
#' Of a socket cluster, as from [parallel::makePSOCKcluster()], each worker is stopped when
#' its own node is collected, so that a subset such as `cl[1]` stays usable when `cl` is gone. Any
#' other cluster is stopped as a whole.
#'
#' @param cl A cluster.
#' @param debug Logical: tell, by a message, when something is stopped?
#'
#' @return The cluster with attribute `gcMe`, an environment. To be kept in place of `cl`.
#'
#' @section Errors:
#' `nodelay_error_argument` where `cl` is no cluster.
#'
#' @examples
#' cl <- autoStopCluster(parallel::makePSOCKcluster(1))
#' parallel::clusterCall(cl, Sys.getpid)
#' rm(cl)
#' invisible(gc()) # stops the worker
#' @export
autoStopCluster <- function(cl, debug = FALSE) {
  debug <- is_flag(debug, "debug")
  if (!inherits(cl, "cluster")) stop_argument("Argument 'cl' must be a cluster, not ", shown(cl), ".")
  if (is.environment(attr(cl, "gcMe"))) return(cl)
  if (inherits(cl, "SOCKcluster")) {
    for (i in seq_along(cl)) cl[[i]] <- auto_stop_node(cl[[i]], debug)
    attr(cl, "gcMe") <- witness_of(cl, debug)
  } else {
    attr(cl, "gcMe") <- stopper_of(cl, debug)
  }
  cl
}

auto_stop_node <- function(node, debug) {
  if (inherits(node, "nodelay_node") || is.environment(attr(node, "gcMe"))) return(node)
  attr(node, "gcMe") <- stopper_of(as.cluster(node), debug)
  node
}

# An environment that tells, where asked to, that `cl` is collected; its nodes see to themselves.
witness_of <- function(cl, debug) {
  witness <- new.env(parent = emptyenv())
  if (!debug) return(witness)
  witness$owner <- Sys.getpid()
  witness$text <- paste0("Finalizing cluster of class ", class(cl)[1L], " with ", count_of_nodes(length(cl)), ": each stops once no other cluster has it")
  reg.finalizer(witness, function(witness) if (witness$owner == Sys.getpid()) message(witness$text))
  witness
}

# An environment that stops `cl` when it is collected itself.
stopper_of <- function(cl, debug) {
  stopper <- new.env(parent = emptyenv())
  stopper$cl <- cl
  stopper$owner <- Sys.getpid()
  stopper$debug <- debug
  reg.finalizer(stopper, stop_collected)
  stopper
}

# A forked process collects what its parent still uses; and where a connection was closed
# before, its number may stand for another one by now.
stop_collected <- function(stopper) {
  connections <- Filter(Negate(is.null), lapply(unclass(stopper$cl), function(node) unclass(node)$con))
  if (stopper$owner != Sys.getpid() || !all(vapply(connections, isConnectionValid, NA))) return()
  if (stopper$debug) message("Finalizing cluster of class ", class(stopper$cl)[1L], ", which was garbage collected")
  try(stopCluster(stopper$cl), silent = TRUE)
}
