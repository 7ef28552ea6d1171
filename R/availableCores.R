# Methods that look at the machine as it is, and not at what a user or a scheduler asked for.
machine_methods <- c(
  "system", "/proc/self/status", "cgroups.cpuset", "cgroups.cpuquota", "cgroups2.cpuset.cpus",
  "cgroups2.cpuset.cpus.effective", "cgroups2.cpu.max", "nproc"
)

core_methods <- c(
  machine_methods, "mc.cores", "BiocParallel", "_R_CHECK_LIMIT_CORES_", "Bioconductor", "LSF",
  "PJM", "PBS", "SGE", "Slurm", "fallback", "custom"
)

#' How many cores this R session may use
#'
#' Asks the machine, R's options and the job schedulers how many CPU cores this session may
#' use, and by default returns the least of the answers, named by the method that gave it.
#' Nothing is remembered: a changed option or environment variable counts at the next call.
#'
#' @param constraints Character vector: what the cores are for. `"multicore"` makes every value
#'   1 where forked processing is not supported, see [supportsMulticore()]. `"connections"` and
#'   `"connections-N"` are added to `methods`.
#' @param methods Character vector of the methods to ask, see below. Those in option
#'   `parallelly.availableCores.methods.excludes`, separated by commas or as a vector, are left
#'   out.
#' @param na.rm Logical: leave out the methods that have no answer?
#' @param logical Logical: passed to [parallel::detectCores()] by method `"system"`.
#' @param default Integer, with a name: what to return where no method has an answer.
#' @param which `"min"` for the least value, `"max"` for the largest, `"all"` for the values of
#'   all methods.
#' @param fraction Number above 0 and up to 1: the share of the cores to keep, rounded down.
#' @param omit Number of cores to leave to others, not negative; subtracted after `fraction`.
#' @param max Number of cores that the result does not exceed; applied last.
#'
#' @return A named integer, 1 or more; with `which = "all"` one for each method. A name ends in
#'   `*` where option `parallelly.availableCores.min` has raised the value.
#'
#' @section Methods:
#' Of the machine:
#' * `"system"`: option `parallelly.availableCores.system`, or else
#'   [parallel::detectCores()].
#' * `"/proc/self/status"`: the CPUs that the process is allowed to run on.
#' * `"cgroups.cpuset"`, `"cgroups.cpuquota"`: CPU set and CPU quota of the process's control
#'   group (version 1). A quota is the least of the group's and its parents', rounded.
#' * `"cgroups2.cpuset.cpus"`, `"cgroups2.cpuset.cpus.effective"`, `"cgroups2.cpu.max"`: CPU set
#'   asked for, CPU set granted and CPU quota of the control group (version 2).
#' * `"nproc"`: the CPUs in the process's affinity mask, as the program of that name counts
#'   them.
#'
#' Of R and of package checks:
#' * `"mc.cores"`: the option of that name. `"mc.cores+1"` is one more. Both are 1 where it is 0.
#' * `"connections"`, `"connections-N"`: how many more connections R can open, less N; at
#'   least 1.
#' * `"BiocParallel"`: environment variable `BIOCPARALLEL_WORKER_NUMBER`.
#' * `"_R_CHECK_LIMIT_CORES_"`: 2 where the environment variable of that name is set and not
#'   false; where it is not set, 2 in what `R CMD check` runs and while `R CMD build` builds
#'   vignettes, unless `R_PARALLELLY_R_CMD_CHECK_NICE` is false.
#' * `"Bioconductor"`: 4 where environment variable `IS_BIOC_BUILD_MACHINE` is true.
#'
#' Of job schedulers, by their environment variables:
#' * `"LSF"`: `LSB_DJOB_NUMPROC`.
#' * `"PJM"`: `PJM_VNODE_CORE`, or else `PJM_PROC_BY_NODE`.
#' * `"PBS"`: `PBS_NUM_PPN`, or else `NCPUS`.
#' * `"SGE"`: the slots of this host in the file `PE_HOSTFILE`, or else `NSLOTS`.
#' * `"Slurm"`: `SLURM_CPUS_ON_NODE`, or else `SLURM_CPUS_PER_TASK`, or else the number of this
#'   node in `SLURM_JOB_CPUS_PER_NODE` or `SLURM_TASKS_PER_NODE`. In a job of several nodes the
#'   CPUs of its tasks here come first: the number of this node in `SLURM_TASKS_PER_NODE`, times
#'   `SLURM_CPUS_PER_TASK`, but not more than `SLURM_CPUS_ON_NODE`. In a task that `srun` started,
#'   the task's own share: `SLURM_CPUS_PER_TASK`, or else its part of `SLURM_CPUS_ON_NODE`.
#'
#' Of your own:
#' * `"fallback"`: option `parallelly.availableCores.fallback`. For `"min"` and `"max"` it takes
#'   the place of the methods of the machine, unless one of them is below `"system"` or any
#'   other method has an answer.
#' * `"custom"`: what the function in option `parallelly.availableCores.custom` returns. It may
#'   call `availableCores()`, which then leaves this method out.
#' * Any other name: the option, or else the environment variable of that name.
#'
#' @section Settings:
#' The defaults come from options `parallelly.availableCores.methods`, `.methods.excludes`,
#' `.logical`, `.fraction`, `.omit`, `.max`, `.min`, `.fallback` and `.system`, whose prefix may
#' also be `future.`. When the package is loaded, those that are not set are read from
#' environment variables `R_PARALLELLY_AVAILABLECORES_METHODS` (words between commas),
#' `R_PARALLELLY_AVAILABLECORES_OMIT` and so on, or `R_FUTURE_...`.
#'
#' @section Command line:
#' `Rscript -e nodelay::availableCores --omit=1` prints what `availableCores(omit = 1)` returns.
#' So do [availableWorkers()] and [cpuLoad()].
#'
#' @section Errors:
#' `nodelay_error_argument` where an argument makes no sense, where a value is 0 or less, and
#' where option `parallelly.availableCores.min` is above the number of cores of the machine. An
#' environment variable or option that holds no number is passed over with a warning.
#'
#' @examples
#' availableCores()
#' availableCores(which = "all")
#' availableCores(omit = 1)
#' availableCores(fraction = 0.5, max = 4)
#' @export
availableCores <- as_command(function(constraints = NULL,
                                      methods = setting("availableCores.methods", core_methods),
                                      na.rm = TRUE, logical = setting("availableCores.logical", TRUE),
                                      default = c(current = 1L), which = c("min", "max", "all"),
                                      fraction = setting("availableCores.fraction", 1),
                                      omit = setting("availableCores.omit", 0L),
                                      max = setting("availableCores.max", Inf)) {
  methods <- as_methods(methods, constraints, "availableCores")
  na.rm <- is_flag(na.rm, "na.rm")
  which <- as_choice(which, "which", c("min", "max", "all"))
  fraction <- as_number(fraction, "fraction", "above 0 and up to 1", function(x) x > 0 && x <= 1)
  omit <- as_number(omit, "omit", "of 0 or more", function(x) x >= 0 && x < Inf)
  max <- as_number(max, "max", "of 1 or more", function(x) x >= 1)
  default <- as_default_cores(default)

  cores <- vapply(methods, cores_by, 0L, logical = logical)
  refuse_no_cores(cores)
  if ("multicore" %in% constraints && !supportsMulticore()) cores[] <- 1L
  if (which != "all") cores <- choose_cores(cores, which)
  if (na.rm) cores <- cores[!is.na(cores)]
  if (length(cores) == 0L) cores <- default
  cores <- raise_to_minimum(cores)
  limit_cores(cores, fraction, omit, max)
})

# The cores by one method, NA where it has no value.
cores_by <- function(method, logical) {
  found <- core_count(method)
  if (!is.null(found)) return(heed_warnings(found)$cores)
  if (startsWith(method, "connections")) return(free_connections(method))
  value <- switch(method,
    system = system_cores(logical),
    mc.cores = mc_cores(),
    "mc.cores+1" = mc_cores(1),
    fallback = setting("availableCores.fallback", NA),
    custom = custom_value("availableCores"),
    option_or_variable(method)
  )
  if (length(value) == 0L) return(NA_integer_)
  if (length(value) != 1L) {
    stop_argument("Method '", method, "' of availableCores() must give a single number, not ", shown(value), ".")
  }
  cores <- suppressWarnings(as.integer(value))
  if (is.na(cores) && !is.na(value)) {
    warning("Method '", method, "' of availableCores() is ignored: ", shown(value), " is not a number of cores.", call. = FALSE)
  }
  cores
}

system_cores <- function(logical) {
  cores <- setting("availableCores.system", NA)
  if (length(cores) == 1L && !is.na(cores)) return(cores)
  # Counting takes a shell, and the machine keeps its CPUs.
  kind <- paste0("detected_cores_", isTRUE(as.logical(logical)))
  if (is.null(the[[kind]])) the[[kind]] <- parallel::detectCores(logical = isTRUE(as.logical(logical)))
  the[[kind]]
}

# `more`: how many beside those of the option, which counts cores beside this one.
mc_cores <- function(more = 0L) {
  cores <- getOption("mc.cores", NA)
  if (identical(as.numeric(cores), 0)) 1L else cores + more
}

# "connections-16" is 16 less than R can open.
free_connections <- function(method) {
  if (method == "connections") {
    reserved <- 0L
  } else {
    reserved <- suppressWarnings(as.integer(sub("^connections-", "", method)))
    if (is.na(reserved)) return(NA_integer_)
  }
  # R itself holds the first three.
  free <- most_connections() - nrow(showConnections(all = TRUE)) - reserved
  as.integer(min(max(1L, free), .Machine$integer.max))
}

most_connections <- function() {
  most <- given_connections()
  if (!is.null(most)) return(most)
  argument <- grep("^--max-connections=", commandArgs(), value = TRUE) # R 4.4 and later
  if (length(argument) == 0L) 128L else as.integer(sub(".*=", "", argument[[1L]]))
}

# What the user's function returns; it may call the function that calls it.
custom_value <- function(name) {
  custom <- setting(paste0(name, ".custom"), NULL)
  within <- paste0("within_custom_", name)
  if (!is.function(custom) || isTRUE(the[[within]])) return(NULL)
  the[[within]] <- TRUE
  on.exit(the[[within]] <- FALSE)
  custom()
}

option_or_variable <- function(name) {
  value <- getOption(name)
  if (!is.null(value)) return(value)
  value <- trimws(Sys.getenv(name))
  if (nzchar(value)) value else NULL
}

heed_warnings <- function(found) {
  for (text in found$warnings) warning(text, call. = FALSE)
  found
}

refuse_no_cores <- function(cores) {
  bad <- cores[!is.na(cores) & cores <= 0L]
  if (length(bad) == 0L) return(invisible())
  stop_argument(
    "Detected invalid (zero or less) core settings: ",
    paste(sQuote(names(bad), FALSE), bad, sep = " = ", collapse = ", ")
  )
}

# One value for which = "min" and "max": NA where there is none.
choose_cores <- function(cores, which) {
  cores <- settle_fallback(cores)
  known <- cores[!is.na(cores)]
  if (length(known) == 0L) return(cores[seq_len(min(1L, length(cores)))])
  known[if (which == "min") which.min(known) else which.max(known)]
}

# The fallback stands for the machine where nothing restricts that, and else for nothing.
settle_fallback <- function(cores) {
  names <- names(cores)
  is_fallback <- names == "fallback" & !is.na(cores)
  if (!any(is_fallback)) return(cores)
  is_limit <- startsWith(names, "connections")
  machine <- cores[names %in% machine_methods & !is.na(cores)]
  is_other <- !(names %in% machine_methods) & !is_limit & !is_fallback & !is.na(cores)
  system <- if ("system" %in% names(machine)) machine[["system"]] else max(machine, 0L)
  if (any(is_other) || any(machine < system)) cores[!is_fallback] else cores[is_fallback | is_limit]
}

as_default_cores <- function(default) {
  if (is.numeric(default) && length(default) == 1L && !is.na(default) && default >= 1 && default <= .Machine$integer.max) {
    return(structure(as.integer(default), names = names(default)))
  }
  stop_argument("Argument 'default' must be a number of cores, not ", shown(default), ".")
}

raise_to_minimum <- function(cores) {
  minimum <- as_count(setting("availableCores.min", 1L), "parallelly.availableCores.min")
  is_low <- !is.na(cores) & cores < minimum
  if (!any(is_low)) return(cores)
  most <- cores_by("system", TRUE)
  if (!is.na(most) && minimum > most) {
    stop_argument(
      "Option 'parallelly.availableCores.min' must not be greater than the number of cores on the system: ",
      minimum, " > ", most
    )
  }
  cores[is_low] <- minimum
  names(cores)[is_low] <- paste0(names(cores)[is_low], "*")
  cores
}

limit_cores <- function(cores, fraction, omit, max) {
  limited <- pmin(pmax(1, floor(fraction * cores) - trunc(omit)), trunc(max))
  structure(as.integer(limited), names = names(cores))
}

# The methods to ask, without those that are excluded.
as_methods <- function(methods, constraints, name) {
  if (!is.character(methods) || anyNA(methods)) {
    stop_argument("Argument 'methods' must be a character vector, not ", shown(methods), ".")
  }
  if (!is.null(constraints) && (!is.character(constraints) || anyNA(constraints))) {
    stop_argument("Argument 'constraints' must be NULL or a character vector, not ", shown(constraints), ".")
  }
  limits <- grep("^connections(-[0-9]+)?$", constraints, value = TRUE)
  methods <- c(methods, setdiff(limits, methods))
  excludes <- split_words(as.character(setting(paste0(name, ".methods.excludes"), NULL)), ",")
  methods[!methods %in% excludes]
}
