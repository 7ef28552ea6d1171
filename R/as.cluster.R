#' Make clusters of nodes and of other clusters
#'
#' `as.cluster()` makes a cluster of a node or of a list of nodes and clusters; `c()`
#' joins clusters, and single nodes with them.
#'
#' A cluster of nodelay's nodes together with those of \pkg{parallel} or \pkg{parallelly} works with the
#' functions of package parallel, also with those that take whichever node is done first, such as
#' [parallel::clusterApplyLB()]. These wait on R's connections of all nodes: of each node of nodelay, too, they
#' take one.
#'
#' @param x A node, a cluster, or a list of these.
#' @param ... For `c()`, the clusters and nodes to join, the first one a cluster; not used by `as.cluster()`.
#' @param recursive Not used.
#'
#' @return A cluster: an unnamed list of nodes. A node makes a cluster of its own kind. Of several
#'   the classes are those that all have in common: nodelay's clusters make another one, which does
#'   all that they do; one of nodelay and one of \pkg{parallel} make one of class
#'   `c("nodelay_mixed_cluster", "SOCKcluster", "cluster")`. `c()` warns where a node appears more than once.
#'
#' @section Errors:
#' `nodelay_error_argument` for what is neither node nor cluster, and for an empty list.
#'
#' @examples
#' cl1 <- makeClusterPSOCK(2)
#' cl2 <- makeClusterPSOCK(1)
#' cl <- c(cl1, cl2)
#' print(cl)
#' as.cluster(cl[[1]])
#' parallel::stopCluster(cl)
#' @export
as.cluster <- function(x, ...) UseMethod("as.cluster")

#' @export
as.cluster.default <- function(x, ...) {
  stop_argument("Only nodes, clusters and lists of these make a cluster, not ", class(x)[1L], " ", shown(x), ".")
}

#' @export
as.cluster.cluster <- function(x, ...) x

#' @export
as.cluster.list <- function(x, ...) {
  if (length(x) == 0L) stop_argument("An empty list makes no cluster: it takes at least one node.")
  join_clusters(x)
}

#' @export
as.cluster.SOCKnode <- function(x, ...) structure(list(x), class = c("SOCKcluster", "cluster"))

#' @export
as.cluster.SOCK0node <- as.cluster.SOCKnode

#' @export
as.cluster.RichSOCKnode <- function(x, ...) structure(list(x), class = c("RichSOCKcluster", "SOCKcluster", "cluster"))

#' @export
as.cluster.nodelay_node <- function(x, ...) new_cluster(list(x))

# Of class SOCKcluster, since parallelly has a method for all of class cluster.
#' @rdname as.cluster
#' @export
c.SOCKcluster <- function(..., recursive = FALSE) join_clusters(list(...))

join_clusters <- function(parts) {
  clusters <- lapply(parts, as.cluster)
  nodes <- unlist(lapply(clusters, function(cl) unname(as.list(unclass(cl)))), recursive = FALSE)
  duplicates <- which(duplicated(nodes))
  if (length(duplicates) > 0L) {
    warning("The combined cluster has duplicated nodes, the same workers as before: ", paste0("#", duplicates, collapse = ", "), call. = FALSE)
  }
  structure(nodes, class = class_of_joined(nodes, Reduce(intersect, lapply(clusters, class))))
}
