# Clusters that c() makes of nodes of this package and of others. Each node is spoken to in its own
# way; only to wait for any of them takes a method of its own, since that of package parallel reads
# from `node$con`, and from those of nodelay's nodes there is nothing to read.

# The class of a cluster of `nodes` that come from clusters with the classes `shared` in common.
class_of_joined <- function(nodes, shared) {
  shared <- setdiff(shared, "nodelay_mixed_cluster")
  is_own <- vapply(nodes, inherits, NA, "nodelay_node")
  is_mixed <- any(is_own) && !all(is_own) && "SOCKcluster" %in% shared
  c(if (is_mixed) "nodelay_mixed_cluster", shared)
}

mixed_cluster_class <- c("nodelay_mixed_cluster", "SOCKcluster", "cluster")
methods::setOldClass(mixed_cluster_class)

#' @exportS3Method parallel::recvOneData
#' @exportS3Method snow::recvOneData
recvOneData.nodelay_mixed_cluster <- function(cl) {
  on.exit(give_up_cluster_call()) # an interrupt
  connections <- lapply(unclass(cl), `[[`, "con")
  while (!any(is_ready <- socketSelect(connections))) {} # a signal ends it early
  first <- which.max(is_ready)
  node <- unclass(cl)[[first]]
  value <- if (inherits(node, "nodelay_node")) recvData.nodelay_node(node) else unserialize(node$con)
  on.exit()
  list(node = first, value = value)
}
