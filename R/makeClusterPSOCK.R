#' Start a cluster of R workers
#'
#' Starts R workers on this machine, all at the same time, for use with the functions of
#' package \pkg{parallel}.
#'
#' @inheritParams makeNodePSOCK
#' @param workers How many workers to start, a positive whole number, or a character vector
#'   with the name of this machine once for each worker.
#' @param ... Further arguments of [makeNodePSOCK()], the same for every worker.
#' @param autoStop Logical: should the workers end when the cluster is garbage collected? A
#'   worker whose node is garbage collected ends in any case; `TRUE` also says so in
#'   attribute `gcMe` of the cluster, as in \pkg{parallelly}.
#'
#' @return An unnamed list of nodes, see [makeNodePSOCK()], of class
#'   `c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster")`.
#'
#' @section Errors:
#' As for [makeNodePSOCK()]. When one worker cannot be started none is left running.
#'
#' @examples
#' library(parallel)
#' cl <- makeClusterPSOCK(2)
#' print(cl)
#' clusterEvalQ(cl, Sys.getpid())
#' parSapply(cl, 1:4, function(x) x^2)
#' stopCluster(cl)
#' @export
makeClusterPSOCK <- function(workers, port = c("auto", "random"), ..., autoStop = FALSE,
                             connectTimeout = setting("makeNodePSOCK.connectTimeout", 120),
                             verbose = isTRUE(getOption("parallelly.debug"))) {
  hosts <- as_workers(workers)
  autoStop <- is_flag(autoStop, "autoStop")
  verbose <- is_flag(verbose, "verbose")
  plan_host <- local({
    arguments <- node_arguments(...)
    function(host) do.call(node_plan, c(list(worker = host), arguments), quote = TRUE)
  })
  plans <- lapply(unique(hosts), plan_host)[match(hosts, unique(hosts))]
  for (i in seq_along(plans)) plans[[i]]$rank <- i
  cl <- new_cluster(start_nodes(plans, port, connectTimeout, verbose))
  if (autoStop) attr(cl, "gcMe") <- new.env(parent = emptyenv())
  cl
}

# The arguments of node_plan() but the worker: those given, and makeNodePSOCK()'s defaults.
node_arguments <- function(...) {
  given <- list(...)
  known <- setdiff(names(formals(node_plan)), "worker")
  refuse_arguments("makeClusterPSOCK", setdiff(...names_of(...), c(known, "methods")))
  defaults <- formals(makeNodePSOCK)[setdiff(known, names(given))]
  methods <- if ("methods" %in% names(given)) is_flag(given$methods, "methods") else TRUE
  frame <- list2env(list(methods = methods), parent = environment(node_plan))
  given$methods <- NULL
  c(given, lapply(defaults, eval, frame))
}
