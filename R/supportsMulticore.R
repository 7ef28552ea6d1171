#' Whether forked processing is supported
#'
#' Forked processing is what [parallel::mclapply()] and `makeCluster(type = "FORK")` do. It is
#' not supported on Windows, and not considered safe where R runs inside of RStudio.
#'
#' @param ... Only `warn`, logical: warn, once in a session, that forked processing is disabled
#'   because it is not safe here?
#'
#' @return `TRUE` or `FALSE`.
#'
#' @section Settings:
#' * Option `parallelly.fork.enable`: `TRUE` or `FALSE` decides; `NA`, the default, does not.
#' * Option `parallelly.supportsMulticore.disableOn`: where it is disabled, `"rstudio_console"`,
#'   the default, or `"rstudio_terminal"`, or both.
#' * Option `parallelly.supportsMulticore.unstable`: `"warn"`, the default, or `"quiet"` for no
#'   warning.
#'
#' The prefix may also be `future.`. When the package is loaded, those that are not set are read
#' from environment variables `R_PARALLELLY_FORK_ENABLE` and so on.
#'
#' @examples
#' supportsMulticore()
#' @export
supportsMulticore <- function(...) {
  if (.Platform$OS.type == "windows") return(FALSE)
  enabled <- setting("fork.enable", NA)
  if (is.logical(enabled) && length(enabled) == 1L && !is.na(enabled)) return(enabled)
  place <- rstudio_place()
  if (!place %in% setting("supportsMulticore.disableOn", "rstudio_console")) return(TRUE)
  if (isTRUE(list(...)$warn)) warn_of_forking()
  FALSE
}

# "" outside of RStudio.
rstudio_place <- function() {
  if (Sys.getenv("RSTUDIO") != "1") return("")
  if (nzchar(Sys.getenv("RSTUDIO_TERM"))) "rstudio_terminal" else "rstudio_console"
}

warn_of_forking <- function() {
  if (isTRUE(the$has_warned_of_forking) || !identical(setting("supportsMulticore.unstable", "warn"), "warn")) return(invisible())
  the$has_warned_of_forking <- TRUE
  warning(
    "Forked processing ('multicore') is disabled, because it is not safe in RStudio. ",
    "?nodelay::supportsMulticore tells how to enable it, or to silence this warning, which comes once in a session.",
    call. = FALSE
  )
}
