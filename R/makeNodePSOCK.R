#' Start one worker
#'
#' `makeNodePSOCK()` starts one R worker on this machine and returns the node that stands
#' for it. [makeClusterPSOCK()] starts many at once and takes the same arguments.
#'
#' @param worker Name of this machine: a string, `"localhost"`, `"127.0.0.1"` or the host
#'   name. Other machines are not supported yet.
#' @param port Port to listen on, where the worker connects over TCP: an integer in 1 to
#'   65535, several of which a random free one is taken, or `"auto"` or `"random"`, which mean
#'   the environment variable `R_PARALLEL_PORT` where that is set to a number, else a random
#'   one of 11000 to 11999. Over the local transport nothing listens and it is not used.
#' @param connectTimeout Seconds without any progress after which starting workers fails,
#'   a positive number. A worker that ends before that is reported at once.
#' @param timeout Seconds of silence, a positive number: a call without a reply for so long
#'   fails with an error of class `nodelay_error_timeout`, and a worker without a call for so
#'   long ends.
#' @param rscript_options Named list of R options to set on the worker, with any values.
#' @param rscript_startup R code to run on the worker once it is up: an expression
#'   as from [quote()], a character vector of lines, or a list of these. It runs in the
#'   worker's global environment, after `rscript_envs`, `rscript_libs` and `rscript_options`
#'   have taken effect.
#' @param rscript_envs Character vector of environment variables of the worker. Named: set to
#'   that value, or unset where it is `NA`. Unnamed: as here, with a warning where there is no
#'   such variable. They are there when R starts, and set once more when it is up, since
#'   R's own start-up files may change them.
#' @param rscript_libs Character vector of library paths of the worker; `"*"` stands for
#'   those that it has by itself. `NULL`: no change.
#' @param default_packages Character vector of the packages that the worker attaches at its
#'   start; `"*"` stands for `getOption("defaultPackages")`, `NULL` for what R attaches by itself.
#' @param methods Logical: is \pkg{methods} among the default packages?
#' @param socketOptions The worker's R option `socketOptions`, a string, and with it the delay of
#'   every TCP connection between the two: `"no-delay"` sets `TCP_NODELAY` at both ends, any
#'   other string does not. `NULL` or `"NULL"` leave both as they are. A native worker over
#'   the local transport has no TCP connection and answers without delay in any case.
#' @param useXDR Logical: send calls in the XDR (big-endian) encoding instead of this machine's own?
#' @param outfile Where the worker's output goes, a string: a file, which is overwritten; `""` or `NULL`
#'   for this process's own output; `"/dev/null"` for nowhere. In the last case the last lines of its
#'   standard error are kept in memory, to be shown when the worker ends unexpectedly.
#' @param rank Number of the node in its cluster, a positive integer.
#' @param engine Whose loop runs on the worker, a string: `"native"` nodelay's, `"base"` that of
#'   base R (`parallel:::workLoop()`), for a worker that needs no nodelay; `"auto"`: native.
#' @param transport What connects the two, a string: `"local"` a socket pair, which opens no port,
#'   `"tcp"` a TCP connection over the loopback interface; `"auto"`: local for native workers,
#'   TCP for base-R ones, which know nothing else.
#' @param validate Logical: ask the worker for its R version, platform and libraries
#'   (element `session_info` of the node)? Costs no extra round trip.
#' @param verbose Logical: tell what is being done?
#' @param ... Arguments of \pkg{parallelly} that are not supported yet are errors that say so.
#'
#' @details
#' The defaults come from the R options `parallelly.makeNodePSOCK.<argument>`, else
#' `future.makeNodePSOCK.<argument>`, for `connectTimeout`, `timeout`, `socketOptions`, `useXDR` and
#' `validate`. When nodelay is loaded these are set, where they are not, from the environment
#' variables `R_PARALLELLY_MAKENODEPSOCK_<ARGUMENT>`, else `R_FUTURE_MAKENODEPSOCK_<ARGUMENT>`.
#'
#' @return A list of class `c("nodelay_node", "RichSOCKnode", "SOCK0node")` (`"SOCKnode"` with
#'   `useXDR`): `host` (with attribute `localhost`), `rank`, `rshlogfile` and, with `validate`,
#'   `session_info`. The worker ends with [parallel::stopCluster()], when its node is
#'   garbage collected, or when this process ends.
#'
#' @section Errors:
#' `nodelay_error_argument` for a value that makes no sense, `nodelay_error_start_failed` (also
#' of class `PSOCKConnectionError`) where the worker does not come up, with fields `node`,
#' `pid`, `host`, `command`, `status`, `signal` and `stderr`.
#'
#' @examples
#' node <- makeNodePSOCK(rscript_options = list(digits = 3))
#' print(node)
#' cl <- structure(list(node), class = c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster"))
#' parallel::clusterCall(cl, getOption, "digits")
#' parallel::stopCluster(cl)
#' @export
makeNodePSOCK <- function(worker = "localhost", port = c("auto", "random"),
                          connectTimeout = setting("makeNodePSOCK.connectTimeout", 120),
                          timeout = setting("makeNodePSOCK.timeout", 30 * 24 * 3600),
                          rscript_options = NULL, rscript_startup = NULL, rscript_envs = NULL,
                          rscript_libs = NULL,
                          default_packages = c("datasets", "utils", "grDevices", "graphics", "stats", if (methods) "methods"),
                          methods = TRUE,
                          socketOptions = setting("makeNodePSOCK.socketOptions", "no-delay"),
                          useXDR = setting("makeNodePSOCK.useXDR", FALSE), outfile = "/dev/null", rank = 1L,
                          engine = c("auto", "native", "base"), transport = c("auto", "local", "tcp"),
                          validate = setting("makeNodePSOCK.validate", TRUE),
                          verbose = isTRUE(getOption("parallelly.debug")), ...) {
  refuse_arguments("makeNodePSOCK", ...names_of(...))
  methods <- is_flag(methods, "methods")
  plan <- node_plan(
    worker = worker, timeout = timeout, rscript_options = rscript_options,
    rscript_startup = rscript_startup, rscript_envs = rscript_envs, rscript_libs = rscript_libs,
    default_packages = default_packages, socketOptions = socketOptions, useXDR = useXDR,
    outfile = outfile, engine = engine, transport = transport, validate = validate
  )
  plan$rank <- as_count(rank, "rank")
  start_nodes(list(plan), port, connectTimeout, is_flag(verbose, "verbose"))[[1L]]
}

# Checks everything that makes up one worker but its rank; what nodes_start() in
# src/bind_cluster.cpp takes.
node_plan <- function(worker, timeout, rscript_options, rscript_startup, rscript_envs, rscript_libs,
                      default_packages, socketOptions, useXDR, outfile, engine, transport, validate) {
  host <- as_local_host(worker)
  engine <- as_choice(engine, "engine", c("auto", "native", "base"))
  transport <- as_choice(transport, "transport", c("auto", "local", "tcp"))
  if (engine == "auto") engine <- "native"
  if (engine == "base" && transport == "local") {
    stop_argument("A base-R worker (engine = \"base\") can only be reached over TCP: use transport = \"tcp\" or \"auto\".")
  }
  if (transport == "auto") transport <- if (engine == "native") "local" else "tcp"
  socketOptions <- as_socket_options(socketOptions)
  variables <- as_environment_variables(rscript_envs)
  validate <- is_flag(validate, "validate")
  settings <- list(
    set = variables$set, unset = variables$unset, libs = as_library_paths(rscript_libs),
    options = c(as_r_options(rscript_options), if (!is.null(socketOptions)) list(socketOptions = socketOptions)),
    startup = as_startup_code(rscript_startup), validate = validate
  )
  list(
    host = host, engine = engine, transport = transport, validate = validate,
    timeout = as_seconds(timeout, "timeout"), useXDR = is_flag(useXDR, "useXDR"),
    socketOptions = socketOptions, no_delay = identical(socketOptions, "no-delay"),
    set = variables$set, unset = variables$unset, outfile = as_outfile(outfile),
    argv = c(file.path(R.home("bin"), "Rscript"), as_default_packages(default_packages)),
    library = dirname(system.file(package = "nodelay")),
    set_up = list(
      type = "EXEC",
      data = list(fun = set_up_worker, args = list(settings), return = TRUE, tag = NULL),
      tag = NULL
    )
  )
}

start_nodes <- function(plans, port, connectTimeout, verbose) {
  say <- function(...) if (verbose) message("[local output] ", sprintf(...))
  ports <- as_ports(port)
  say("Starting %d %s worker(s) on '%s' over %s ...", length(plans), plans[[1L]]$engine, plans[[1L]]$host, plans[[1L]]$transport)
  started <- nodes_start(the$session, plans, ports, as_seconds(connectTimeout, "connectTimeout"))
  if (started[[1L]]$port > 0L) say("They came to port %d", started[[1L]]$port)
  say("Started: pid %s", paste(vapply(started, `[[`, 0L, "pid"), collapse = ", "))
  Map(new_node, plans, started)
}
