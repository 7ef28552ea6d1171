#' Types of clusters for parallel::makeCluster()
#'
#' With R (>= 4.5.0), `makeCluster(2, type = RPSOCK)` of package \pkg{parallel} calls [makeClusterPSOCK()], `RMPI`
#' means [makeClusterMPI()] and `SEQ` [makeClusterSequential()]. The names are those of \pkg{parallelly}, the
#' strings are not, so that both packages can be loaded.
#'
#' @return Strings: `"NODELAY"`, `"NODELAY_MPI"` and `"NODELAY_SEQUENTIAL"`.
#'
#' @examples
#' if (getRversion() >= "4.5.0") {
#'   cl <- parallel::makeCluster(1, type = RPSOCK)
#'   print(cl)
#'   parallel::stopCluster(cl)
#' }
#' @name RPSOCK
NULL

#' @rdname RPSOCK
#' @export
RPSOCK <- "NODELAY"

#' @rdname RPSOCK
#' @export
RMPI <- "NODELAY_MPI"

#' @rdname RPSOCK
#' @export
SEQ <- "NODELAY_SEQUENTIAL"

# `register` is that of package parallel, NULL where it has none.
register_cluster_types <- function(register = get0("registerClusterType", asNamespace("parallel"), inherits = FALSE)) {
  if (is.null(register)) return(invisible())
  register(RPSOCK, makeClusterPSOCK)
  register(RMPI, makeClusterMPI)
  register(SEQ, function(workers = 1L, ...) {
    if (as_count(workers, "workers") != 1L) stop_argument("A sequential cluster has one node, not ", workers, ".")
    makeClusterSequential(...)
  })
}
