#' Apply a function on the workers, without delay
#'
#' The functions of the same names in package \pkg{parallel}, with the same arguments and
#' results, for clusters of nodelay. Some tasks wait at each worker while it works, so that it does
#' not wait for the next one. Under static scheduling task i runs on the same node as with \pkg{parallel},
#' so that random numbers after [parallel::clusterSetRNGStream()] are the same. Under dynamic
#' scheduling tasks wait at a worker only where the tasks of late took far less than a millisecond: a long one
#' never stands in front of others while another worker is idle.
#'
#' @inheritParams clusterCall
#' @param x A vector or list: `fun` gets its elements as first argument, one at a time.
#' @param MoreArgs A list of further arguments, the same for all calls.
#' @param RECYCLE Logical: are shorter arguments recycled? Otherwise the shortest says how many calls there are.
#' @param SIMPLIFY Logical: is the result simplified, as by [sapply()]? Or `"array"`.
#' @param USE.NAMES Logical: does the result get the names of the first argument, or the strings
#'   themselves where that has none?
#' @param .scheduling `"static"` or `"dynamic"`.
#'
#' @return A list of the values, in the order of `x`; for `clusterMap()` see `SIMPLIFY`. With no
#'   element at all: `NULL`.
#'
#' @section Errors:
#' As for [clusterCall()]. A task that fails does not stop the others.
#'
#' @examples
#' cl <- makeClusterPSOCK(2)
#' clusterApply(cl, 1:3, function(x) x + 1)
#' clusterApplyLB(cl, 1:3, function(x, y) x + y, y = 10)
#' clusterMap(cl, function(x, y) paste(x, y), c(a = "red", b = "green"), 1:2)
#' parallel::stopCluster(cl)
#' @export
clusterApply <- function(cl = NULL, x, fun, ...) {
  if (is.null(cl)) cl <- getDefaultCluster()
  if (!is_own_cluster(cl) || length(x) == 0L) return(parallel::clusterApply(cl = cl, x = x, fun = fun, ...))
  rest <- list(...)
  without_errors(cluster_run(cl, fun, length(x), function(i, ...) c(list(x[[i]]), rest), FALSE))
}

#' @rdname clusterApply
#' @export
clusterApplyLB <- function(cl = NULL, x, fun, ...) {
  if (is.null(cl)) cl <- getDefaultCluster()
  if (!is_own_cluster(cl) || length(x) == 0L) return(parallel::clusterApplyLB(cl = cl, x = x, fun = fun, ...))
  rest <- list(...)
  without_errors(cluster_run(cl, fun, length(x), function(i, ...) c(list(x[[i]]), rest), TRUE))
}

#' @rdname clusterApply
#' @export
clusterMap <- function(cl = NULL, fun, ..., MoreArgs = NULL, RECYCLE = TRUE, SIMPLIFY = FALSE, USE.NAMES = TRUE,
                       .scheduling = c("static", "dynamic")) {
  if (is.null(cl)) cl <- getDefaultCluster()
  .scheduling <- match.arg(.scheduling)
  vectors <- list(...)
  num_tasks <- if (length(vectors) == 0L) 0L else (if (RECYCLE) max else min)(lengths(vectors))
  has_empty <- any(lengths(vectors) == 0L)
  if (!is_own_cluster(cl) || num_tasks == 0L || has_empty) { # some of these are errors of parallel's
    return(parallel::clusterMap(cl = cl, fun = fun, ...,
      MoreArgs = MoreArgs, RECYCLE = RECYCLE, SIMPLIFY = SIMPLIFY, USE.NAMES = USE.NAMES, .scheduling = .scheduling
    ))
  }
  if (RECYCLE) {
    is_short <- lengths(vectors) < num_tasks
    vectors[is_short] <- lapply(vectors[is_short], rep, length.out = num_tasks)
  }
  arguments <- function(i, ...) c(lapply(vectors, function(vector) vector[[i]]), MoreArgs)
  values <- without_errors(cluster_run(cl, fun, num_tasks, arguments, .scheduling == "dynamic"))
  if (USE.NAMES) values <- named_after(values, vectors[[1L]])
  if (isFALSE(SIMPLIFY)) values else simplify2array(values, higher = identical(SIMPLIFY, "array"))
}

# As mapply() names its results.
named_after <- function(values, x) {
  if (!is.null(names(x))) names(values) <- names(x) else if (is.character(x)) names(values) <- x
  values
}
