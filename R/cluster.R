cluster_class <- c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster")

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

#' @export
print.nodelay_cluster <- function(x, ...) {
  hosts <- vapply(unclass(x), function(node) as.character(node$host), "")
  versions <- vapply(unclass(x), node_r_version, "")
  places <- table(sprintf("host %s (%s)", sQuote(hosts, FALSE), versions))
  text <- if (length(places) == 1L) {
    sprintf("Socket cluster with %d %s on %s", length(x), if (length(x) == 1L) "node" else "nodes", names(places))
  } else {
    verbs <- ifelse(places == 1L, "node is", "nodes are")
    counts <- sprintf("%d %s on %s", places, verbs, names(places))
    sprintf("Socket cluster with %d nodes where %s", length(x), paste(counts, collapse = ", "))
  }
  states <- vapply(node_handles(x), function(handle) node_state(handle)$state, "")
  for (state in setdiff(unique(states), "running")) {
    ranks <- paste0("#", which(states == state), collapse = ", ")
    text <- sprintf("%s. %s: %s", text, if (state == "lost") "Lost" else "Stopped", ranks)
  }
  cat(text, "\n", sep = "")
  invisible(x)
}

node_r_version <- function(node) {
  r <- node$session_info$r
  if (is.null(r)) return("R version and platform not queried")
  sprintf("%s, platform %s", r$version.string, r$platform)
}
