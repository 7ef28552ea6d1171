#' Whether workers are alive
#'
#' `isNodeAlive()` tells whether the worker of a node still runs. The process that started it knows at
#' once when a local worker has ended, and is never misled by a zombie, or by another process that
#' got the same number later. A worker on another machine is alive as long as the connection to it, and
#' the program that brought it there, are.
#'
#' Whether a worker can still do something is another question: one that was suspended (SIGSTOP), or whose
#' machine is too busy, does not answer. With `timeout` native workers are asked, all at the same time; they
#' answer in the middle of a call, too. A worker of base R cannot be asked.
#'
#' @param x A node or a cluster.
#' @param timeout Seconds within which a native worker has to answer, a number; 0: it is not asked.
#' @param ... Arguments of the method for nodelay's nodes: `timeout`.
#'
#' @return `TRUE`, `FALSE`, or `NA` where it cannot be told, as for a node of another R session; for
#'   a cluster a logical vector with one value for each node. Nodes of \pkg{parallelly} are left
#'   to that package, of others nothing is known.
#'
#' @section Errors:
#' `nodelay_error_argument` where `timeout` is not a number of at least 0.
#'
#' @examples
#' cl <- makeClusterPSOCK(2)
#' isNodeAlive(cl)
#' isNodeAlive(cl, timeout = 5)
#' killNode(cl[[1]])
#' isNodeAlive(cl)
#' parallel::stopCluster(cl)
#' @export
isNodeAlive <- function(x, ...) UseMethod("isNodeAlive")

#' @export
isNodeAlive.default <- function(x, ...) NA

#' @rdname isNodeAlive
#' @export
isNodeAlive.cluster <- function(x, ...) each_node(x, function(nodes) nodes_living(nodes, ...), function(node) isNodeAlive(node, ...))

#' @export
isNodeAlive.RichSOCKnode <- function(x, ...) {
  if (!requireNamespace("parallelly", quietly = TRUE)) return(NA)
  # From where this very method is not seen.
  do.call(parallelly::isNodeAlive, list(x, ...), envir = globalenv())
}

#' @rdname isNodeAlive
#' @export
isNodeAlive.nodelay_node <- function(x, timeout = 0, ...) nodes_living(list(x), timeout)

nodes_living <- function(nodes, timeout = 0, ...) {
  timeout <- as_number(timeout, "timeout", "of seconds, at least 0", function(seconds) seconds >= 0)
  nodes_alive(lapply(nodes, node_handle), timeout)
}

# One logical value for each node of a cluster: those of nodelay by one call, others one by one.
each_node <- function(cl, of_own, of_other) {
  nodes <- unclass(cl)
  is_own <- vapply(nodes, inherits, NA, "nodelay_node")
  result <- rep(NA, length(nodes))
  result[is_own] <- of_own(nodes[is_own])
  result[!is_own] <- vapply(nodes[!is_own], of_other, NA)
  result
}
