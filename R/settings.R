# Settings come from R options named parallelly.<name>, with future.<name> as their twin,
# and at load time from environment variables named after these.

setting <- function(name, default) {
  value <- getOption(paste0("parallelly.", name))
  if (is.null(value)) value <- getOption(paste0("future.", name))
  if (is.null(value)) default else value
}

# Storage mode of each setting that an environment variable may give.
environment_settings <- c(
  makeNodePSOCK.calls = "logical",
  makeNodePSOCK.connectTimeout = "numeric",
  makeNodePSOCK.socketOptions = "character",
  makeNodePSOCK.port.increment = "logical",
  makeNodePSOCK.rscript_label = "character",
  makeNodePSOCK.setup_strategy = "character",
  makeNodePSOCK.timeout = "numeric",
  makeNodePSOCK.tries = "integer",
  makeNodePSOCK.tries.delay = "numeric",
  makeNodePSOCK.useXDR = "logical",
  makeNodePSOCK.validate = "logical"
)

# R_PARALLELLY_MAKENODEPSOCK_SOCKETOPTIONS and the like; the request that nodelay began
# with spells them with a period, R_PARALLELLY_MAKENODEPSOCK.SOCKETOPTIONS.
environment_names <- function(name) {
  spellings <- toupper(c(gsub(".", "_", name, fixed = TRUE), name))
  c(paste0("R_PARALLELLY_", spellings), paste0("R_FUTURE_", spellings))
}

# Turns environment variables into options where these are not set.
read_environment <- function() {
  for (name in names(environment_settings)) {
    if (!is.null(setting(name, NULL))) next
    values <- trimws(Sys.getenv(environment_names(name)))
    values <- values[nzchar(values)]
    if (length(values) == 0L) next
    mode <- environment_settings[[name]]
    value <- suppressWarnings(as.vector(values[[1L]], mode))
    if (is.na(value)) {
      stop_argument(
        "Environment variable ", names(values)[1L], " = '", values[[1L]], "' is no ", mode,
        " value: set another one, or unset it."
      )
    }
    options(structure(list(value), names = paste0("parallelly.", name)))
  }
}
