worker_methods <- c(
  "mc.cores", "BiocParallel", "_R_CHECK_LIMIT_CORES_", "Bioconductor", "LSF", "PJM", "PBS", "SGE",
  "Slurm", "custom", "cgroups.cpuset", "cgroups.cpuquota", "cgroups2.cpuset.cpus",
  "cgroups2.cpuset.cpus.effective", "cgroups2.cpu.max", "nproc", "system", "fallback"
)

scheduler_methods <- c("LSF", "PJM", "PBS", "SGE", "Slurm")

#' The hosts that workers may be started on
#'
#' Asks the job schedulers for the hosts that they allot to this job, and where there is no job,
#' [availableCores()] for the workers that this machine has cores for. Nothing is remembered: a
#' changed option or environment variable counts at the next call.
#'
#' @param constraints Character vector: `"connections"` and `"connections-N"` are added to
#'   `methods`.
#' @param methods Character vector of the methods to ask: those below and those of
#'   [availableCores()]. Those in option `parallelly.availableWorkers.methods.excludes` are left
#'   out.
#' @param na.rm Logical: leave out missing host names?
#' @param logical Logical: passed to [availableCores()].
#' @param default Character vector: the hosts where no method has an answer.
#' @param which `"auto"` for the first method that has an answer, `"min"` for the shortest and
#'   `"max"` for the longest answer, `"all"` for the answers of all methods.
#' @param ... Further named arguments of [availableCores()], such as `omit` and `max`, for the
#'   methods that it answers.
#'
#' @return A character vector with the name of a host once for each worker; with
#'   `which = "all"` a list of such, named by the methods, of length 0 where one has no answer.
#'   A method without hosts of its own gives `"localhost"` for each of the cores of
#'   `availableCores(methods = method)`; with `which = "auto"` not more often than the machine
#'   has cores by those of `methods` that look at it.
#'
#' @section Methods:
#' * `"LSF"`: host names in environment variable `LSB_HOSTS`.
#' * `"PJM"`: the hosts in the file `PJM_O_NODEINF`, each for every core of
#'   `availableCores(methods = "PJM")`.
#' * `"PBS"`: the lines of the file `PBS_NODEFILE`, sorted. A warning says where `PBS_NP`, or
#'   `PBS_NUM_NODES` times `PBS_NUM_PPN`, is set and is not their number.
#' * `"SGE"`: the hosts in the file `PE_HOSTFILE`, each for every slot, in the file's order. A
#'   warning says where `NSLOTS` is set and is more.
#' * `"Slurm"`: the hosts of `SLURM_JOB_NODELIST`, or else `SLURM_NODELIST`, such as
#'   `"n1,n[03-05]"` or `"a[1-2]b[3-4]"`, each as often as `SLURM_JOB_CPUS_PER_NODE`, or else
#'   `SLURM_TASKS_PER_NODE`, says, such as `"2(x2),3,2"`. No program of Slurm is run.
#' * `"custom"`: what the function in option `parallelly.availableWorkers.custom` returns. It
#'   may call `availableWorkers()`, which then leaves this method out.
#' * Any name that is no method of [availableCores()]: host names between blanks or commas in
#'   the option, or else the environment variable of that name.
#'
#' @section Settings:
#' The defaults come from options `parallelly.availableWorkers.methods`, `.methods.excludes` and
#' `parallelly.localhost.hostname`, whose prefix may also be `future.`, and these when the
#' package is loaded from environment variables `R_PARALLELLY_AVAILABLEWORKERS_METHODS` and so
#' on.
#'
#' @section Errors:
#' `nodelay_error_argument` where an argument makes no sense. Files that cannot be read, and
#' variables of a scheduler that contradict each other, are passed over with a warning.
#'
#' @examples
#' availableWorkers()
#' availableWorkers(methods = c("Slurm", "nproc"), which = "all")
#' @export
availableWorkers <- as_command(function(constraints = NULL,
                                        methods = setting("availableWorkers.methods", worker_methods),
                                        na.rm = TRUE, logical = setting("availableCores.logical", TRUE),
                                        default = setting("localhost.hostname", "localhost"),
                                        which = c("auto", "min", "max", "all"), ...) {
  methods <- as_methods(methods, constraints, "availableWorkers")
  na.rm <- is_flag(na.rm, "na.rm")
  which <- as_choice(which, "which", c("auto", "min", "max", "all"))
  if (!is.character(default) || length(default) == 0L || anyNA(default)) {
    stop_argument("Argument 'default' must be a character vector of host names, not ", shown(default), ".")
  }
  cores <- function(methods) availableCores(methods = methods, na.rm = FALSE, logical = logical, ...)
  hosts <- lapply(structure(methods, names = methods), hosts_by, cores)
  if (na.rm) hosts <- lapply(hosts, function(names) names[!is.na(names)])
  if (which == "all") return(hosts)
  hosts <- hosts[lengths(hosts) > 0L]
  if (length(hosts) == 0L) return(default)
  switch(which,
    auto = first_hosts(hosts, methods, cores),
    min = hosts[[which.min(lengths(hosts))]],
    max = hosts[[which.max(lengths(hosts))]]
  )
})

# The hosts by one method; none where it has no answer. `cores` counts those of this machine.
hosts_by <- function(method, cores) {
  if (method %in% scheduler_methods) {
    hosts <- heed_warnings(job_hosts(method))$hosts
    if (!is.null(hosts)) return(hosts)
  } else if (method == "custom") {
    hosts <- as.character(custom_value("availableWorkers"))
    if (length(hosts) > 0L) return(hosts)
  } else if (!is_core_method(method)) {
    hosts <- split_words(as.character(option_or_variable(method)), "[:blank:],")
    refuse_no_workers(hosts, method)
    return(hosts)
  }
  count <- cores(method)
  rep(this_machine(), if (length(count) != 1L || is.na(count)) 0L else count)
}

this_machine <- function() setting("localhost.hostname", "localhost")

# No host has a number for its name: somebody has set a number of workers, and one that makes no sense.
refuse_no_workers <- function(hosts, method) {
  if (length(hosts) != 1L || !grepl("^(0+|-[0-9]+)$", hosts)) return(invisible())
  stop_argument("Method '", method, "' of availableWorkers() must give names of hosts, not ", sQuote(hosts, FALSE), ".")
}

is_core_method <- function(method) {
  method %in% c(core_methods, "mc.cores+1") || startsWith(method, "connections")
}

# The first answer; one about this machine gives way to what the machine has, or its fallback.
first_hosts <- function(hosts, methods, cores) {
  method <- names(hosts)[1L]
  if (method %in% c(scheduler_methods, "custom") || !is_core_method(method)) return(hosts[[1L]])
  is_machine <- methods %in% c(machine_methods, "fallback") | startsWith(methods, "connections")
  rep(this_machine(), cores(unique(c(method, methods[is_machine]))))
}
