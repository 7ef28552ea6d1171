#' Clusters of R workers that answer without delay
#'
#' [makeClusterPSOCK()] starts a cluster of R workers for the functions of package
#' \pkg{parallel}, such as [parallel::clusterCall()] and [parallel::parLapply()].
#'
#' @section Errors:
#' Every error is a condition of class `nodelay_error` and of one class more that tells
#' what kind it is: `nodelay_error_argument`, `nodelay_error_start_failed`,
#' `nodelay_error_worker_lost`, `nodelay_error_timeout`, `nodelay_error_stopped`,
#' `nodelay_error_protocol` or `nodelay_error_system`.
#'
#' @keywords internal
#' @useDynLib nodelay, .registration = TRUE
#' @importFrom parallel stopCluster
"_PACKAGE"

# A worker's first expression loads this package; see native_worker_code() in src/core.
is_starting_worker <- function() any(nzchar(Sys.getenv(c("NODELAY_STREAM", "NODELAY_TOKEN", "NODELAY_TEMPLATE"))))

the <- new.env(parent = emptyenv()) # what all clusters of this session share

# Workers of base R would otherwise be killed, and leave their temporary folders behind.
stop_all_nodes <- function(the) session_close(the$session, done_message)

# Methods for parallelly's generics of the same names, as far as its version has them.
methods_for_parallelly <- list(
  as.cluster = c("nodelay_node", "nodelay_sequential_node"),
  cloneNode = c("nodelay_node", "nodelay_cluster"),
  isForkedNode = c("nodelay_node", "nodelay_sequential_node"),
  isLocalhostNode = "nodelay_sequential_node",
  isNodeAlive = "nodelay_node",
  killNode = "nodelay_node"
)

register_for_parallelly <- function(...) {
  theirs <- asNamespace("parallelly")
  for (generic in names(methods_for_parallelly)) {
    if (!exists(generic, envir = theirs, inherits = FALSE)) next
    for (class in methods_for_parallelly[[generic]]) {
      method <- get(paste(generic, class, sep = "."), envir = topenv())
      registerS3method(generic, class, method, envir = theirs)
    }
  }
}

.onLoad <- function(libname, pkgname) {
  read_environment()
  the$session <- session_new()
  if (isNamespaceLoaded("parallelly")) register_for_parallelly()
  setHook(packageEvent("parallelly", "onLoad"), register_for_parallelly)
  register_connection_method()
  reg.finalizer(the, stop_all_nodes, onexit = TRUE)
  if (!is_starting_worker()) register_cluster_types()
}
