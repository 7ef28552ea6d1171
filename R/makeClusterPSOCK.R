#' Start a cluster of R workers
#'
#' Starts R workers, on this machine and on others, all at the same time, for use with the
#' functions of package \pkg{parallel}.
#'
#' @inheritParams makeNodePSOCK
#' @param workers How many workers to start on this machine, a positive whole number, or a
#'   vector of names, see argument `worker` of [makeNodePSOCK()], one for each
#'   worker; as a list, names may have an attribute `localhost`. A number of more workers than this
#'   process may use CPU cores gives a warning, of more than three times as many an error; the option
#'   `parallelly.maxWorkers.localhost`, by default `c(1, 3)`, holds these limits, and option
#'   `parallelly.maxWorkers.localhost.ignore` the methods of [availableCores()] that do not count for
#'   them, by default `"_R_CHECK_LIMIT_CORES_"`. `I(100)` is not limited.
#' @param makeNode A function that returns what `makeNodePSOCK(..., action = "options")` does. It is called
#'   once for each worker.
#' @param user User name on the other machines: a character vector of length 1 or one for each
#'   worker; `NULL` or `"*"`: ssh's own choice.
#' @param ... Further arguments of `makeNode`, the same for every worker.
#' @param autoStop Logical: should the workers end when the cluster is garbage collected? A
#'   worker whose node is garbage collected ends in any case; `TRUE` also says so in
#'   attribute `gcMe` of the cluster, as in \pkg{parallelly}.
#' @param tries How many times a worker on another machine is started before that counts as failed,
#'   a positive integer.
#' @param delay Seconds between two tries, a number.
#'
#' @return An unnamed list of nodes, see [makeNodePSOCK()], of class
#'   `c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster")`.
#'
#' @section How local workers start:
#' On Linux the first local worker with an ordinary command and its `transport` "local" starts a *template*, an R
#' process that has loaded what every worker loads. It forks this worker and all later ones of its kind in a few
#' milliseconds each: those with the same command and environment, started from the same working directory. Forked
#' workers are children of this process as others are, with a temporary folder, random numbers, output, options,
#' libraries and start-up code of their own. Start-up files of R (`.Rprofile` and its kin) run once for all workers
#' of a kind, in the template; where they draw random numbers, write to the temporary folder, open connections or
#' start threads every worker is started by itself. A template ends with this process.
#'
#' The R option `nodelay.template = FALSE`, or the environment variable `R_NODELAY_TEMPLATE=false`, does without.
#' Workers with `rscript`, `rscript_args`, `renice` or `rscript_sh` of your own, base-R workers and those over TCP
#' always do.
#'
#' @section Errors:
#' As for [makeNodePSOCK()], and `nodelay_error_argument` for too many workers. When one worker cannot be started none is left running.
#'
#' @examples
#' library(parallel)
#' cl <- makeClusterPSOCK(2)
#' print(cl)
#' clusterEvalQ(cl, Sys.getpid())
#' parSapply(cl, 1:4, function(x) x^2)
#' stopCluster(cl)
#' @export
makeClusterPSOCK <- function(workers, makeNode = makeNodePSOCK, port = c("auto", "random"), user = NULL, ..., autoStop = FALSE,
                             tries = setting("makeNodePSOCK.tries", 3L), delay = setting("makeNodePSOCK.tries.delay", 15),
                             validate = setting("makeNodePSOCK.validate", TRUE),
                             verbose = isTRUE(getOption("parallelly.debug"))) {
  hosts <- as_workers(workers)
  autoStop <- is_flag(autoStop, "autoStop")
  verbose <- is_flag(verbose, "verbose")
  tries <- as_count(tries, "tries")
  delay <- as_delay(delay)
  users <- as_users(user, length(hosts))
  if (!is.function(makeNode)) stop_argument("Argument 'makeNode' must be a function, not ", shown(makeNode), ".")
  refuse_arguments(makeNode, ...names_of(...))
  plans <- vector("list", length(hosts))
  for (i in seq_along(hosts)) {
    plan <- if (i > 1L && identical(makeNode, makeNodePSOCK) && same_but_rank(hosts, users, i)) plans[[i - 1L]] else {
      makeNode(hosts[[i]], port = port, user = users[[i]], ..., rank = i, validate = validate, action = "options", verbose = verbose)
    }
    if (!inherits(plan, "makeNodePSOCKOptions")) {
      stop_argument("Argument 'makeNode' must be a function that returns what makeNodePSOCK(..., action = \"options\") does.")
    }
    plans[[i]] <- ranked(plan, i)
    if (plan$has_tries) plans[[i]][c("tries", "delay")] <- list(tries, delay)
  }
  cl <- new_cluster(launch_nodes(plans, port, verbose))
  if (autoStop) attr(cl, "gcMe") <- new.env(parent = emptyenv())
  if (any(vapply(plans, `[[`, NA, "dryrun"))) invisible(cl) else cl
}

# Many workers of one kind differ in nothing but their number.
same_but_rank <- function(hosts, users, i) identical(hosts[[i]], hosts[[i - 1L]]) && identical(users[[i]], users[[i - 1L]])

ranked <- function(plan, rank) {
  if (isTRUE(plan$remote$tunnel)) plan$port_offset <- if (setting("makeNodePSOCK.port.increment", TRUE)) rank - 1L else 0L
  plan$rank <- rank
  plan
}
