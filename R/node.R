node_handle <- function(node) attr(node, "handle", exact = TRUE)

node_handles <- function(cl) lapply(unclass(cl), node_handle)

# Those of a cluster that also has nodes of other packages.
handles_within <- function(cl) Filter(Negate(is.null), node_handles(cl))

new_node <- function(plan, started) {
  host <- structure(plan$host, localhost = plan$localhost)
  log <- plan$remote$log
  node <- list(host = host, rank = plan$rank, rshlogfile = if (isTRUE(nzchar(log))) log)
  set_up <- started$reply$value
  if (plan$validate) node$session_info <- set_up
  if (plan$localhost && started$pid > 0L) own_temporary_folder(started$handle, set_up$tempdir)
  base_class <- if (plan$useXDR) "SOCKnode" else "SOCK0node"
  structure(
    node,
    handle = started$handle, pid = started$pid, engine = started$engine, port = started$port,
    class = c("nodelay_node", "RichSOCKnode", base_class)
  )
}

# A worker's own, not one that R was told to share.
own_temporary_folder <- function(handle, path) {
  if (is.character(path) && path != tempdir()) node_own_folder(handle, path)
}

# The S3 methods by which parallel and snow speak to a node. They are called by those
# packages' own functions, such as clusterCall(), with messages of their kind.

#' @exportS3Method parallel::sendData
#' @exportS3Method snow::sendData
sendData.nodelay_node <- function(node, data) {
  on.exit(give_up_cluster_call()) # an interrupt
  node_send(node_handle(node), data)
  on.exit()
}

#' @exportS3Method parallel::recvData
#' @exportS3Method snow::recvData
recvData.nodelay_node <- function(node) {
  on.exit(give_up_cluster_call()) # an interrupt
  value <- node_receive(node_handle(node))
  on.exit()
  value
}

#' @exportS3Method parallel::closeNode
#' @exportS3Method snow::closeNode
closeNode.nodelay_node <- function(node) {
  nodes_stop(list(node_handle(node)), done_message)
  invisible(NULL)
}

done_message <- list(type = "DONE", data = NULL, tag = NULL)

# The cluster that one of parallel's or snow's functions on a whole cluster, such as
# clusterCall(), is working on right now; NULL outside of these.
current_cluster <- function() {
  for (i in rev(seq_len(sys.nframe() - 1L))) {
    fun <- sys.function(i)
    if (is.primitive(fun)) next
    home <- topenv(environment(fun))
    if (!isNamespace(home) || !getNamespaceName(home) %in% c("parallel", "snow")) next
    # An error where the cluster is being made only now, as the argument of this very function.
    cl <- tryCatch(get0("cl", envir = sys.frame(i), inherits = FALSE), error = function(e) NULL)
    if (inherits(cl, "cluster") && length(handles_within(cl)) > 0L) return(cl)
  }
  NULL
}

# How many calls such a function may have under way on a node: one for each time that the
# cluster has it. No limit for others, who may send many.
num_expected_by_cluster_function <- function(handle) {
  cl <- current_cluster()
  if (is.null(cl)) .Machine$integer.max else sum(vapply(handles_within(cl), identical, NA, handle))
}

# An error or interrupt is about to end such a function: nobody will ask for the
# replies that it still waits for.
give_up_cluster_call <- function() {
  cl <- current_cluster()
  if (!is.null(cl)) nodes_give_up(handles_within(cl))
}
