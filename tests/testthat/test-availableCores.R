system_8 <- list(parallelly.availableCores.system = 8L)

cores <- function(..., variables = character(), options = system_8) {
  with_settings(availableCores(...), variables, options)
}

test_that("the least answer is returned, with the name of its method", {
  result <- with_settings(availableCores())
  expect_type(result, "integer")
  expect_length(result, 1L)
  expect_gte(result, 1L)
  expect_true(names(result) %in% core_methods)
  expect_identical(cores(methods = c("system", "PBS"), variables = c(NCPUS = "3")), c(PBS = 3L))
  expect_identical(cores(methods = c("system", "PBS"), which = "max", variables = c(NCPUS = "3")), c(system = 8L))
})

test_that("a changed option or environment variable counts at the next call", {
  with_settings({
    availableCores()
    options(parallelly.availableCores.system = 5L)
    expect_identical(availableCores(methods = "system"), c(system = 5L))
    options(parallelly.availableCores.system = 6L)
    expect_identical(availableCores(methods = "system"), c(system = 6L))
    for (n in 2:4) {
      Sys.setenv(LSB_DJOB_NUMPROC = n, NSLOTS = n, NCPUS = n)
      expect_identical(
        availableCores(methods = c("LSF", "SGE", "PBS"), which = "all"),
        c(LSF = n, SGE = n, PBS = n)
      )
    }
  }, variables = c(LSB_DJOB_NUMPROC = "", NSLOTS = "", NCPUS = ""), options = system_8)
})

test_that("options named future.* are read where those named parallelly.* are not set", {
  options <- list(parallelly.availableCores.system = NULL, future.availableCores.system = 7L)
  expect_identical(cores(methods = "system", options = options), c(system = 7L))
})

test_that("a method without an answer is NA, whatever the one before it gave", {
  result <- cores(methods = c("system", "Slurm", "mc.cores"), na.rm = FALSE, which = "all")
  expect_identical(result, c(system = 8L, Slurm = NA, mc.cores = NA))
  expect_identical(cores(methods = c("system", "Slurm"), na.rm = FALSE), c(system = 8L))
  expect_identical(cores(methods = "Slurm", na.rm = FALSE), c(Slurm = NA_integer_))
  expect_identical(cores(methods = "Slurm"), c(current = 1L))
  expect_identical(cores(methods = character(), default = c(mine = 3)), c(mine = 3L))
})

test_that("max, fraction and omit keep all values and all names", {
  both <- function(...) cores(methods = c("system", "PBS"), which = "all", variables = c(NCPUS = "2"), ...)
  expect_identical(both(max = 3), c(system = 3L, PBS = 2L))
  expect_identical(both(fraction = 0.7), c(system = 5L, PBS = 1L))
  expect_identical(both(omit = 3), c(system = 5L, PBS = 1L))
  expect_identical(both(fraction = 0.7, omit = 1, max = 3), c(system = 3L, PBS = 1L))
})

test_that("variables of OpenMP do not limit the machine, and a system said to be smaller than it is brings no warning", {
  of_machine <- function(...) with_settings(availableCores(methods = "nproc"), variables = c(...))
  expect_identical(of_machine(OMP_NUM_THREADS = "1", OMP_THREAD_LIMIT = "1"), of_machine(OMP_NUM_THREADS = "", OMP_THREAD_LIMIT = ""))
  expect_silent(found <- cores(which = "all", options = list(parallelly.availableCores.system = 1L)))
  expect_identical(found[["system"]], 1L)
})

test_that("the limits are taken from options", {
  limited <- function(...) cores(methods = "system", options = c(system_8, list(...)))
  expect_identical(limited(parallelly.availableCores.max = 3), c(system = 3L))
  expect_identical(limited(parallelly.availableCores.omit = 3L), c(system = 5L))
  expect_identical(limited(parallelly.availableCores.fraction = 0.5), c(system = 4L))
  expect_identical(limited(parallelly.availableCores.methods.excludes = "system"), c(current = 1L))
})

test_that("methods are excluded by a vector, or by words between commas", {
  for (excludes in list(c("system", "mc.cores"), "system, mc.cores", "system,mc.cores,", c("system", " mc.cores ,"))) {
    options <- c(system_8, list(mc.cores = 2L, parallelly.availableCores.methods.excludes = excludes))
    expect_identical(cores(methods = c("system", "mc.cores", "PBS"), which = "all", variables = c(NCPUS = "3"), options = options), c(PBS = 3L))
  }
})

test_that("in a Slurm job of several nodes the tasks on this one count", {
  slurm <- function(...) cores(methods = "Slurm", variables = c(SLURM_CPUS_ON_NODE = "16", ...))
  expect_identical(slurm(SLURM_JOB_NUM_NODES = "2", SLURM_TASKS_PER_NODE = "5,2"), c(Slurm = 5L))
  expect_identical(slurm(SLURM_NNODES = "5", SLURM_TASKS_PER_NODE = "2(x2),1(x3)", SLURM_NODEID = "3"), c(Slurm = 1L))
  expect_identical(slurm(SLURM_JOB_NUM_NODES = "1", SLURM_TASKS_PER_NODE = "5"), c(Slurm = 16L))
})

test_that("option availableCores.min raises a value and marks its name", {
  options <- c(system_8, parallelly.availableCores.min = 4L)
  result <- cores(methods = c("system", "PBS"), which = "all", variables = c(NCPUS = "2"), options = options)
  expect_identical(result, c(system = 8L, "PBS*" = 4L))
  options$parallelly.availableCores.min <- 9L
  expect_error(cores(methods = "system", options = options), "9 > 8", class = "nodelay_error_argument")
})

test_that("the fallback takes the place of a machine that nothing restricts", {
  fallback <- function(methods, ..., value = 3L, variables = character()) {
    cores(methods = methods, variables = variables, options = c(system_8, list(parallelly.availableCores.fallback = value, ...)))
  }
  expect_identical(fallback(c("system", "fallback")), c(fallback = 3L))
  expect_identical(fallback(c("system", "fallback"), value = 12L), c(fallback = 12L))
  expect_identical(fallback(c("system", "fallback"), value = NA), c(system = 8L))
  expect_identical(fallback(c("system", "PBS", "fallback"), variables = c(NCPUS = "6")), c(PBS = 6L))
  expect_identical(fallback(c("system", "mc.cores", "fallback"), mc.cores = 6L), c(mc.cores = 6L))
  restricted <- c(system = 8L, nproc = 2L, fallback = 1L)
  expect_identical(settle_fallback(restricted), restricted[1:2])
  expect_identical(settle_fallback(c(system = 2L, nproc = 2L, fallback = 1L)), c(fallback = 1L))
})

test_that("a limit of connections leaves the fallback in place", {
  expect_identical(choose_cores(c(system = 300L, fallback = 3L, connections = 125L), "min"), c(fallback = 3L))
  expect_identical(choose_cores(c(system = 300L, fallback = 200L, connections = 125L), "min"), c(connections = 125L))
})

test_that("the connections that R can still open limit the cores", {
  free <- 128L - nrow(showConnections(all = TRUE))
  options <- list(parallelly.availableCores.system = 500L)
  expect_identical(cores(constraints = "connections-16", methods = "system", options = options), c("connections-16" = free - 16L))
  expect_identical(cores(methods = "connections-1000", options = options), c("connections-1000" = 1L))
  options$parallelly.availableConnections <- 1000L
  expect_identical(cores(methods = "connections", options = options), c(connections = free + 872L))
  options$parallelly.availableConnections <- Inf
  expect_identical(cores(methods = c("system", "connections"), options = options), c(system = 500L))
})

test_that("where forking is disabled the constraint multicore leaves one core", {
  options <- c(system_8, parallelly.fork.enable = FALSE)
  expect_identical(cores("multicore", "system", options = options), c(system = 1L))
  options$parallelly.fork.enable <- TRUE
  expect_identical(cores("multicore", "system", options = options), c(system = 8L))
})

test_that("option mc.cores counts, and 0 of it is one core", {
  expect_identical(cores(methods = "mc.cores", options = list(mc.cores = 3L)), c(mc.cores = 3L))
  expect_identical(cores(methods = "mc.cores", options = list(mc.cores = 0L)), c(mc.cores = 1L))
  expect_identical(cores(methods = "mc.cores+1", options = list(mc.cores = 3L)), c("mc.cores+1" = 4L))
})

test_that("a custom function may call availableCores()", {
  options <- c(system_8, parallelly.availableCores.custom = function() 0.5 * availableCores(methods = c("system", "custom")))
  expect_identical(cores(methods = c("system", "custom"), options = options), c(custom = 4L))
  options$parallelly.availableCores.custom <- function() stop("no idea")
  expect_error(cores(options = options), "no idea")
  options$parallelly.availableCores.custom <- function() 1:2
  expect_error(cores(options = options), "single number", class = "nodelay_error_argument")
  options$parallelly.availableCores.custom <- function() NA
  expect_identical(cores(methods = c("system", "custom"), options = options), c(system = 8L))
})

test_that("any other method is an option or else an environment variable", {
  expect_identical(cores(methods = "MY_CORES", variables = c(MY_CORES = "5")), c(MY_CORES = 5L))
  options <- list(MY_CORES = 4.9)
  expect_identical(cores(methods = "MY_CORES", variables = c(MY_CORES = "5"), options = options), c(MY_CORES = 4L))
  expect_warning(expect_identical(cores(methods = "MY_CORES", variables = c(MY_CORES = "x")), c(current = 1L)), "MY_CORES")
})

test_that("a scheduler's variable that is no number is passed over with a warning", {
  expect_warning(
    expect_identical(cores(methods = c("system", "SGE"), variables = c(NSLOTS = "abc")), c(system = 8L)),
    "NSLOTS = 'abc'"
  )
})

test_that("while packages are checked there are two cores", {
  check <- function(...) cores(methods = c("system", "_R_CHECK_LIMIT_CORES_"), variables = c(...))
  two <- c("_R_CHECK_LIMIT_CORES_" = 2L)
  expect_identical(check("_R_CHECK_LIMIT_CORES_" = "warn"), two)
  expect_identical(check("_R_CHECK_LIMIT_CORES_" = "false"), c(system = 8L))
  expect_identical(check("_R_CHECK_PACKAGE_NAME_" = "toy"), two)
  expect_identical(check(R_BUILD_TEMPLIB = tempdir()), two)
})

test_that("arguments and values that make no sense are refused", {
  refuses <- function(...) expect_error(cores(...), class = "nodelay_error_argument")
  refuses(omit = -1)
  refuses(omit = NA)
  refuses(max = 0)
  refuses(fraction = 0)
  refuses(fraction = 1.1)
  refuses(which = "some")
  refuses(methods = NA_character_)
  refuses(methods = 1)
  refuses(constraints = 1)
  refuses(na.rm = NA)
  refuses(omit = Inf)
  for (methods in c("none", "system")) for (default in list(0, Inf, NA, -1, 1:2, "one", 1e10)) refuses(methods = methods, default = default)
  expect_error(cores(methods = "SGE", variables = c(NSLOTS = "0")), "'SGE' = 0", class = "nodelay_error_argument")
})

test_that("environment variables become options when the package is loaded", {
  variables <- c(
    R_PARALLELLY_AVAILABLECORES_SYSTEM = "192", R_FUTURE_AVAILABLECORES_METHODS = " system , fallback,",
    R_PARALLELLY_AVAILABLECORES_FALLBACK = "NA", R_PARALLELLY_AVAILABLECORES_MAX = "Inf"
  )
  code <- "for (name in c('methods', 'fallback', 'max')) cat(getOption(paste0('parallelly.availableCores.', name)), '')"
  expect_identical(in_new_session(paste("loadNamespace('nodelay');", code), variables)[2], "system fallback NA Inf ")
  expect_identical(trimws(in_new_session("nodelay::availableCores()", variables)), c("system", "192"))
  failed <- suppressWarnings(in_new_session("nodelay::cpuLoad()", c(R_PARALLELLY_AVAILABLECORES_OMIT = "some")))
  expect_match(paste(failed, collapse = "\n"), "R_PARALLELLY_AVAILABLECORES_OMIT = 'some'")
})
