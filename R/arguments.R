# Checks of arguments: each takes what the user gave and returns the one form that the rest
# of the package works with, or raises nodelay_error_argument.

is_flag <- function(value, name) {
  if (is.logical(value) && length(value) == 1L && !is.na(value)) return(value)
  stop_argument("Argument '", name, "' must be TRUE or FALSE, not ", shown(value), ".")
}

as_count <- function(value, name) {
  if (is.numeric(value) && length(value) == 1L && !is.na(value) && value >= 1 && value == trunc(value) && value <= .Machine$integer.max) {
    return(as.integer(value))
  }
  stop_argument("Argument '", name, "' must be a positive whole number, not ", shown(value), ".")
}

as_seconds <- function(value, name) {
  # Base R takes whole seconds up to the largest integer, 68 years.
  if (is.numeric(value) && length(value) == 1L && is.finite(value) && value > 0) return(min(value, .Machine$integer.max))
  stop_argument("Argument '", name, "' must be a single positive number of seconds, not ", shown(value), ".")
}

# `range` says in words what `is_in_range` tests.
as_number <- function(value, name, range, is_in_range) {
  if (is.numeric(value) && length(value) == 1L && !is.na(value) && is_in_range(value)) return(value)
  stop_argument("Argument '", name, "' must be a number ", range, ", not ", shown(value), ".")
}

as_option <- function(value, name, range, is_in_range) {
  if (is.numeric(value) && length(value) == 1L && !is.na(value) && is_in_range(value)) return(value)
  stop_argument("Option '", name, "' must be a number ", range, ", not ", shown(value), ".")
}

as_choice <- function(value, name, choices) {
  if (identical(value, choices)) return(choices[1L])
  if (is.character(value) && length(value) == 1L && value %in% choices) return(value)
  stop_argument("Argument '", name, "' must be one of ", paste0("\"", choices, "\"", collapse = ", "), ", not ", shown(value), ".")
}

# A list of one host name for each worker.
as_workers <- function(workers) {
  if (is.character(workers) || is.list(workers)) {
    if (length(workers) == 0L) stop_argument("Argument 'workers' must name at least one worker, not ", shown(workers), ".")
    if (is.character(workers)) workers <- with_localhost(workers)
    return(lapply(workers, as_host))
  }
  if (!is.numeric(workers)) {
    stop_argument("Argument 'workers' must be a number of workers or a vector of names, not ", shown(workers), ".")
  }
  if (length(workers) != 1L) {
    stop_argument("When numeric, argument 'workers' must be a single value: ", shown(workers))
  }
  if (is.na(workers) || workers < 1) stop_argument("Number of 'workers' must be one or greater: ", workers)
  if (workers != trunc(workers)) stop_argument("Number of 'workers' must be a whole number: ", workers)
  room <- worker_room()
  if (workers > room) {
    stop_argument(
      "Cannot start ", format(workers, scientific = FALSE), " workers: this process may have so many files open that it can take ",
      room, " more. Start fewer, or raise the limit (ulimit -n) before R is started."
    )
  }
  if (!inherits(workers, "AsIs")) check_number_of_local_workers(workers)
  rep(list(as_host(this_machine())), workers)
}

# The elements of a character vector, which lose its attribute localhost, with their own.
with_localhost <- function(workers) {
  known <- attr(workers, "localhost", exact = TRUE)
  if (is.null(known)) return(as.list(workers))
  if (!length(known) %in% c(1L, length(workers))) {
    stop_argument("attr(workers, \"localhost\") must have length 1 or one element for each worker (", length(workers), "), not ", length(known), ".")
  }
  unname(Map(function(worker, known) structure(worker, localhost = known), workers, known))
}

# The limits are numbers of workers for each core: above the first a warning, above the second
# an error. There is no limit where it is missing.
check_number_of_local_workers <- function(workers) {
  limits <- as_worker_limits(getOption("parallelly.maxWorkers.localhost", c(1, 3)))
  if (workers <= min(limits)) return(invisible()) # whatever the number of cores
  # As in parallelly, a package check's limit of two cores is for those who ask for the number of cores.
  ignored <- split_words(as.character(getOption("parallelly.maxWorkers.localhost.ignore", "_R_CHECK_LIMIT_CORES_")), ",")
  cores <- availableCores(methods = setdiff(setting("availableCores.methods", core_methods), ignored))
  load <- workers / cores
  too_many <- function(limit, kind) {
    sprintf(
      "%d workers on this machine are %.0f%% of the %d CPU cores that this R process may use (by %s), and the %s limit is %.0f%% (option 'parallelly.maxWorkers.localhost'). As I(%d), 'workers' is not limited.",
      as.integer(workers), 100 * load, as.integer(cores), sQuote(names(cores), FALSE), kind, 100 * limit, as.integer(workers)
    )
  }
  if (load > limits[2L]) stop_argument(too_many(limits[2L], "hard"))
  if (load > limits[1L]) warning(too_many(limits[1L], "soft"), call. = FALSE)
}

# The soft and the hard limit.
as_worker_limits <- function(limits) {
  if (!is.null(limits) && !(is.numeric(limits) && length(limits) <= 2L && !anyNA(limits) && all(limits > 0))) {
    stop_argument("Option 'parallelly.maxWorkers.localhost' must hold at most two positive numbers, not ", shown(limits), ".")
  }
  c(limits, Inf, Inf)[1:2]
}

# The name of a machine with attribute localhost: is it this one?
as_host <- function(worker) {
  if (!is.character(worker) || length(worker) != 1L || is.na(worker) || !nzchar(worker)) {
    stop_argument("A worker is named by a single non-empty string, not by ", shown(worker), ".")
  }
  # ssh would take it for an option.
  if (startsWith(worker, "-")) stop_argument("Worker '", worker, "': no machine has a name that begins with '-'.")
  is_local <- attr(worker, "localhost", exact = TRUE)
  if (is.null(is_local)) is_local <- is_localhost(worker)
  structure(as.character(worker), localhost = is_flag(is_local, "attr(worker, \"localhost\")"))
}

as_users <- function(users, n) {
  if (is.null(users)) return(vector("list", n))
  users <- as_words(users, "user")
  if (!length(users) %in% c(1L, n)) stop_argument("Argument 'user' must have length 1 or one element for each worker (", n, "), not ", length(users), ".")
  as.list(rep_len(users, n))
}

as_delay <- function(delay) {
  if (is.numeric(delay) && length(delay) == 1L && is.finite(delay) && delay >= 0) return(as.numeric(delay))
  stop_argument("Argument 'delay' must be a single number of seconds, not ", shown(delay), ".")
}

as_word <- function(value, name) {
  if (is.character(value) && length(value) == 1L && !is.na(value) && nzchar(value)) return(value)
  stop_argument("Argument '", name, "' must be a single non-empty string, not ", shown(value), ".")
}

as_words <- function(values, name) {
  if (is.null(values)) return(character())
  if (is.character(values) && !anyNA(values)) return(values)
  stop_argument("Argument '", name, "' must be NULL or a character vector, not ", shown(values), ".")
}

as_tristate <- function(value, name) {
  if (is.logical(value) && length(value) == 1L) return(value)
  stop_argument("Argument '", name, "' must be TRUE, FALSE or NA, not ", shown(value), ".")
}

# The ports that may be listened on; `value` is argument `name`.
as_ports <- function(value, name = "port") {
  if (identical(value, c("auto", "random")) || identical(value, "auto")) return(automatic_ports())
  if (identical(value, "random")) return(random_ports())
  if (is.numeric(value) && length(value) > 0L && are_ports(value)) return(as.integer(value))
  stop_argument("Argument '", name, "' must be \"auto\", \"random\" or whole numbers from 1 to 65535, not ", shown(value), ".")
}

# NULL, or the string to set.
as_socket_options <- function(value) {
  if (is.null(value)) return(NULL)
  if (!is.character(value) || length(value) != 1L || is.na(value) || !nzchar(value)) {
    stop_argument("Argument 'socketOptions' must be NULL or a single non-empty string such as \"no-delay\", not ", shown(value), ".")
  }
  if (value == "NULL") NULL else value
}

as_r_options <- function(options) {
  if (is.null(options)) return(list())
  if (!is.list(options) || (length(options) > 0L && !has_names(options))) {
    stop_argument("Argument 'rscript_options' must be a list with a name for each element, not ", shown(options), ".")
  }
  if ("socketOptions" %in% names(options)) {
    stop_argument("Set the R option 'socketOptions' by argument 'socketOptions': it has to be there before the worker connects.")
  }
  options
}

# A list of calls, symbols or constants to evaluate.
as_startup_code <- function(code) {
  if (is.null(code)) return(list())
  if (is.character(code)) {
    parsed <- tryCatch(parse(text = code, keep.source = FALSE), error = function(e) {
      stop_argument("Syntax error in argument 'rscript_startup': ", conditionMessage(e))
    })
    return(as.list(parsed))
  }
  if (is.expression(code)) return(as.list(code))
  if (is.language(code)) return(list(code))
  if (is.list(code)) return(unlist(lapply(code, as_startup_code), recursive = FALSE))
  stop_argument("Argument 'rscript_startup' must be an expression, a character vector or a list of these, not ", shown(code), ".")
}

# A list: set, a named character vector, and unset, the names of variables.
as_environment_variables <- function(variables) {
  none <- list(set = structure(character(), names = character()), unset = character())
  if (length(variables) == 0L) return(none)
  if (has_names(variables) && (is.numeric(variables) || is.logical(variables))) storage.mode(variables) <- "character"
  if (!is.character(variables)) {
    stop_argument("Argument 'rscript_envs' must be a character vector, not ", shown(variables), ".")
  }
  names <- names(variables)
  if (is.null(names)) names <- rep("", length(variables))
  copied <- names == ""
  names[copied] <- variables[copied]
  if (anyNA(names) || any(!nzchar(names) | grepl("=", names, fixed = TRUE))) {
    stop_argument("Argument 'rscript_envs' has a variable without a name, or with '=' in its name: ", shown(variables), ".")
  }
  values <- unname(variables)
  values[copied] <- Sys.getenv(names[copied], NA_character_)
  missing <- copied & is.na(values)
  if (any(missing)) {
    warning("Did not pass down missing environment variables to cluster node: ", paste(sQuote(names[missing], FALSE), collapse = ", "), call. = FALSE)
  }
  is_set <- !is.na(values)
  list(set = structure(values[is_set], names = names[is_set]), unset = names[!is_set & !copied])
}

as_library_paths <- function(libs) {
  if (is.null(libs)) return(NULL)
  if (is.character(libs) && !anyNA(libs)) return(libs)
  stop_argument("Argument 'rscript_libs' must be NULL or a character vector of library paths, not ", shown(libs), ".")
}

# The packages joined by commas, or NULL.
as_default_packages <- function(packages) {
  if (is.null(packages)) return(NULL)
  if (!is.character(packages) || anyNA(packages)) {
    stop_argument("Argument 'default_packages' must be NULL or a character vector of package names, not ", shown(packages), ".")
  }
  packages <- unlist(lapply(packages, function(name) if (name == "*") getOption("defaultPackages") else name))
  bad <- grep("^[[:alpha:]][[:alnum:].]*$", packages, invert = TRUE, value = TRUE)
  if (length(bad) > 0L) stop_argument("Argument 'default_packages' has invalid package names: ", shown(bad), ".")
  paste(unique(packages), collapse = ",")
}

# "" stands for this process's own output.
as_outfile <- function(outfile) {
  if (is.null(outfile)) return("")
  if (is.character(outfile) && length(outfile) == 1L && !is.na(outfile)) return(path.expand(outfile))
  stop_argument("Argument 'outfile' must be NULL or a single file name, not ", shown(outfile), ".")
}

# -- The command of a worker ---------------------------------------------------------------------

# The program with what stands in front of it.
as_rscript <- function(rscript, own, homogeneous) {
  if (is.null(rscript)) return(own)
  if (!is.character(rscript) || length(rscript) == 0L || anyNA(rscript) || any(!nzchar(rscript))) {
    stop_argument("Argument 'rscript' must be NULL or a character vector of non-empty strings, not ", shown(rscript), ".")
  }
  is_raw <- inherits(rscript, "AsIs")
  rscript <- unclass(rscript)
  rscript[rscript == "*"] <- own
  if (is_raw) return(I(rscript))
  if (homogeneous) rscript[[1L]] <- as_program(rscript[[1L]])
  rscript
}

# A program of this machine by its full path.
as_program <- function(program) {
  if (grepl("^[[:alpha:]_][[:alnum:]_]*=", program)) return(program) # an environment variable
  path <- unname(Sys.which(program))
  if (nzchar(path)) path else normalizePath(program, mustWork = FALSE)
}

# The user's arguments in front of nodelay's and behind them.
as_rscript_args <- function(arguments) {
  arguments <- as_words(arguments, "rscript_args")
  star <- which(arguments == "*")
  if (length(star) > 1L) {
    stop_argument("Argument 'rscript_args' may contain at most one asterisk ('*'): ", paste(sQuote(arguments, FALSE), collapse = " "))
  }
  if (length(star) == 0L) {
    # R never comes to what stands behind the user's own loop.
    if (runs_own_loop(arguments)) return(list(before = character(), after = arguments))
    return(list(before = arguments, after = character()))
  }
  list(before = arguments[seq_len(star - 1L)], after = arguments[-seq_len(star)])
}

as_rscript_call <- function(call) {
  if (is.null(call)) return(NULL)
  if (is.language(call)) call <- paste(deparse(call, width.cutoff = 500L), collapse = "\n")
  call <- as_word(call, "rscript_call")
  tryCatch(parse(text = call, keep.source = FALSE), error = function(e) {
    stop_argument("Syntax error in argument 'rscript_call': ", conditionMessage(e))
  })
  call
}

as_niceness <- function(renice) {
  if (length(renice) == 1L && (is.numeric(renice) || is.logical(renice))) {
    if (is.na(renice) || renice <= 0) return(0L)
    return(as.integer(renice))
  }
  stop_argument("Argument 'renice' must be a single number or NA, not ", shown(renice), ".")
}

# The shells that read the command and the command for another machine; `outer` is the latter
# where the user leaves it to us.
as_shells <- function(shells, outer) {
  choices <- c("auto", "cmd", "sh", "none")
  if (identical(shells, choices)) shells <- "auto"
  if (!is.character(shells) || !length(shells) %in% 1:2 || !all(shells %in% choices)) {
    stop_argument("Argument 'rscript_sh' must be one or two of \"auto\", \"cmd\", \"sh\" and \"none\", not ", shown(shells), ".")
  }
  shells <- rep_len(shells, 2L)
  ifelse(shells == "auto", c("sh", outer), shells)
}

as_master <- function(master, default) {
  if (is.null(master)) default else as_word(master, "master")
}

as_homogeneous <- function(homogeneous, host, master, tunnel) {
  if (!is.null(homogeneous)) return(is_flag(homogeneous, "homogeneous"))
  if (attr(host, "localhost") || (!tunnel && master == "localhost")) return(TRUE)
  !grepl("[.:]", host_and_port(host)$host) # neither an IP address nor a name with a domain
}

as_log_file <- function(path) {
  if (is.null(path) || isFALSE(path)) return("")
  if (isTRUE(path)) return(tempfile("nodelay_makeClusterPSOCK_", fileext = ".log"))
  path <- as_word(path, "rshlogfile")
  file.path(normalizePath(dirname(path), mustWork = FALSE), basename(path)) # it need not be there yet
}

# -- Arguments that are not there ----------------------------------------------------------------

# Arguments for a makeNode function that takes none of that name.
refuse_arguments <- function(makeNode, names) {
  known <- names(formals(makeNode))
  if ("..." %in% known) return(invisible())
  if (any(!nzchar(names))) stop_argument("An argument of makeClusterPSOCK() has no name: name all but the first.")
  unknown <- setdiff(names, known)
  if (length(unknown) > 0L) stop_argument("Unused argument '", unknown[[1L]], "' of makeClusterPSOCK().")
}

# Names of the arguments in `...`, "" where there is none, without evaluating them.
...names_of <- function(...) {
  names <- names(substitute(list(...)))[-1L]
  if (is.null(names)) rep("", ...length()) else names
}

has_names <- function(values) !is.null(names(values)) && !anyNA(names(values)) && all(nzchar(names(values)))

# A value as it stands in messages, on one line.
shown <- function(value) {
  text <- paste(deparse(value, nlines = 2L), collapse = " ")
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}
