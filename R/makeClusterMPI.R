#' Start a cluster of R workers over MPI
#'
#' A cluster from [parallel::makeCluster()] of type `"MPI"`, with what is known about each worker, that
#' [parallel::stopCluster()] ends without waiting for MPI to disconnect, which may never come to an end.
#'
#' @param workers How many workers to start, a positive whole number.
#' @param ... Further arguments of [parallel::makeCluster()].
#' @param autoStop Logical: stop the cluster when it is garbage collected? See [autoStopCluster()].
#' @param verbose Logical: tell what is being done?
#'
#' @return A cluster of class `c("nodelay_mpi_cluster", "RichMPIcluster", "MPIcluster", "cluster")`. Element
#'   `session_info` of each node is as that of [makeNodePSOCK()].
#'
#' @section Errors:
#' `nodelay_error_argument` for a value that makes no sense, and where package \pkg{Rmpi} or
#' \pkg{snow} is not installed.
#'
#' @examples
#' \dontrun{
#' cl <- makeClusterMPI(2)
#' parallel::clusterCall(cl, Sys.getpid)
#' parallel::stopCluster(cl)
#' }
#' @export
makeClusterMPI <- function(workers, ..., autoStop = FALSE, verbose = isTRUE(getOption("parallelly.debug"))) {
  workers <- as_count(workers, "workers")
  autoStop <- is_flag(autoStop, "autoStop")
  verbose <- is_flag(verbose, "verbose")
  missing <- Filter(function(package) !requireNamespace(package, quietly = TRUE), c("Rmpi", "snow"))
  if (length(missing) > 0L) {
    stop_argument(
      "makeClusterMPI() needs packages that are not installed: ", paste(sQuote(missing, FALSE), collapse = ", "),
      ". Install them, or use makeClusterPSOCK()."
    )
  }
  if (verbose) message("[local output] Starting ", workers, " worker(s) over MPI ...")
  cl <- parallel::makeCluster(workers, type = "MPI", ...)
  no_settings <- list(unset = character(), set = character(), libs = NULL, options = list(), startup = list(), validate = TRUE)
  session_info <- parallel::clusterCall(cl, set_up_worker, no_settings)
  for (i in seq_along(cl)) cl[[i]]$session_info <- session_info[[i]]
  class(cl) <- c("nodelay_mpi_cluster", "RichMPIcluster", "MPIcluster", "cluster")
  if (autoStop) autoStopCluster(cl) else cl
}

#' @export
stopCluster.nodelay_mpi_cluster <- function(cl) {
  class(cl) <- c("MPIcluster", "cluster") # not parallelly's method, which frees the communicator too
  stopCluster(cl)
  getExportedValue("Rmpi", "mpi.comm.free")(1L)
  invisible(NULL)
}
