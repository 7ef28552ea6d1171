# SPDX-License-Identifier: MIT
# Which of parallelly's test files run, which parts of them are left out, and why. Read by run.

# Files that test what users can call.
selected <- c(
  "makeClusterPSOCK", "makeNodePSOCK", "as.cluster", "autoStopCluster", "cloneNode", "killNode",
  "isNodeAlive", "isLocalhostNode", "isForkedNode", "isForkedChild", "isConnectionValid",
  "all.equal.connection", "availableConnections", "serializedSize", "freePort", "availableCores",
  "availableWorkers", "cpuLoad", "freeCores", "supportsMulticore", "makeClusterSequential",
  "makeClusterMPI", "registerClusterTypes"
)

# Files that call internal functions of parallelly from end to end.
left_out <- c(
  cgroups = "tests internal readers of cgroups in a mocked file system",
  cli = "tests the internal command-line interface",
  "options-and-envvars" = "tests internal getOption2() and getEnvVar2()",
  r_bug18119 = "tests internal tables of R versions",
  startup = "calls .onLoad() by hand",
  stealth_sample = "tests an internal function",
  utils = "tests internal functions",
  "utils,cluster" = "tests internal functions, with constants injected into their environment",
  "utils,conditions" = "tests internal functions",
  "utils,pid" = "tests internal pid_exists()"
)

# Parts of the selected files that test internal functions: from the line that contains
# `from` up to the one that contains `until`.
cuts <- list(
  makeClusterPSOCK = list(
    c(from = "is_fqdn <- parallelly:::is_fqdn", until = "useXDR <- "),
    c(from = "internal utility functions", until = "message(\"- makeClusterPSOCK()\")")
  ),
  freePort = list(
    c(from = "*** initialize_internet() ...", until = "*** freePort() ...")
  ),
  availableCores = list(
    c(from = "*** Internal detectCores() ...", until = "*** Slurm multi-node scenarios ..."),
    c(from = "*** checkNumberOfLocalWorkers() ...", until = "*** logical parameter ..."),
    c(from = "*** nproc method ...", until = "*** /proc/self/status method ...")
  ),
  availableWorkers = list(
    c(from = "sge_expand_node_count_pairs <- parallelly", until = "workers0 <- "),
    c(from = "message(\"*** read_pbs_nodefile() ...\")", until = "*** Slurm odds'n'ends ..."),
    c(from = "w <- parallelly:::availableWorkersSlurm()", until = "*** Slurm odds'n'ends ... DONE")
  ),
  supportsMulticore = list(
    c(from = "## Test supportsMulticoreAndRStudio()", until = "*** supportsMulticore() ... DONE")
  )
)

# Why a file would do nothing here; NULL where it would not.
skip_reason <- function(name) {
  has_mpi <- nzchar(system.file(package = "Rmpi"))
  switch(name,
    makeClusterSequential = if (getRversion() < "4.4") "needs R 4.4",
    registerClusterTypes = if (getRversion() < "4.5") "needs parallel::registerClusterType() of R 4.5",
    makeClusterMPI = if (!has_mpi) "needs package Rmpi"
  )
}
