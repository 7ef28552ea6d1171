#' The load of this machine
#'
#' How many processes were running or ready to run, averaged over the last minutes, as Linux
#' tells in `/proc/loadavg`.
#'
#' @return A numeric vector with names `"1min"`, `"5min"` and `"15min"`: about 0 where the
#'   machine is idle, about [parallel::detectCores()] where it is busy, more where it is
#'   overloaded; missing values where it is unknown.
#'
#' @examples
#' cpuLoad()
#' @export
cpuLoad <- as_command(function() structure(load_averages(), names = c("1min", "5min", "15min")))

#' How many cores are idle
#'
#' The cores of this machine less its load, times `fraction`, rounded down.
#'
#' @param memory `"5min"`, `"15min"` or `"1min"`: the time that the load is averaged over.
#' @param fraction Number above 0 and up to 1: the share of the idle cores to count.
#' @param logical Logical: passed to [availableCores()].
#' @param default Integer: what to return where the load is unknown.
#'
#' @return An integer, 1 or more, with attributes `loadavg` (see [cpuLoad()]), `maxCores` (the
#'   cores of the machine, a named integer), `memory` and `fraction`.
#'
#' @section Errors:
#' `nodelay_error_argument` where an argument makes no sense.
#'
#' @examples
#' freeCores()
#' freeCores(memory = "1min", fraction = 0.5)
#' @export
freeCores <- function(memory = c("5min", "15min", "1min"), fraction = 0.9,
                      logical = setting("availableCores.logical", TRUE),
                      default = availableCores()) {
  memory <- as_choice(memory, "memory", c("5min", "15min", "1min"))
  fraction <- as_number(fraction, "fraction", "above 0 and up to 1", function(x) x > 0 && x <= 1)
  load <- cpuLoad()
  most <- availableCores(methods = "system", logical = logical)
  free <- if (is.na(load[[memory]])) default else floor(fraction * (most - load[[memory]]))
  structure(max(1L, as.integer(free)), loadavg = load, maxCores = most, memory = memory, fraction = fraction)
}
