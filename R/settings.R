# Settings come from R options named parallelly.<name>, with future.<name> as their twin,
# and at load time from environment variables named after these.

setting <- function(name, default) {
  value <- getOption(paste0("parallelly.", name))
  if (is.null(value)) value <- getOption(paste0("future.", name))
  if (is.null(value)) default else value
}

# What each setting that an environment variable may give holds: a storage mode, followed by
# "NA" where the value may be missing, or by "," for words between commas.
environment_settings <- c(
  availableCores.fallback = "integer NA",
  availableCores.fraction = "numeric",
  availableCores.logical = "logical",
  availableCores.max = "numeric",
  availableCores.methods = "character ,",
  availableCores.methods.excludes = "character ,",
  availableCores.min = "integer",
  availableCores.omit = "integer",
  availableCores.system = "integer NA",
  availableWorkers.methods = "character ,",
  availableWorkers.methods.excludes = "character ,",
  debug = "logical",
  fork.enable = "logical NA",
  localhost.hostname = "character",
  makeNodePSOCK.calls = "logical",
  makeNodePSOCK.connectTimeout = "numeric",
  makeNodePSOCK.port.increment = "logical",
  makeNodePSOCK.rscript_call = "character",
  makeNodePSOCK.rscript_label = "character",
  makeNodePSOCK.rshcmd = "character ,",
  makeNodePSOCK.rshopts = "character ,",
  makeNodePSOCK.sessionInfo.pkgs = "logical",
  makeNodePSOCK.setup_strategy = "character",
  makeNodePSOCK.socketOptions = "character",
  makeNodePSOCK.timeout = "numeric",
  makeNodePSOCK.tries = "integer",
  makeNodePSOCK.tries.delay = "numeric",
  makeNodePSOCK.useXDR = "logical",
  makeNodePSOCK.validate = "logical",
  maxWorkers.localhost = "numeric ,",
  maxWorkers.localhost.ignore = "character ,",
  supportsMulticore.disableOn = "character ,",
  supportsMulticore.unstable = "character"
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
    mode <- strsplit(environment_settings[[name]], " ", fixed = TRUE)[[1L]]
    words <- if ("," %in% mode) split_words(values[[1L]], ",") else values[[1L]]
    value <- suppressWarnings(as.vector(words, mode[1L]))
    if (anyNA(value) && !"NA" %in% mode) {
      stop_argument(
        "Environment variable ", names(values)[1L], " = '", values[[1L]], "' is no ", mode[1L],
        " value: set another one, or unset it."
      )
    }
    options(structure(list(value), names = paste0("parallelly.", name)))
  }
}

# The words of each of `text` between characters of the class `separators`, without blanks.
split_words <- function(text, separators) {
  words <- trimws(unlist(strsplit(text, paste0("[", separators, "]"))))
  words[nzchar(words)]
}
