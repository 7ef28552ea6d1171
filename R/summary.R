#' Summarise and print clusters and nodes
#'
#' @param object,x A cluster or a node of nodelay.
#' @param ... Not used.
#'
#' @return `summary()`: a data frame with one row for each node:
#'   \describe{
#'     \item{`host`}{Name of its machine, a string.}
#'     \item{`r_version`, `platform`, `pwd`}{The worker's R version, platform and working directory
#'       at its start, strings; `NA` where it was made with `validate = FALSE`.}
#'     \item{`pid`}{Process id, an integer.}
#'     \item{`connection_index`}{Number of the node's R connection, an integer; `NA` where there is
#'       none, since it is made when `node$con` is asked for.}
#'     \item{`connection`}{What connects the two, a string: `"socket pair"` or the TCP port, and
#'       `"ERROR: "` with the reason where the worker is lost or stopped, or `node$con` was closed.}
#'   }
#'   `print()`: its argument, invisibly. Nodes that are lost or stopped, or whose `node$con` was
#'   closed, are named as broken. Closing `node$con` breaks nothing else: the node works on.
#'
#' @examples
#' cl <- makeClusterPSOCK(2)
#' summary(cl)
#' print(cl)
#' print(cl[[1]])
#' parallel::stopCluster(cl)
#' print(cl)
#' @name summary.nodelay_cluster
NULL

#' @rdname summary.nodelay_cluster
#' @export
summary.nodelay_cluster <- function(object, ...) do.call(rbind, lapply(started_nodes(object), summary.nodelay_node))

#' @export
summary.nodelay_mixed_cluster <- function(object, ...) {
  do.call(rbind, lapply(started_nodes(object), function(node) {
    if (inherits(node, "nodelay_node")) summary.nodelay_node(node) else summary_of_other(node)
  }))
}

# All but those that were only shown, with dryrun = TRUE.
started_nodes <- function(cl) Filter(Negate(is.null), unclass(cl))

#' @rdname summary.nodelay_cluster
#' @export
summary.nodelay_node <- function(object, ...) {
  connection <- node_connection(object)
  summary_row(unclass(object), attr(object, "pid"), connection$index, connection$text)
}

# Of a node of package parallel or parallelly.
summary_of_other <- function(node) {
  node <- unclass(node)
  pid <- node$session_info$process$pid
  is_valid <- isConnectionValid(node$con)
  summary_row(
    node, if (is.null(pid)) NA_integer_ else pid, as.integer(node$con),
    if (is_valid) summary(node$con)$description else "ERROR: invalid connection"
  )
}

# `node`: a list.
summary_row <- function(node, pid, connection_index, connection) {
  text_or_na <- function(text) if (is.null(text)) NA_character_ else text
  data.frame(
    host = as.character(node$host),
    r_version = text_or_na(node$session_info$r$version.string),
    platform = text_or_na(node$session_info$r$platform),
    pwd = text_or_na(node$session_info$pwd),
    pid = pid, connection_index = connection_index, connection = connection
  )
}

#' @rdname summary.nodelay_cluster
#' @export
print.nodelay_node <- function(x, ...) {
  about <- summary.nodelay_node(x)
  cat(sprintf(
    "%s of a socket cluster on %s host %s with pid %d (%s) using %s, %s engine\n",
    class(x)[1L], if (isTRUE(isLocalhostNode(x))) "local" else "remote", sQuote(about$host, FALSE), about$pid,
    described_r(about), described_connection(about$connection), attr(x, "engine")
  ))
  invisible(x)
}

#' @rdname summary.nodelay_cluster
#' @export
print.nodelay_cluster <- function(x, ...) print_cluster(x, summary.nodelay_cluster(x))

#' @export
print.nodelay_mixed_cluster <- function(x, ...) print_cluster(x, summary.nodelay_mixed_cluster(x))

print_cluster <- function(x, about) {
  if (length(started_nodes(x)) == 0L) {
    cat("Socket cluster with no nodes\n")
    return(invisible(x))
  }
  cat("Socket cluster with ", described_places(about), described_breakage(about$connection),
    if (!is.null(attr(x, "gcMe"))) ". This cluster is registered to be automatically stopped by the garbage collector",
    "\n", sep = ""
  )
  invisible(x)
}

# `index`: the number of R's connection to the node, NA where there is none; `text`: what the stream
# to the worker is, or "ERROR: " and what became of it.
node_connection <- function(node) {
  state <- tryCatch(node_state(node_handle(node)), nodelay_error_stopped = function(e) list(state = "made in another R session"))
  con <- state$connection
  is_valid <- !is.null(con) && isConnectionValid(con)
  broken <- if (state$state == "lost") {
    sub("\n.*", "", state$text)
  } else if (state$state != "running") {
    state$state
  } else if (!is.null(con) && !is_valid) {
    "invalid connection, node$con was closed"
  }
  port <- attr(node, "port")
  list(
    index = if (is_valid) as.integer(con) else NA_integer_,
    text = if (!is.null(broken)) paste("ERROR:", broken) else if (port > 0L) sprintf("TCP port %d", port) else "socket pair"
  )
}

is_broken <- function(connection) startsWith(connection, "ERROR: ")

described_connection <- function(connection) {
  if (is_broken(connection)) sprintf("a broken connection (%s)", connection) else paste("a", connection)
}

described_r <- function(about) {
  ifelse(is.na(about$r_version), "R version and platform not queried", sprintf("%s, platform %s", about$r_version, about$platform))
}

# "2 nodes on host 'localhost' (R version ...)"
described_places <- function(about) {
  places <- sprintf("on host %s (%s)", sQuote(about$host, FALSE), described_r(about))
  places <- table(factor(places, unique(places)))
  if (length(places) == 1L) return(paste(count_of_nodes(places), names(places)))
  parts <- paste(count_of_nodes(places), ifelse(places == 1L, "is", "are"), names(places))
  sprintf("%s where %s", count_of_nodes(nrow(about)), paste(parts, collapse = ", "))
}

# ". 2 nodes (#1, #2) have broken connections (ERROR: ...)"; nothing where all are well.
described_breakage <- function(connections) {
  broken <- which(is_broken(connections))
  if (length(broken) == 0L) return("")
  sprintf(
    ". %s (%s) %s (%s)", count_of_nodes(length(broken)), paste0("#", broken, collapse = ", "),
    if (length(broken) == 1L) "has a broken connection" else "have broken connections",
    paste(unique(connections[broken]), collapse = "; ")
  )
}

count_of_nodes <- function(number) paste(number, ifelse(number == 1L, "node", "nodes"))
