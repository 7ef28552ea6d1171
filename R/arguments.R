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
  if (is.numeric(value) && length(value) == 1L && is.finite(value) && value > 0) return(as.numeric(value))
  stop_argument("Argument '", name, "' must be a single positive number of seconds, not ", shown(value), ".")
}

as_choice <- function(value, name, choices) {
  if (identical(value, choices)) return(choices[1L])
  if (is.character(value) && length(value) == 1L && value %in% choices) return(value)
  stop_argument("Argument '", name, "' must be one of ", paste0("\"", choices, "\"", collapse = ", "), ", not ", shown(value), ".")
}

# One host name for each worker.
as_workers <- function(workers) {
  if (is.character(workers)) {
    if (length(workers) == 0L || anyNA(workers)) {
      stop_argument("Argument 'workers' must name at least one worker, and none of them NA: ", shown(workers), ".")
    }
    return(vapply(workers, as_local_host, "", USE.NAMES = FALSE))
  }
  if (!is.numeric(workers)) {
    stop_argument("Argument 'workers' must be a number of workers or a character vector of names, not ", shown(workers), ".")
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
  rep("localhost", workers)
}

as_local_host <- function(worker) {
  if (!is.character(worker) || length(worker) != 1L || is.na(worker) || !nzchar(worker)) {
    stop_argument("A worker is named by a single non-empty string, not by ", shown(worker), ".")
  }
  if (worker %in% c("localhost", "127.0.0.1", Sys.info()[["nodename"]])) return(as.character(worker))
  stop_argument("Worker '", worker, "': this version of nodelay starts workers on this machine only ('localhost').")
}

# The ports that may be listened on.
as_ports <- function(port) {
  if (identical(port, c("auto", "random")) || identical(port, "auto") || identical(port, "random")) {
    fixed <- Sys.getenv("R_PARALLEL_PORT")
    if (!nzchar(fixed) || fixed == "random") return(11000:11999)
    port <- suppressWarnings(as.integer(fixed))
    if (is.na(port)) {
      warning("Will use a random port, since the environment variable R_PARALLEL_PORT is no number: ", sQuote(fixed, FALSE), call. = FALSE)
      return(11000:11999)
    }
  }
  if (is.numeric(port) && length(port) > 0L && !anyNA(port) && all(port == trunc(port) & port >= 1 & port <= 65535)) {
    return(as.integer(port))
  }
  stop_argument("Argument 'port' must be \"auto\", \"random\" or whole numbers from 1 to 65535, not ", shown(port), ".")
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

# The argument of Rscript, or nothing.
as_default_packages <- function(packages) {
  if (is.null(packages)) return(character())
  if (!is.character(packages) || anyNA(packages)) {
    stop_argument("Argument 'default_packages' must be NULL or a character vector of package names, not ", shown(packages), ".")
  }
  packages <- unlist(lapply(packages, function(name) if (name == "*") getOption("defaultPackages") else name))
  bad <- grep("^[[:alpha:]][[:alnum:].]*$", packages, invert = TRUE, value = TRUE)
  if (length(bad) > 0L) stop_argument("Argument 'default_packages' has invalid package names: ", shown(bad), ".")
  paste0("--default-packages=", paste(unique(packages), collapse = ","))
}

# "" stands for this process's own output.
as_outfile <- function(outfile) {
  if (is.null(outfile)) return("")
  if (is.character(outfile) && length(outfile) == 1L && !is.na(outfile)) return(path.expand(outfile))
  stop_argument("Argument 'outfile' must be NULL or a single file name, not ", shown(outfile), ".")
}

# -- Arguments that are not there ----------------------------------------------------------------

# Those of parallelly 1.45 to 1.48 that a later version of nodelay will take.
missing_arguments <- c(
  "action", "calls", "delay", "dryrun", "homogeneous", "makeNode", "manual", "master", "quiet", "renice",
  "revtunnel", "rscript", "rscript_args", "rscript_call", "rscript_sh", "rshcmd", "rshlogfile", "rshopts",
  "setup_strategy", "tries", "user"
)

refuse_arguments <- function(fun, names) {
  if (length(names) == 0L) return(invisible())
  name <- names[[1L]]
  if (name %in% missing_arguments) {
    stop_argument("Argument '", name, "' of ", fun, "() has no effect in this version of nodelay yet: leave it out, or use parallelly for this cluster.")
  }
  if (!nzchar(name)) stop_argument("An argument of ", fun, "() has no name: name all but the first.")
  stop_argument("Unused argument '", name, "' of ", fun, "().")
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
