cluster_class <- c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster")

# Lets BiocParallel and others coerce a cluster by S4. When the package is installed: at each loading it
# would take 13 ms.
methods::setOldClass(cluster_class)

new_cluster <- function(nodes) structure(nodes, class = cluster_class)

#' @exportS3Method parallel::recvOneData
#' @exportS3Method snow::recvOneData
recvOneData.nodelay_cluster <- function(cl) {
  on.exit(give_up_cluster_call()) # an interrupt
  value <- nodes_receive_one(node_handles(cl))
  on.exit()
  value
}

#' @export
#' @rawNamespace S3method(snow::stopCluster, nodelay_cluster)
stopCluster.nodelay_cluster <- function(cl) {
  nodes_stop(node_handles(cl), done_message)
  invisible(NULL)
}
