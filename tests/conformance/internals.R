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
initialize_internet <- local(function() NULL)
registerClusterTypes <- local(function() invisible()) # nodelay has done so when it was loaded
detectCores <- local(function() unname(availableCores(methods = "system")))
getNproc <- local(function() unname(availableCores(methods = "nproc")))

# The tests empty the cache of this one, too.
if (is.function(availableConnections)) {
  environment(availableConnections) <- new.env(parent = environment(availableConnections))
}

# What nodelay does in their place.
supportsMulticoreAndRStudio <- function(...) supportsMulticore(...)
checkNumberOfLocalWorkers <- function(workers) {
  if (!inherits(workers, "AsIs")) utils::getFromNamespace("check_number_of_local_workers", "nodelay")(workers)
}

# Readers of schedulers' files, for what the tests say of the files themselves.
read_pbs_nodefile <- function(path) {
  nodes <- readLines(path)
  if (any(grepl("[[:blank:]]", nodes))) stop("no name of a host")
  data.frame(node = nodes, stringsAsFactors = FALSE)
}
read_pjm_nodefile <- read_pbs_nodefile
read_pe_hostfile <- function(path, ...) utils::read.table(path, col.names = c("node", "count"), stringsAsFactors = FALSE)
sge_expand_node_count_pairs <- function(data) rep(data$node, data$count)

# What nodelay makes of a list of Slurm's, so that it is compared with what the tests expect.
slurm_expand_nodelist <- function(nodelist, ...) {
  before <- Sys.getenv("SLURM_JOB_NODELIST", NA)
  on.exit(if (is.na(before)) Sys.unsetenv("SLURM_JOB_NODELIST") else Sys.setenv(SLURM_JOB_NODELIST = before))
  Sys.setenv(SLURM_JOB_NODELIST = nodelist)
  suppressWarnings(availableWorkers(methods = "Slurm"))
}
