#' Find a TCP port that can be listened on
#'
#' Tries ports by listening on each for a moment, on all IPv4 interfaces of this machine, until
#' one can be had.
#'
#' @param ports The ports to try, whole numbers from 1 to 65535. `"random"`: the set that
#'   environment variable `R_PARALLELLY_RANDOM_PORTS`, else `R_FUTURE_RANDOM_PORTS`, gives as
#'   a comma-separated list of ports and ranges, such as `"5000,11000:11999"`; 11000 to 11999 where
#'   neither is set. `"auto"`: the one port that `R_PARALLEL_PORT` gives, and `"random"` where that
#'   is not set or set to `random`. [makeClusterPSOCK()] takes its ports from the same sets.
#' @param default What to return where none of the ports can be had: a port, `NA`, or
#'   `"first"` for `ports[1]`. `"random"` means `NA`: no port that has just been found taken is
#'   returned unless it is asked for.
#' @param randomize Logical: try the ports in random order? The state of R's random
#'   numbers is left alone.
#'
#' @return A single integer: the first port that can be had, else `default`; `NA` where
#'   `ports` is empty. Another process may take the port at any time after it was found free;
#'   `makeClusterPSOCK(port = ports)` keeps the one that it finds.
#'
#' @section Errors:
#' `nodelay_error_argument` for values that are no ports. What is no port in an environment variable
#' is skipped with a warning.
#'
#' @section For tests:
#' With environment variable `_R_PARALLELLY_CHECK_AVAILABLE_PORTS_` set to `any` every port counts as free;
#' any other value is an error.
#'
#' @examples
#' freePort()
#' freePort("random")
#' is_free <- function(port) !is.na(freePort(port, default = NA))
#' is_free(5000)
#' @export
freePort <- function(ports = 1024:65535, default = "random", randomize = TRUE) {
  randomize <- is_flag(randomize, "randomize")
  default <- as_default_port(default)
  if (length(ports) == 0L) return(if (identical(default, "first")) NA_integer_ else default)
  ports <- as_ports(ports, "ports")
  port <- find_port(ports, randomize, are_ports_tested())
  if (!is.na(port)) return(port)
  if (identical(default, "first")) ports[[1L]] else default
}

are_ports_tested <- function() {
  given <- Sys.getenv("_R_PARALLELLY_CHECK_AVAILABLE_PORTS_")
  if (!given %in% c("", "any")) {
    stop_argument("Environment variable _R_PARALLELLY_CHECK_AVAILABLE_PORTS_ must be \"any\" or not set, not ", shown(given), ".")
  }
  given == ""
}

# "first", a port, or NA.
as_default_port <- function(default) {
  if (identical(default, "first")) return(default)
  if (identical(default, "random")) return(NA_integer_)
  if (length(default) == 1L && (is.na(default) || (is.numeric(default) && are_ports(default)))) return(as.integer(default))
  stop_argument("Argument 'default' must be a port, NA, \"first\" or \"random\", not ", shown(default), ".")
}

are_ports <- function(values) !anyNA(values) && all(values == trunc(values) & values >= 1 & values <= 65535)

# What "auto" stands for.
automatic_ports <- function() {
  given <- Sys.getenv("R_PARALLEL_PORT")
  if (given %in% c("", "random")) return(random_ports())
  port <- suppressWarnings(as.numeric(given))
  if (are_ports(port)) return(as.integer(port))
  warning("Will use a random port, since the environment variable R_PARALLEL_PORT is no port: ", sQuote(given, FALSE), call. = FALSE)
  random_ports()
}

# What "random" stands for: all ports of which a random one may be taken.
random_ports <- function() {
  given <- Sys.getenv(c("R_PARALLELLY_RANDOM_PORTS", "R_FUTURE_RANDOM_PORTS"))
  given <- given[nzchar(given)]
  if (length(given) == 0L) return(11000:11999)
  parts <- trimws(strsplit(given[[1L]], ",", fixed = TRUE)[[1L]])
  ranges <- lapply(parts, port_range)
  is_bad <- lengths(ranges) == 0L
  if (any(is_bad)) {
    warning(
      "Skipping what is no port in environment variable ", names(given)[1L], ": ",
      paste(sQuote(parts[is_bad], FALSE), collapse = ", "),
      if (all(is_bad)) ". Nothing is left: using 11000 to 11999", call. = FALSE
    )
  }
  if (all(is_bad)) 11000:11999 else sort(unique(unlist(ranges)))
}

# The ports of "5000" or "5000:5999"; NULL where it is neither.
port_range <- function(text) {
  if (!grepl("^[0-9]{1,5}( *: *[0-9]{1,5})?$", text)) return(NULL)
  ends <- as.integer(strsplit(text, ":", fixed = TRUE)[[1L]])
  if (are_ports(ends)) seq(ends[1L], ends[length(ends)])
}
