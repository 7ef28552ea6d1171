# SPDX-License-Identifier: MIT
# Internal functions of parallelly that its harness and its mostly public tests name. They are
# part of the throw-away package that run builds, and do as little as will do.

hpaste <- function(...) paste(..., collapse = ", ")
mdebug <- function(...) invisible(NULL)
mdebugf <- function(...) invisible(NULL)
stopf <- function(...) stop(sprintf(...), call. = FALSE)
warnf <- function(...) warning(sprintf(...), call. = FALSE)
msgf <- function(...) message(sprintf(...))
isFALSE <- base::isFALSE
inRCmdCheck <- function() FALSE
detectCores <- parallel::detectCores
getOption2 <- function(name, default = NULL) getOption(name, default)
pid_exists <- function(pid, ...) tools::pskill(pid, 0L)

# Called again by tests after they have set an environment variable.
update_package_options <- function(...) utils::getFromNamespace("read_environment", "nodelay")()

# The tests empty the caches of these, which nodelay does not have.
availableCoresLSF <- local(function() NULL)
availableCoresPBS <- local(function() NULL)
availableCoresPJM <- local(function() NULL)
availableCoresSGE <- local(function() NULL)
availableCoresSlurm <- local(function() NULL)

# The tests empty the cache of this one, too.
if (is.function(availableConnections)) {
  environment(availableConnections) <- new.env(parent = environment(availableConnections))
}
