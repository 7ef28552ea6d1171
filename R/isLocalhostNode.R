#' Where the worker of a node runs
#'
#' @param node A node, or a cluster.
#' @param ... Not used.
#'
#' @return `isLocalhostNode()`: `TRUE` where the worker runs on this machine, `FALSE` where on
#'   another one, `NA` where that cannot be told. `isForkedNode()`: `TRUE` where it runs in a
#'   process that was forked from this one, `FALSE` where it is known not to, as for all of
#'   nodelay's, else `NA`. For a cluster one value for each of its nodes.
#'
#'   `isForkedChild()`: `TRUE` in a process that package \pkg{parallel} has forked, such as those
#'   of [parallel::mclapply()], else `FALSE`.
#'
#' @examples
#' cl <- makeClusterPSOCK(2)
#' isLocalhostNode(cl)
#' isForkedNode(cl[[1]])
#' isForkedChild()
#' parallel::stopCluster(cl)
#' @export
isLocalhostNode <- function(node, ...) UseMethod("isLocalhostNode")

#' @export
isLocalhostNode.default <- function(node, ...) NA

#' @export
isLocalhostNode.cluster <- function(node, ...) vapply(unclass(node), isLocalhostNode, NA, ...)

#' @export
isLocalhostNode.forknode <- function(node, ...) TRUE

#' @export
isLocalhostNode.SOCKnode <- function(node, ...) {
  host <- unclass(node)$host
  known <- attr(host, "localhost", exact = TRUE)
  if (is.logical(known) && length(known) == 1L && !is.na(known)) known else is_localhost(host)
}

#' @export
isLocalhostNode.SOCK0node <- isLocalhostNode.SOCKnode

#' @rdname isLocalhostNode
#' @export
isForkedNode <- function(node, ...) UseMethod("isForkedNode")

#' @export
isForkedNode.default <- function(node, ...) NA

#' @export
isForkedNode.cluster <- function(node, ...) vapply(unclass(node), isForkedNode, NA, ...)

#' @export
isForkedNode.forknode <- function(node, ...) TRUE

#' @export
isForkedNode.nodelay_node <- function(node, ...) FALSE

#' @rdname isLocalhostNode
#' @export
isForkedChild <- function() get("isChild", envir = asNamespace("parallel"), inherits = FALSE)()

# Whether a host name means this machine, without asking the network; NA where it is none.
# Other addresses of the loopback interface are reached as other machines are.
is_localhost <- function(host) {
  if (!is.character(host) || length(host) != 1L || is.na(host) || !nzchar(host)) return(NA)
  own <- Sys.info()[["nodename"]]
  names <- c("localhost", "127.0.0.1", "127.0.1.1", "::1", setting("localhost.hostname", NULL), own, host_aliases(own))
  tolower(host) %in% tolower(names)
}

# All names and addresses on the lines of /etc/hosts with this name.
host_aliases <- function(name, path = "/etc/hosts") {
  if (!file.exists(path)) return(character())
  lines <- strsplit(trimws(sub("#.*", "", readLines(path, warn = FALSE))), "[[:space:]]+")
  unlist(Filter(function(names) tolower(name) %in% tolower(names), lines))
}
