# SPDX-License-Identifier: MIT
# Which of parallelly's test files run, which parts of them are left out, and why. Read by run.

# Files that test what users can call.
selected <- c(
  "makeClusterPSOCK", "makeNodePSOCK", "as.cluster", "autoStopCluster", "cloneNode", "killNode",
  "isNodeAlive", "isLocalhostNode", "isForkedNode", "isForkedChild", "isConnectionValid",
  "all.equal.connection", "availableConnections", "serializedSize", "freePort", "availableCores",
  "availableWorkers", "cpuLoad", "freeCores", "supportsMulticore", "makeClusterSequential",
  "makeClusterMPI", "registerClusterTypes", "startup"
)

# Files that call internal functions of parallelly from end to end.
left_out <- c(
  cgroups = "tests internal readers of cgroups in a mocked file system",
  cli = "tests the internal command-line interface",
  "options-and-envvars" = "tests internal getOption2() and getEnvVar2()",
  r_bug18119 = "tests internal tables of R versions",
  stealth_sample = "tests an internal function",
  utils = "tests internal functions",
  "utils,cluster" = "tests internal functions, with constants injected into their environment",
  "utils,conditions" = "tests internal functions",
  "utils,pid" = "tests internal pid_exists()"
)

# Parts of the selected files that are left out: from the line that contains `from` up to the one
# that contains `until`, or up to the end where there is none.
cuts <- list(
  makeClusterSequential = list(
    c(
      from = "if (getRversion() < \"4.4.0\")", until = "library(parallelly)",
      why = "skips the test in R before 4.4: nodelay has this function for every R"
    ),
    c(
      from = "## Test accessing an invalid node", until = "the end of the file",
      why = "calls parallel::sendData(), which R exports from 4.4 on, and sets internal state"
    )
  ),
  makeClusterPSOCK = list(
    c(
      from = "is_fqdn <- parallelly:::is_fqdn", until = "useXDR <- ",
      why = "names internal functions"
    ),
    c(
      from = "internal utility functions", until = "message(\"- makeClusterPSOCK()\")",
      why = "tests internal functions"
    ),
    c(
      from = "## More workers than connections available", until = "## Don't test on CRAN",
      why = "wants an error for more workers than R has connections: nodelay's workers take none"
    )
  ),
  isNodeAlive = list(
    c(
      from = "## Test isNodeAlive() for RichSOCKnode with missing PID", until = "## Test isNodeAlive() for RichSOCKnode with timeout",
      why = "edits what session_info says of the process: nodelay asks the process that it started"
    ),
    c(
      from = "## Test isNodeAlive() for RichSOCKnode with invalid PID", until = "message(\"*** isNodeAlive() ... DONE\")",
      why = "edits what session_info and the attribute options say of process and machine: the same"
    )
  ),
  availableCores = list(
    c(
      from = "*** detectCoresHint() ...", until = "*** logical parameter ...",
      why = "tests an internal function"
    )
  ),
  availableWorkers = list(
    c(
      from = "*** Slurm w/ SLURM_TASKS_PER_NODE ...", until = "*** Slurm odds'n'ends ...",
      why = "tests an internal reader of SLURM_TASKS_PER_NODE"
    ),
    c(
      from = "w <- parallelly:::availableWorkersSlurm()", until = "*** Slurm odds'n'ends ... DONE",
      why = "wants SLURM_CPUS_PER_TASK to limit the workers: nodelay starts one for each CPU of the job, as parallelly's development version"
    )
  )
)

# Why a file would do nothing here; NULL where it would not.
skip_reason <- function(name) {
  has_mpi <- nzchar(system.file(package = "Rmpi"))
  switch(name,
    registerClusterTypes = if (getRversion() < "4.5") "needs parallel::registerClusterType() of R 4.5",
    makeClusterMPI = if (!has_mpi) "needs package Rmpi"
  )
}
