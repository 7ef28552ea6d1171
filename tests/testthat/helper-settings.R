# Evaluates `code` with these environment variables and options, and without those that could
# tell of a job or a check that the tests themselves run in.
with_settings <- function(code, variables = character(), options = list()) {
  outer <- c(
    "_R_CHECK_LIMIT_CORES_", "_R_CHECK_PACKAGE_NAME_", "R_BUILD_TEMPLIB", "BBS_HOME",
    "IS_BIOC_BUILD_MACHINE", "BIOCPARALLEL_WORKER_NUMBER", "NSLOTS", "PE_HOSTFILE", "NCPUS",
    grep("^(LSB|PJM|PBS|SLURM)_", names(Sys.getenv()), value = TRUE)
  )
  names <- unique(c(outer, names(variables)))
  before <- Sys.getenv(names, NA, names = TRUE)
  old_options <- options(c(list(mc.cores = NULL), options))
  on.exit({
    base::options(old_options)
    Sys.unsetenv(names)
    set <- before[!is.na(before)]
    if (length(set) > 0L) do.call(Sys.setenv, as.list(set))
  })
  Sys.unsetenv(names)
  if (length(variables) > 0L) do.call(Sys.setenv, as.list(variables))
  code
}

# Evaluates code in a new R session that loads nodelay with these environment variables; returns
# what it writes.
in_new_session <- function(code, variables = character(), arguments = character()) {
  variables <- c(variables, R_LIBS = paste(.libPaths(), collapse = ":"))
  system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", "-e", shQuote(code), arguments),
    stdout = TRUE, stderr = TRUE, env = paste0(names(variables), "=", shQuote(variables))
  )
}
