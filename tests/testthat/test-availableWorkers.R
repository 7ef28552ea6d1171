workers <- function(..., variables = character(), options = list(parallelly.availableCores.system = 8L)) {
  with_settings(availableWorkers(...), variables, options)
}

here <- function(count) rep("localhost", count)

file_of <- function(...) {
  path <- tempfile()
  writeLines(c(...), path)
  path
}

test_that("without a job there is a worker for each core of this machine", {
  result <- with_settings(availableWorkers())
  expect_identical(result, here(length(result)))
  expect_identical(workers(methods = "system"), here(8))
})

test_that("a job's hosts come first, and are not limited by this machine", {
  variables <- c(LSB_HOSTS = "b a a")
  expect_identical(workers(variables = variables), c("b", "a", "a"))
  expect_identical(workers(methods = c("LSF", "system"), which = "all", variables = variables), list(LSF = c("b", "a", "a"), system = here(8)))
})

test_that("a job that names no hosts runs on this machine", {
  expect_identical(workers(methods = c("PBS", "system"), variables = c(NCPUS = "3")), here(3))
})

test_that("the hosts of a Slurm job are found by either name of the list", {
  slurm <- function(...) workers(methods = "Slurm", variables = c(...))
  expected <- c("n08", "n08", "n09", "n10", "n11")
  expect_identical(slurm(SLURM_JOB_NODELIST = "n[08-11]", SLURM_JOB_CPUS_PER_NODE = "2,1(x3)"), expected)
  expect_identical(slurm(SLURM_NODELIST = "n[08-11]", SLURM_JOB_CPUS_PER_NODE = "2,1(x3)"), expected)
})

test_that("SLURM_CPUS_PER_TASK never makes for more workers than a node has CPUs", {
  variables <- c(SLURM_JOB_NODELIST = "n[1-4]", SLURM_JOB_CPUS_PER_NODE = "2(x2),3,2", SLURM_CPUS_PER_TASK = "5")
  expect_identical(workers(methods = "Slurm", variables = variables), c("n1", "n1", "n2", "n2", "n3", "n3", "n3", "n4", "n4"))
})

test_that("a PBS node file needs no other variable, and contradictions are told", {
  variables <- c(PBS_NODEFILE = file_of("n2", "n1", "n1"))
  expect_silent(expect_identical(workers(methods = "PBS", variables = variables), c("n1", "n1", "n2")))
  expect_warning(workers(methods = "PBS", variables = c(variables, PBS_NP = "4")), "PBS_NP is 4")
})

test_that("a file that is not there is told of, and the cores of this machine count", {
  expect_warning(
    expect_identical(workers(methods = "SGE", variables = c(PE_HOSTFILE = "/none", NSLOTS = "2")), here(2)),
    "no file '/none'"
  )
})

test_that("max and its option limit each answer of this machine, and keep the names", {
  both <- function(...) workers(methods = c("system", "PBS"), which = "all", variables = c(NCPUS = "2"), ...)
  expected <- list(system = here(3), PBS = here(2))
  expect_identical(both(max = 3), expected)
  expect_identical(both(options = list(parallelly.availableCores.system = 8L, parallelly.availableCores.max = 3)), expected)
  expect_identical(both(omit = 1), list(system = here(7), PBS = here(1)))
})

test_that("a wish for more workers than the machine has cores is lowered to these", {
  wish <- function(cores, ...) workers(methods = c("mc.cores", "system"), options = list(mc.cores = cores, parallelly.availableCores.system = 4L), ...)
  expect_identical(wish(7), here(4))
  expect_identical(wish(3), here(3))
})

test_that("the fallback takes the place of a machine that nothing restricts", {
  fallback <- function(value) workers(methods = c("system", "fallback"), options = list(parallelly.availableCores.system = 4L, parallelly.availableCores.fallback = value))
  expect_identical(fallback(1L), here(1))
  expect_identical(fallback(6L), here(6))
})

test_that("the shortest and the longest are taken of the answers that there are", {
  by <- function(which) workers(methods = c("LSF", "mc.cores", "system"), which = which, options = list(mc.cores = 2L, parallelly.availableCores.system = 4L))
  expect_identical(by("min"), here(2))
  expect_identical(by("max"), here(4))
})

test_that("without any answer it is the default", {
  expect_identical(workers(methods = "LSF"), "localhost")
  expect_identical(workers(methods = "LSF", default = c("a", "b")), c("a", "b"))
  expect_identical(workers(methods = "LSF", options = list(parallelly.localhost.hostname = "me")), "me")
})

test_that("any other method gives host names", {
  expect_identical(workers(methods = "MY_HOSTS", variables = c(MY_HOSTS = "a b, c")), c("a", "b", "c"))
  expect_identical(workers(methods = "MY_HOSTS", options = list(MY_HOSTS = c("a b", "c"))), c("a", "b", "c"))
})

test_that("a number of workers below one is no name of a host", {
  for (bad in c("0", "00", "-1", " 0 ")) {
    expect_argument_error(workers(methods = "MY_HOSTS", variables = c(MY_HOSTS = bad)), "'MY_HOSTS' of availableWorkers\\(\\) must give names")
  }
  expect_argument_error(workers(methods = "MY_HOSTS", options = list(MY_HOSTS = 0L)), "names of hosts")
  expect_identical(workers(methods = "MY_HOSTS", variables = c(MY_HOSTS = "n0")), "n0")
})

test_that("methods are excluded by a vector, or by words between commas", {
  for (excludes in list(c("LSF", "mc.cores"), "LSF, mc.cores", "LSF,mc.cores")) {
    options <- list(parallelly.availableCores.system = 8L, mc.cores = 2L, parallelly.availableWorkers.methods.excludes = excludes)
    found <- workers(methods = c("LSF", "mc.cores", "system"), which = "all", variables = c(LSB_HOSTS = "a b"), options = options)
    expect_identical(found, list(system = here(8)))
  }
})

test_that("workers on this machine have the name that an option gives it", {
  options <- list(parallelly.availableCores.system = 2L, parallelly.localhost.hostname = "me")
  for (which in c("auto", "min", "max")) expect_identical(workers(methods = "system", which = which, options = options), c("me", "me"))
})

test_that("a custom function may call availableWorkers()", {
  custom <- function(fun) workers(methods = c("LSF", "custom"), variables = c(LSB_HOSTS = ""), options = list(parallelly.availableWorkers.custom = fun))
  expect_identical(custom(function() c("n1", NA, "n2")), c("n1", "n2"))
  expect_identical(custom(function() rep(availableWorkers(methods = c("custom", "LSF")), 2)), here(2))
  expect_identical(custom(function() NULL), "localhost")
})

test_that("arguments that make no sense are refused", {
  expect_error(availableWorkers(default = NA_character_), class = "nodelay_error_argument")
  expect_error(availableWorkers(default = 3), class = "nodelay_error_argument")
  expect_error(availableWorkers(which = "some"), class = "nodelay_error_argument")
  expect_error(availableWorkers(methods = NA), class = "nodelay_error_argument")
})
