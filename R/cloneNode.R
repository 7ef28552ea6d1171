#' Start a worker like another one
#'
#' `cloneNode()` starts a new worker from what a node was started from, whether or not that node's own
#' worker is still there. So a worker that died is replaced in place: `cl[[2]] <- cloneNode(cl[[2]])`.
#' Of a cluster all nodes are cloned, their workers started at the same time.
#'
#' The original is left as it is. Its worker ends when the node is garbage collected.
#'
#' @param x A node or a cluster of nodelay, also one that is lost or was stopped.
#' @param ... Arguments of [makeNodePSOCK()] that the clone is to have in place of the original's, each
#'   by its full name.
#' @param method A string: `"as-is"` takes all that the original was started with; `"vanilla"` only the
#'   arguments that were given for it, the others as they would be for a new node now.
#'
#' @return A node as from [makeNodePSOCK()], of the same rank as the original. For a cluster a
#'   cluster of as many nodes.
#'
#' @section Errors:
#' As for [makeNodePSOCK()]; `nodelay_error_argument` also where `x` is not of nodelay, and
#' `nodelay_error_stopped` where it was made in another R session.
#'
#' @examples
#' library(parallel)
#' cl <- makeClusterPSOCK(2, rscript_options = list(digits = 3))
#' tools::pskill(cl[[2]]$session_info$process$pid, tools::SIGKILL)
#' try(clusterEvalQ(cl, Sys.getpid()))
#' cl[[2]] <- cloneNode(cl[[2]])
#' clusterEvalQ(cl, getOption("digits"))
#' stopCluster(cl)
#' @export
cloneNode <- function(x, ..., method = c("as-is", "vanilla")) UseMethod("cloneNode")

#' @export
cloneNode.default <- function(x, ...) {
  stop_argument("Only nodes and clusters of nodelay can be cloned, not one of class '", class(x)[1L], "'.")
}

#' @export
cloneNode.cluster <- function(x, ..., method = c("as-is", "vanilla")) {
  is_own <- vapply(unclass(x), inherits, NA, "nodelay_node")
  for (node in unclass(x)[!is_own]) cloneNode.default(node)
  if (length(x) > 0L) x[] <- start_clones(unclass(x), list(...), method)
  x
}

#' @export
cloneNode.nodelay_node <- function(x, ..., method = c("as-is", "vanilla")) {
  start_clones(list(x), list(...), method)[[1L]]
}

cloneNode.nodelay_cluster <- cloneNode.cluster

start_clones <- function(nodes, changes, method) {
  method <- as_choice(method, "method", c("as-is", "vanilla"))
  verbose <- if (is.null(changes$verbose)) isTRUE(getOption("parallelly.debug")) else is_flag(changes$verbose, "verbose")
  changes$verbose <- NULL
  ensure_changeable(changes)
  plans <- lapply(nodes, function(node) clone_plan(handle_plan(node_handle(node)), changes, method))
  launch_nodes(plans, plans[[1L]]$port, verbose)
}

ensure_changeable <- function(changes) {
  known <- setdiff(names(formals(makeNodePSOCK)), c("action", "verbose"))
  bad <- if (length(changes) == 0L || has_names(changes)) setdiff(names(changes), known) else ""
  if (length(bad) > 0L) stop_argument("Argument '", bad[[1L]], "' of cloneNode() is none of makeNodePSOCK() by its full name.")
}

clone_plan <- function(plan, changes, method) {
  if (method == "as-is" && length(changes) == 0L) return(plan)
  arguments <- if (method == "as-is") plan$arguments else plan$arguments[plan$given]
  arguments$rank <- plan$rank
  arguments[names(changes)] <- changes
  clone <- do.call(makeNodePSOCK, c(arguments, action = "options"), quote = TRUE)
  clone[c("tries", "delay")] <- plan[c("tries", "delay")]
  clone
}
