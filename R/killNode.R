#' Send signals to workers
#'
#' `killNode()` sends a signal to the processes of workers, by default one that ends them. On this machine
#' it goes to the worker's process group, and so to the child processes of the worker as well; never to another
#' process that got the same number later. On another machine it goes to the worker alone, by the command
#' `kill`, over the same program that started it there, such as ssh.
#'
#' After `tools::SIGTERM` and `tools::SIGKILL` the node cannot be used any more, also where the worker
#' ignores the signal: such a worker is stopped, see [parallel::stopCluster()]. No temporary folder is left behind.
#' [cloneNode()] starts a worker in its place. To interrupt what a worker does is
#' `signal = tools::SIGINT`; its call then has no result.
#'
#' @param x A node or a cluster.
#' @param signal Number of the signal, an integer in 1 to 64; see [tools::pskill()].
#' @param ... Not used.
#'
#' @return `TRUE` where the signal was sent, `FALSE` where the worker was not alive, `NA` where it cannot be
#'   sent; for a cluster a logical vector with one value for each node. Nodes of \pkg{parallelly} are left to that
#'   package; for others there is a warning.
#'
#' @section Errors:
#' `nodelay_error_argument` where `signal` is no signal.
#'
#' @examples
#' cl <- makeClusterPSOCK(2)
#' killNode(cl[[2]])
#' killNode(cl, signal = tools::SIGKILL)
#' print(cl)
#' @export
killNode <- function(x, signal = tools::SIGTERM, ...) UseMethod("killNode")

#' @export
killNode.default <- function(x, signal = tools::SIGTERM, ...) {
  warning("Signal ", as_signal(signal), " was not sent: nodelay knows no process of a node of class '", class(x)[1L], "'.", call. = FALSE)
  NA
}

#' @export
killNode.cluster <- function(x, signal = tools::SIGTERM, ...) {
  signal <- as_signal(signal)
  each_node(x, function(nodes) signal_nodes(nodes, signal), function(node) killNode(node, signal = signal, ...))
}

#' @export
killNode.RichSOCKnode <- function(x, signal = tools::SIGTERM, ...) {
  if (!requireNamespace("parallelly", quietly = TRUE)) return(NextMethod())
  # From where this very method is not seen.
  do.call(parallelly::killNode, list(x, signal = as_signal(signal), ...), envir = globalenv())
}

#' @export
killNode.nodelay_node <- function(x, signal = tools::SIGTERM, ...) signal_nodes(list(x), as_signal(signal))

as_signal <- function(signal) {
  as.integer(as_number(signal, "signal", "from 1 to 64, see tools::pskill()", function(n) n >= 1 && n <= 64 && n == trunc(n)))
}

signal_nodes <- function(nodes, signal) {
  handles <- lapply(nodes, node_handle)
  is_local <- vapply(nodes, isLocalhostNode, NA)
  is_sent <- rep(NA, length(nodes))
  is_sent[is_local] <- nodes_signal(handles[is_local], signal)
  is_sent[!is_local] <- vapply(nodes[!is_local], signal_remote_node, NA, signal)
  if (signal %in% c(tools::SIGTERM, tools::SIGKILL)) nodes_see_off(handles[is_sent %in% TRUE])
  is_sent
}

# By the command kill on the worker's machine.
signal_remote_node <- function(node, signal) {
  if (!isTRUE(isNodeAlive(node))) return(isNodeAlive(node))
  pid <- unclass(node)$session_info$process$pid
  if (is.null(pid)) {
    warning("Signal ", signal, " was not sent: the process of a node made with validate = FALSE is not known.", call. = FALSE)
    return(NA)
  }
  plan <- handle_plan(node_handle(node))
  plan$remote$tunnel <- FALSE # it is open already
  remote_shell <- node_command(plan, 1L)$remote_shell
  command <- paste(remote_shell, shQuote(sprintf("kill -%d %d", signal, pid)))
  patience <- plan$connectTimeout # seconds
  system2("sh", c("-c", shQuote(command)), stdout = FALSE, stderr = FALSE, stdin = "/dev/null", timeout = patience) == 0L
}
