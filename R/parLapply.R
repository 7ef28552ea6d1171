#' Apply a function to the elements of a vector on the workers, without delay
#'
#' The functions of the same names in package \pkg{parallel}, with the same arguments and
#' results, for clusters of nodelay. `parLapply()` and `parSapply()` deal out the elements as
#' \pkg{parallel} does. `parLapplyLB()` and `parSapplyLB()` without `chunk.size` give each worker a few elements
#' at a time: one, as long as nothing is known of how long they take or they take milliseconds; more where they are short.
#' So one long element holds up no others, and many short ones cost few messages.
#'
#' @inheritParams clusterCall
#' @param X A vector or list.
#' @param fun,FUN A function, which gets the elements of `X` as first argument; `FUN` also its name.
#' @param ... Further arguments of `fun`.
#' @param simplify,USE.NAMES As for [sapply()].
#' @param chunk.size How many elements a worker gets at a time, a number; `NULL`: see above, and for the functions
#'   without `LB` all of its share.
#'
#' @return `parLapply()` and `parLapplyLB()`: a list as long as `X`, with its names. `parSapply()` and `parSapplyLB()`:
#'   as [sapply()].
#'
#' @section Errors:
#' As for [clusterCall()]. An element that fails ends the group of elements that a worker got with it, not the others.
#'
#' @examples
#' cl <- makeClusterPSOCK(2)
#' parLapply(cl, 1:3, function(x) x^2)
#' parSapplyLB(cl, c(a = 1, b = 2), function(x, y) x + y, y = 10)
#' parallel::stopCluster(cl)
#' @importFrom parallel splitIndices
#' @export
parLapply <- function(cl = NULL, X, fun, ..., chunk.size = NULL) {
  if (is.null(cl)) cl <- getDefaultCluster()
  if (!is_own_cluster(cl)) return(parallel::parLapply(cl = cl, X = X, fun = fun, ..., chunk.size = chunk.size))
  has_size <- !is.null(chunk.size) && chunk.size > 0
  num_chunks <- if (has_size) max(1, ceiling(length(X) / chunk.size)) else length(cl)
  join(clusterApply(cl = cl, x = split_evenly(X, num_chunks), fun = "lapply", FUN = fun, ...))
}

#' @rdname parLapply
#' @export
parLapplyLB <- function(cl = NULL, X, fun, ..., chunk.size = NULL) {
  if (is.null(cl)) cl <- getDefaultCluster()
  if (!is_own_cluster(cl) || length(X) == 0L) {
    return(parallel::parLapplyLB(cl = cl, X = X, fun = fun, ..., chunk.size = chunk.size))
  }
  if (is.null(chunk.size)) {
    rest <- list(FUN = fun, ...)
    slices <- function(first, last) c(list(X[first:last]), rest)
    return(join(without_errors(cluster_run_slices(cl, "lapply", length(X), slices))))
  }
  num_chunks <- if (chunk.size > 0) max(1, ceiling(length(X) / chunk.size)) else length(X)
  join(clusterApplyLB(cl = cl, x = split_evenly(X, num_chunks), fun = "lapply", FUN = fun, ...))
}

#' @rdname parLapply
#' @export
parSapply <- function(cl = NULL, X, FUN, ..., simplify = TRUE, USE.NAMES = TRUE, chunk.size = NULL) {
  FUN <- match.fun(FUN)
  values <- parLapply(cl = cl, X = as.list(X), fun = FUN, ..., chunk.size = chunk.size)
  simplified(values, X, simplify, USE.NAMES)
}

#' @rdname parLapply
#' @export
parSapplyLB <- function(cl = NULL, X, FUN, ..., simplify = TRUE, USE.NAMES = TRUE, chunk.size = NULL) {
  FUN <- match.fun(FUN)
  values <- parLapplyLB(cl = cl, X = as.list(X), fun = FUN, ..., chunk.size = chunk.size)
  simplified(values, X, simplify, USE.NAMES)
}

split_evenly <- function(x, num_chunks) lapply(splitIndices(length(x), num_chunks), function(i) x[i])

join <- function(chunks) do.call(c, chunks, quote = TRUE)

# As sapply() does.
simplified <- function(values, x, simplify, use_names) {
  if (use_names && is.character(x) && is.null(names(values))) names(values) <- x
  if (isFALSE(simplify)) values else simplify2array(values, higher = identical(simplify, "array"))
}
