# SPDX-License-Identifier: MIT
# Where the worker's R option socketOptions comes from, and other settings with it.

seen_on_worker <- function(..., engine = "native") {
  cl <- makeClusterPSOCK(1, ..., engine = engine, validate = FALSE)
  on.exit(stopCluster(cl))
  clusterCall(cl, getOption, "socketOptions")[[1L]]
}

# In a main process of its own, since environment variables are read when nodelay is loaded.
seen_by_script <- function(env, lines = character()) {
  run_script(c(lines, "cl <- makeClusterPSOCK(1, validate = FALSE)", "dput(clusterCall(cl, getOption, 'socketOptions')[[1]])", "stopCluster(cl)"), env)
}

test_that("socketOptions is no-delay unless something else is asked for", {
  withr::local_options(parallelly.makeNodePSOCK.socketOptions = NULL, future.makeNodePSOCK.socketOptions = NULL)
  for (engine in c("native", "base")) expect_identical(seen_on_worker(engine = engine), "no-delay")
})

test_that("the argument goes before the option, and the option before its twin of future", {
  withr::local_options(parallelly.makeNodePSOCK.socketOptions = NULL, future.makeNodePSOCK.socketOptions = "of future")
  expect_identical(seen_on_worker(), "of future")
  options(parallelly.makeNodePSOCK.socketOptions = "of parallelly")
  expect_identical(seen_on_worker(), "of parallelly")
  expect_identical(seen_on_worker(socketOptions = "of argument"), "of argument")
  node <- makeNodePSOCK()
  cl <- structure(list(node), class = c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster"))
  expect_identical(clusterCall(cl, getOption, "socketOptions"), list("of parallelly"))
  stopCluster(cl)
})

test_that("NULL and the string NULL leave the worker's option alone", {
  withr::local_options(parallelly.makeNodePSOCK.socketOptions = "no-delay")
  for (engine in c("native", "base")) {
    expect_identical(seen_on_worker(socketOptions = NULL, engine = engine), NULL)
    expect_identical(seen_on_worker(socketOptions = "NULL", engine = engine), NULL)
  }
  options(parallelly.makeNodePSOCK.socketOptions = "NULL")
  expect_identical(seen_on_worker(), NULL)
  profile <- withr::local_tempfile(lines = "options(socketOptions = 'of the profile')")
  expect_identical(seen_on_worker(rscript_envs = c(R_PROFILE_USER = profile)), "of the profile")
})

test_that("any string arrives unharmed", {
  for (engine in c("native", "base")) {
    for (text in c("a\"b\\c", "it's $HOME `id` %PATH%", "a b\nc\td", "caf\u00e9 \u4e2d", "'\"\\'\\", "no-delay,foo", "NA")) {
      expect_identical(seen_on_worker(socketOptions = text, engine = engine), text, label = paste(engine, text))
    }
  }
})

test_that("start-up code may override socketOptions", {
  expect_identical(seen_on_worker(rscript_startup = quote(options(socketOptions = "late"))), "late")
})

test_that("values of socketOptions that are no single string are errors", {
  for (value in list(NA, 1, TRUE, NA_character_, "", character(), c("no-delay", "x"), list("no-delay"), quote(x), factor("no-delay"))) {
    for (engine in c("native", "base")) expect_argument_error(makeClusterPSOCK(1, socketOptions = value, engine = engine), "socketOptions")
    expect_argument_error(makeNodePSOCK(socketOptions = value), "socketOptions")
  }
  withr::local_options(parallelly.makeNodePSOCK.socketOptions = "")
  expect_argument_error(makeClusterPSOCK(1), "socketOptions")
})

test_that("environment variables in each spelling set socketOptions", {
  for (name in c(
    "R_PARALLELLY_MAKENODEPSOCK_SOCKETOPTIONS", "R_PARALLELLY_MAKENODEPSOCK.SOCKETOPTIONS",
    "R_FUTURE_MAKENODEPSOCK_SOCKETOPTIONS", "R_FUTURE_MAKENODEPSOCK.SOCKETOPTIONS"
  )) {
    expect_identical(seen_by_script(paste0(name, "=set")), "\"set\"", label = name)
  }
})

test_that("environment variables give way to options, and R_FUTURE_ to R_PARALLELLY_", {
  first <- "R_PARALLELLY_MAKENODEPSOCK_SOCKETOPTIONS"
  expect_identical(seen_by_script(c(paste0(first, "=first"), "R_FUTURE_MAKENODEPSOCK_SOCKETOPTIONS=second")), "\"first\"")
  expect_identical(seen_by_script(c(paste0(first, "="), "R_FUTURE_MAKENODEPSOCK_SOCKETOPTIONS=second")), "\"second\"")
  profile <- withr::local_tempfile(lines = "options(future.makeNodePSOCK.socketOptions = 'of the option')")
  expect_identical(seen_by_script(c(paste0(first, "=first"), paste0("R_PROFILE_USER=", profile))), "\"of the option\"")
  late <- sprintf("Sys.setenv(%s = 'too late')", first)
  expect_identical(seen_by_script(character(), late), "\"no-delay\"")
})

test_that("values of the environment variable mean what they mean in parallelly", {
  set <- function(value) seen_by_script(paste0("R_PARALLELLY_MAKENODEPSOCK_SOCKETOPTIONS=", value))
  expect_identical(set("NULL"), "NULL")
  expect_identical(set("  no-delay  "), "\"no-delay\"")
  expect_identical(set("NA"), "\"NA\"")
  expect_identical(set("a,b"), "\"a,b\"")
})

test_that("the other settings are read from the environment too", {
  told <- run_script(
    "str(lapply(c('connectTimeout', 'timeout', 'useXDR', 'validate'), function(name) getOption(paste0('parallelly.makeNodePSOCK.', name))))",
    env = paste0("R_PARALLELLY_MAKENODEPSOCK_", c("CONNECTTIMEOUT=7.5", "TIMEOUT=60", "USEXDR=TRUE", "VALIDATE=FALSE"))
  )
  expect_identical(told[-1L], c(" $ : num 7.5", " $ : num 60", " $ : logi TRUE", " $ : logi FALSE"))
})

test_that("every setting that parallelly takes from an environment variable is taken, as what it is", {
  expected <- list(
    availableCores.fallback = 3L, availableCores.fraction = 0.5, availableCores.logical = FALSE, availableCores.max = 7.5,
    availableCores.methods = c("system", "nproc"), availableCores.methods.excludes = c("nproc", "SGE"), availableCores.min = 1L,
    availableCores.omit = 2L, availableCores.system = 8L, availableWorkers.methods = c("LSF", "system"),
    availableWorkers.methods.excludes = "LSF", debug = FALSE, fork.enable = FALSE, localhost.hostname = "me", makeNodePSOCK.calls = TRUE,
    makeNodePSOCK.connectTimeout = 7.5, makeNodePSOCK.port.increment = FALSE, makeNodePSOCK.rscript_call = "my_loop()",
    makeNodePSOCK.rscript_label = "mine", makeNodePSOCK.rshcmd = c("ssh", "-4"), makeNodePSOCK.rshopts = c("-a", "-b"),
    makeNodePSOCK.sessionInfo.pkgs = TRUE, makeNodePSOCK.setup_strategy = "sequential", makeNodePSOCK.socketOptions = "NULL",
    makeNodePSOCK.timeout = 60, makeNodePSOCK.tries = 2L, makeNodePSOCK.tries.delay = 0.5, makeNodePSOCK.useXDR = TRUE,
    makeNodePSOCK.validate = FALSE, maxWorkers.localhost = c(1.5, 4), maxWorkers.localhost.ignore = c("mc.cores", "nproc"),
    supportsMulticore.disableOn = c("rstudio_console", "rstudio_terminal"), supportsMulticore.unstable = "quiet"
  )
  expect_setequal(names(nodelay:::environment_settings), names(expected))
  texts <- vapply(expected, paste, "", collapse = " , ")
  names(texts) <- paste0("R_PARALLELLY_", toupper(gsub(".", "_", names(expected), fixed = TRUE)))
  seen <- withr::local_tempfile()
  run_script(sprintf("saveRDS(options(), '%s')", seen), env = paste0(names(texts), "=", texts))
  found <- readRDS(seen)[paste0("parallelly.", names(expected))]
  expect_identical(structure(found, names = names(expected)), expected)
})

test_that("an environment variable that makes no sense is an error that names it", {
  told <- run_script(character(), env = "R_PARALLELLY_MAKENODEPSOCK_TIMEOUT=abc")
  expect_match(paste(told, collapse = "\n"), "R_PARALLELLY_MAKENODEPSOCK_TIMEOUT = 'abc' is no numeric", fixed = TRUE)
})

test_that("both ends of a TCP connection are told not to delay, if and only if no-delay is asked for", {
  skip_if(!nzchar(Sys.which("strace")), "strace is not installed")
  skip_if(system2("strace", c("-f", "-o", "/dev/null", "true"), stderr = NULL) != 0L, "strace may not trace here")
  processes_without_delay <- function(arguments) {
    trace <- withr::local_tempfile()
    script <- withr::local_tempfile(fileext = ".R", lines = c(
      "library(nodelay)", sprintf("cl <- makeClusterPSOCK(2, validate = FALSE, %s)", arguments), "parallel::stopCluster(cl)"
    ))
    system2("strace", c("-f", "-qq", "-e", "trace=setsockopt", "-o", trace, rscript_path(), script), stdout = NULL, stderr = NULL)
    length(unique(sub(" .*", "", grep("TCP_NODELAY, \\[1\\]", lines_of(trace), value = TRUE))))
  }
  for (way in c("engine = 'base'", "transport = 'tcp'")) {
    expect_identical(processes_without_delay(paste0(way, ", socketOptions = 'no-delay'")), 3L, label = way)
    expect_identical(processes_without_delay(paste0(way, ", socketOptions = 'other'")), 0L, label = way)
  }
})
