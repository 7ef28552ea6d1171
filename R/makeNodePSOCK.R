#' Start one worker
#'
#' `makeNodePSOCK()` starts one R worker, on this machine or another, and returns the node
#' that stands for it. [makeClusterPSOCK()] starts many at once and takes the same arguments.
#'
#' @param worker Name of the machine, a string. Names of this machine (`"localhost"`, `"127.0.0.1"`,
#'   its host name and the aliases of that in `/etc/hosts`) start a local worker; attribute
#'   `localhost`, `TRUE` or `FALSE`, decides otherwise. Any other name is reached by `rshcmd`. What
#'   `action = "options"` returned is launched.
#' @param master Name of this machine as the worker sees it, a string. `NULL`: `"localhost"` for local workers,
#'   else the host name. Through a tunnel, `"localhost"` in any case.
#' @param port Port to listen on, where the worker connects over TCP: an integer in 1 to
#'   65535, several of which a random free one is taken, or `"auto"` or `"random"`, which mean
#'   the environment variable `R_PARALLEL_PORT` where that is set to a number, else a random
#'   one of 11000 to 11999. Over the local transport nothing listens and it is not used.
#' @param connectTimeout Seconds without any progress after which starting workers fails,
#'   a positive number. A worker that ends before that is reported at once.
#' @param timeout Seconds of silence, a positive number: a call without a reply for so long
#'   fails with an error of class `nodelay_error_timeout`, and a worker without a call for so
#'   long ends.
#' @param rscript Character vector: the program to run, with what stands in front of it. `"*"` stands for
#'   `Rscript`; elements such as `"OMP_NUM_THREADS=1"` set environment variables. Every element is
#'   quoted for the shell unless the vector is of class `AsIs`, see [I()]. `NULL`: the `Rscript` of this R on
#'   this machine and wherever `homogeneous`, else the one on the path.
#' @param homogeneous Logical: is R at the same place on the worker's machine? `NULL`: for local
#'   workers, and for machines whose name is neither an IP address nor has a domain.
#' @param rscript_args Character vector: arguments for `Rscript`, not quoted. `"*"` stands for those that nodelay
#'   adds; without one, they come last. A call of `parallel:::.workRSOCK()` among them takes
#'   the place of nodelay's last expression; such a worker knows no token, so whoever connects
#'   to the port first is taken for it.
#' @param rscript_options Named list of R options to set on the worker, with any values.
#' @param rscript_startup R code to run on the worker once it is up: an expression
#'   as from [quote()], a character vector of lines, or a list of these. It runs in the
#'   worker's global environment, after `rscript_envs`, `rscript_libs` and `rscript_options`
#'   have taken effect.
#' @param rscript_envs Character vector of environment variables of the worker. Named: set to
#'   that value, or unset where it is `NA`. Unnamed: as here, with a warning where there is no
#'   such variable. Local workers have them from the start of R on.
#' @param rscript_libs Character vector of library paths of the worker; `"*"` stands for
#'   those that it has by itself. `NULL`: no change.
#' @param rscript_call R code for the last expression of the worker, a string, such as
#'   `"parallel:::.workRSOCK()"`. Such a worker knows no token, see `rscript_args`. `NULL`: nodelay's.
#' @param rscript_sh How the command is quoted, one or two of `"auto"`, `"sh"`, `"cmd"` (Windows) and `"none"`: for the
#'   shell that runs `Rscript`, and for the one that hands the whole command to another machine
#'   (`"auto"`: `"sh"`, but `"none"` for srun).
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
#' @param renice Positive integer: how much lower the worker's priority is. `NA`: not at all.
#' @param rshcmd The program that runs a command on another machine: a character vector of the program
#'   and its first arguments, each quoted; a function of `rshopts`, all options in one string, and
#'   `worker` that returns the text in front of the command, a string; or one or more types, of which the first
#'   that is there is used: `"<ssh>"`, as `NULL` does; `"<putty-plink>"`; within a job, the scheduler's own
#'   `"<srun>"` (Slurm), `"<qrsh>"` (Grid Engine) or `"<pjrsh>"` (Fujitsu), or `"<hpc>"` for that of the
#'   scheduler whose job this is. A name such as `"n1:2200"` gives ssh the port 2200.
#' @param user User name on the other machine, a string; `NULL`: ssh's own choice.
#' @param revtunnel Logical: does the worker connect through a reverse tunnel that `rshcmd` opens (option
#'   `-R`)? `NA`: with ssh yes, with other programs no; those connect to `master` directly.
#' @param rshlogfile File for the log of ssh, a string; `TRUE` for a temporary one.
#' @param rshopts Character vector: further options for `rshcmd`, not quoted.
#' @param rank Number of the node in its cluster, a positive integer.
#' @param manual Logical: print the command and wait until somebody runs it by hand? It holds a secret of
#'   the cluster, in an environment variable or on standard input.
#' @param dryrun Logical: print the command and do nothing? Returns `NULL` then.
#' @param quiet Logical: print nothing with `manual` and `dryrun`?
#' @param setup_strategy `"parallel"` or `"sequential"`. All workers are started at the same time in any
#'   case; `"sequential"` makes local ones subject to `tries` as well.
#' @param calls Logical: put the names of the calling functions on the worker's command line?
#' @param action `"launch"`, or `"options"` to return what would be launched.
#' @param engine Whose loop runs on the worker, a string: `"native"` nodelay's, `"base"` that of
#'   base R (`parallel:::workLoop()`), for a worker that needs no nodelay. `"auto"`: native where nodelay
#'   can be loaded on the worker, for local workers; base for others.
#' @param transport What connects the two, a string: `"local"` a socket pair, which opens no port,
#'   `"tcp"` a TCP connection; `"auto"`: local for local native workers, else TCP.
#' @param validate Logical: ask the worker for its R version, platform and libraries
#'   (element `session_info` of the node)? Costs no extra round trip. With option
#'   `parallelly.makeNodePSOCK.sessionInfo.pkgs` set to `TRUE` also for the packages in its libraries.
#' @param verbose Logical: tell what is being done?
#'
#' @details
#' The defaults come from the R options `parallelly.makeNodePSOCK.<argument>`, else
#' `future.makeNodePSOCK.<argument>`, for `connectTimeout`, `timeout`, `socketOptions`, `useXDR`,
#' `rshcmd`, `rshopts`, `rscript_call`, `setup_strategy`, `calls`, `tries`, `tries.delay` and `validate`. When nodelay is loaded these are
#' set, where they are not, from the environment variables
#' `R_PARALLELLY_MAKENODEPSOCK_<ARGUMENT>`, else `R_FUTURE_MAKENODEPSOCK_<ARGUMENT>`.
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
#'
#' # What would be run to start a worker on another machine
#' makeNodePSOCK("n1.example.org", port = 11234, user = "alice", dryrun = TRUE)
#' @export
makeNodePSOCK <- function(worker = setting("localhost.hostname", "localhost"), master = NULL, port = c("auto", "random"),
                          connectTimeout = setting("makeNodePSOCK.connectTimeout", 120),
                          timeout = setting("makeNodePSOCK.timeout", 30 * 24 * 3600),
                          rscript = NULL, homogeneous = NULL, rscript_args = NULL, rscript_envs = NULL, rscript_libs = NULL,
                          rscript_startup = NULL, rscript_call = setting("makeNodePSOCK.rscript_call", NULL),
                          rscript_sh = c("auto", "cmd", "sh", "none"),
                          default_packages = c("datasets", "utils", "grDevices", "graphics", "stats", if (methods) "methods"),
                          methods = TRUE,
                          socketOptions = setting("makeNodePSOCK.socketOptions", "no-delay"),
                          useXDR = setting("makeNodePSOCK.useXDR", FALSE), outfile = "/dev/null", renice = NA_integer_,
                          rshcmd = setting("makeNodePSOCK.rshcmd", NULL), user = NULL, revtunnel = NA, rshlogfile = NULL,
                          rshopts = setting("makeNodePSOCK.rshopts", NULL), rank = 1L, manual = FALSE, dryrun = FALSE, quiet = FALSE,
                          setup_strategy = setting("makeNodePSOCK.setup_strategy", "parallel"),
                          calls = setting("makeNodePSOCK.calls", FALSE), action = c("launch", "options"),
                          rscript_options = NULL, engine = c("auto", "native", "base"), transport = c("auto", "local", "tcp"),
                          validate = setting("makeNodePSOCK.validate", TRUE),
                          verbose = isTRUE(getOption("parallelly.debug"))) {
  verbose <- is_flag(verbose, "verbose")
  if (inherits(worker, "makeNodePSOCKOptions")) return(launch_nodes(list(worker), worker$port, verbose)[[1L]])
  action <- as_choice(action, "action", c("launch", "options"))
  methods <- is_flag(methods, "methods")
  arguments <- mget(setdiff(names(formals()), c("action", "verbose")))
  plan <- node_plan(
    worker = worker, master = master, timeout = timeout, rscript = rscript, homogeneous = homogeneous,
    rscript_args = rscript_args, rscript_call = rscript_call, rscript_envs = rscript_envs, rscript_libs = rscript_libs,
    rscript_startup = rscript_startup, rscript_sh = rscript_sh, default_packages = default_packages,
    socketOptions = socketOptions, useXDR = useXDR, outfile = outfile, renice = renice, rshcmd = rshcmd, user = user,
    revtunnel = revtunnel, rshlogfile = rshlogfile, rshopts = rshopts, rank = rank, manual = manual, dryrun = dryrun,
    quiet = quiet, setup_strategy = setup_strategy, calls = calls, connectTimeout = connectTimeout,
    rscript_options = rscript_options, engine = engine, transport = transport, validate = validate
  )
  plan$port <- port
  plan$arguments <- arguments
  plan$given <- intersect(names(match.call()), names(arguments))
  if (action == "options") return(plan)
  node <- launch_nodes(list(plan), port, verbose)[[1L]]
  if (plan$dryrun) invisible(node) else node
}

# Checks everything that makes up one worker; what src/r/main/start.cpp and command_plan.cpp take.
node_plan <- function(worker, master, timeout, rscript, homogeneous, rscript_args, rscript_call, rscript_envs, rscript_libs,
                      rscript_startup, rscript_sh, default_packages, socketOptions, useXDR, outfile, renice, rshcmd, user,
                      revtunnel, rshlogfile, rshopts, rank, manual, dryrun, quiet, setup_strategy, calls, connectTimeout,
                      rscript_options, engine, transport, validate) {
  host <- as_host(worker)
  is_local <- attr(host, "localhost")
  manual <- is_flag(manual, "manual")
  dryrun <- is_flag(dryrun, "dryrun")
  rank <- as_count(rank, "rank")
  ensure_remote_shell(rshcmd)
  remote <- if (!is_local) remote_plan(host, rshcmd, rshopts, user, revtunnel, rshlogfile, manual || dryrun)
  tunnel <- isTRUE(remote$tunnel)
  master <- as_master(master, if (is_local) "localhost" else Sys.info()[["nodename"]])
  if (tunnel) master <- "localhost" # its near end
  homogeneous <- as_homogeneous(homogeneous, host, master, tunnel)
  command <- command_plan(rscript, homogeneous, rscript_args, rscript_call, default_packages, renice, calls)
  command["socketOptions"] <- list(as_socket_options(socketOptions))
  way <- way_of_talking(engine, transport, is_local && !manual && !dryrun, command)
  shells <- as_shells(rscript_sh, if (is_local) "sh" else remote$outer_shell)
  variables <- as_environment_variables(rscript_envs)
  validate <- is_flag(validate, "validate")
  setup_strategy <- as_choice(setup_strategy, "setup_strategy", c("parallel", "sequential"))
  settings <- list(
    set = variables$set, unset = variables$unset, libs = as_library_paths(rscript_libs),
    options = c(
      as_r_options(rscript_options),
      if (!is.null(command$socketOptions)) list(socketOptions = command$socketOptions)
    ),
    startup = as_startup_code(rscript_startup), validate = validate,
    pkgs = isTRUE(setting("makeNodePSOCK.sessionInfo.pkgs", FALSE))
  )
  structure(list(
    host = as.character(host), localhost = is_local, rank = rank, master = master,
    engine = way$engine, transport = way$transport,
    greeting = if (command$has_own_code) "unknown" else if (way$transport == "local") "none" else if (is_local) "environment" else "input",
    may_be_forked = way$transport == "local" && may_be_forked(command, shells),
    no_delay = identical(command$socketOptions, "no-delay"), connectTimeout = as_seconds(connectTimeout, "connectTimeout"),
    timeout = as_seconds(timeout, "timeout"), useXDR = is_flag(useXDR, "useXDR"), validate = validate,
    set = if (is_local) variables$set else character(), unset = if (is_local) variables$unset else character(),
    outfile = as_outfile(outfile), library = dirname(system.file(package = "nodelay")),
    command = command, remote = remote, inner_shell = shells[[1L]], outer_shell = shells[[2L]],
    port_offset = if (tunnel && setting("makeNodePSOCK.port.increment", TRUE)) rank - 1L else 0L,
    is_reachable = !is_local && !tunnel && master != "localhost",
    manual = manual, dryrun = dryrun, quiet = is_flag(quiet, "quiet"),
    has_tries = !is_local || setup_strategy == "sequential", tries = 1L, delay = 0,
    set_up = list(
      type = "EXEC",
      data = list(fun = set_up_worker, args = list(settings), return = TRUE, tag = NULL),
      tag = NULL
    )
  ), class = c("makeNodePSOCKOptions", "makeNodeOptions"))
}

# Whose loop, and over what. `is_ours`: this process starts it on this machine.
way_of_talking <- function(engine, transport, is_ours, command) {
  engine <- as_choice(engine, "engine", c("auto", "native", "base"))
  transport <- as_choice(transport, "transport", c("auto", "local", "tcp"))
  if (command$has_own_code) {
    if (engine == "native") stop_argument("A worker that runs parallel:::.workRSOCK() is no native one: use engine = \"base\" or \"auto\".")
    engine <- "base"
  }
  if (!is_ours) {
    if (engine == "native") stop_argument("Native workers (engine = \"native\") can only be started on this machine by nodelay itself, in this version: use engine = \"base\" or \"auto\".")
    engine <- "base"
  }
  # Of a program that is not this R's own nobody knows yet whether it has nodelay.
  if (engine == "auto" && command$is_default) engine <- "native"
  if (engine != "native" && transport == "local") {
    stop_argument("Only a native worker of this machine can use the local transport: use transport = \"tcp\" or \"auto\".")
  }
  if (transport == "auto") transport <- if (engine == "native") "local" else "tcp"
  list(engine = engine, transport = transport)
}

# By a template: where the command is nodelay's own, and the user has nothing against it.
may_be_forked <- function(command, shells) {
  is_wanted <- getOption("nodelay.template", Sys.getenv("R_NODELAY_TEMPLATE"))
  !isFALSE(as.logical(is_wanted)) && Sys.info()[["sysname"]] == "Linux" && command$is_default && command$niceness == 0L && shells[[1L]] == "sh"
}

# A worker may answer its set-up call with an error that the code there could not catch.
ensure_set_up <- function(plans, started) {
  failed <- which(vapply(started, function(one) isFALSE(one$reply$success), NA))
  if (length(failed) == 0L) return(invisible())
  nodes_stop(lapply(started, `[[`, "handle"), done_message)
  plan <- plans[[failed[1L]]]
  signal_error("start_failed", paste0(
    "Cluster setup failed. Worker ", plan$rank, " on ", plan$host, " could not be set up: ", started[[failed[1L]]]$reply$value
  ), list(node = plan$rank, pid = started[[failed[1L]]]$pid, host = plan$host))
}

# Starts all of them at once, or only shows how.
launch_nodes <- function(plans, port, verbose) {
  say <- function(...) if (verbose) message("[local output] ", sprintf(...))
  ports <- as_ports(port)
  if (any(vapply(plans, `[[`, NA, "dryrun"))) {
    for (plan in plans) show_command(plan, ports[[1L]])
    return(vector("list", length(plans)))
  }
  ensure_programs(plans)
  hosts <- vapply(plans, `[[`, "", "host")
  say("Starting %d worker(s) on %s ...", length(plans), paste(sQuote(unique(hosts), FALSE), collapse = ", "))
  patience <- max(vapply(plans, `[[`, 0, "connectTimeout"))
  is_reachable <- any(vapply(plans, `[[`, NA, "is_reachable"))
  started <- nodes_start(the$session, plans, ports, is_reachable, patience)
  ensure_set_up(plans, started)
  if (started[[1L]]$port > 0L) say("They came to port %d", started[[1L]]$port)
  say("Started: pid %s", paste(vapply(started, `[[`, 0L, "pid"), collapse = ", "))
  Map(new_node, plans, started)
}
