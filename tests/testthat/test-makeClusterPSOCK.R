# SPDX-License-Identifier: MIT

test_that("workers may be a number or names of this machine", {
  for (workers in list(2, 2L, I(2), c("localhost", "127.0.0.1"), rep(Sys.info()[["nodename"]], 2))) {
    cl <- makeClusterPSOCK(workers)
    expect_length(cl, 2L)
    expect_identical(clusterCall(cl, identity, 1), list(1, 1))
    expect_cluster_ends(cl)
  }
})

test_that("a cluster is an unnamed list of the classes that packages look for", {
  cl <- local_cluster(2)
  expect_identical(class(cl), c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster"))
  expect_null(names(cl))
  expect_true(is.list(cl))
  expect_true(methods::is(cl, "cluster"))
})

test_that("the default of every argument is the same as makeNodePSOCK()'s", {
  cl <- local_cluster(1)
  node <- makeNodePSOCK()
  single <- structure(list(node), class = class(cl))
  describe <- task(function() list(search(), .libPaths(), options()[c("socketOptions", "digits")], Sys.getenv("R_LIBS"), commandArgs()))
  expect_identical(clusterCall(single, describe), clusterCall(cl, describe))
  stopCluster(single)
})

test_that("arguments are not evaluated as code", {
  cl <- local_cluster(1, rscript_startup = quote(marker <- Sys.getpid()), rscript_options = list(kept = quote(stop("not run"))))
  expect_false(exists("marker"))
  expect_identical(clusterEvalQ(cl, marker)[[1]], pids_of(cl))
  expect_identical(clusterCall(cl, getOption, "kept")[[1]], quote(stop("not run")))
})

test_that("autoStop marks the cluster, and its workers end with it", {
  cl <- makeClusterPSOCK(1, autoStop = TRUE)
  pids <- pids_of(cl)
  expect_true(is.environment(attr(cl, "gcMe")))
  rm(cl)
  gc()
  expect_true(wait_until(function() !is_running(pids)))
})

test_that("verbose tells what is done, and otherwise nothing is said", {
  told <- capture_messages(cl <- makeClusterPSOCK(1, verbose = TRUE))
  expect_cluster_ends(cl)
  expect_true(all(startsWith(told, "[local output] ")))
  expect_match(told, paste("pid", pids_of(cl)), fixed = TRUE, all = FALSE)
  expect_silent(cl <- makeClusterPSOCK(1))
  expect_cluster_ends(cl)
  withr::local_options(parallelly.debug = TRUE)
  expect_match(capture_messages(cl <- makeClusterPSOCK(1, engine = "base")), "port [0-9]+", all = FALSE)
  expect_cluster_ends(cl)
})

test_that("starting a cluster neither draws nor needs random numbers", {
  set.seed(1)
  before <- .Random.seed
  for (way in ways) expect_cluster_ends(do.call(makeClusterPSOCK, c(list(1), way)))
  expect_identical(.Random.seed, before)
  rm(".Random.seed", envir = globalenv())
  expect_cluster_ends(makeClusterPSOCK(1, engine = "base"))
  expect_false(exists(".Random.seed", globalenv()))
})

test_that("a local native cluster listens on no port and takes no R connection", {
  connections <- rownames(showConnections())
  cl <- local_cluster(I(3))
  expect_identical(setdiff(rownames(showConnections()), connections), character())
  sockets <- function(pid) {
    links <- suppressWarnings(Sys.readlink(list.files(file.path("/proc", pid, "fd"), full.names = TRUE)))
    sub("socket:\\[([0-9]+)\\]", "\\1", grep("^socket:", links, value = TRUE))
  }
  tcp <- utils::read.table("/proc/net/tcp", header = FALSE, skip = 1L, fill = TRUE)[[10L]]
  expect_false(any(unlist(lapply(pids_of(cl), sockets)) %in% tcp))
})

test_that("a dozen workers start at once", {
  cl <- local_cluster(I(12), validate = FALSE, default_packages = character())
  expect_identical(clusterCall(cl, Sys.getpid), as.list(pids_of(cl)))
  expect_identical(anyDuplicated(pids_of(cl)), 0L)
  expect_identical(vapply(cl, `[[`, 0L, "rank"), 1:12)
})

# -- Ports ---------------------------------------------------------------------------------------

port_told <- function(...) {
  told <- capture_messages(expect_cluster_ends(makeClusterPSOCK(1, ..., verbose = TRUE)))
  as.integer(sub(".*port ([0-9]+).*", "\\1", grep("port [0-9]+", told, value = TRUE)))
}

free_port <- function() {
  for (port in sample(20000:30000)) {
    socket <- tryCatch(serverSocket(port), error = function(e) NULL)
    if (!is.null(socket)) {
      close(socket)
      return(port)
    }
  }
}

test_that("a port is one of those asked for", {
  for (way in ways[c("tcp", "base")]) {
    told <- function(...) do.call(port_told, c(list(...), way))
    port <- free_port()
    expect_identical(told(port = port), port)
    expect_true(told(port = c("auto", "random")) %in% 11000:11999)
    expect_true(told(port = "random") %in% 11000:11999)
    withr::with_envvar(c(R_PARALLEL_PORT = port), expect_identical(told(), port))
    withr::with_envvar(c(R_PARALLEL_PORT = "random"), expect_true(told() %in% 11000:11999))
    withr::with_envvar(c(R_PARALLEL_PORT = "abc"), expect_warning(told(), "R_PARALLEL_PORT is no port: 'abc'"))
  }
})

test_that("a port that is taken is passed over, or is an error that names it", {
  taken <- free_port()
  socket <- serverSocket(taken)
  withr::defer(close(socket))
  free <- free_port()
  for (way in ways[c("tcp", "base")]) {
    for (i in 1:4) expect_identical(do.call(port_told, c(list(port = c(taken, free)), way)), free)
    expect_error(do.call(makeClusterPSOCK, c(list(1, port = taken), way)), paste("port", taken), class = "nodelay_error_system")
  }
})

test_that("nobody listens on the port when the workers are there", {
  for (way in ways[c("tcp", "base")]) {
    cl <- do.call(local_cluster, c(list(2, port = free_port()), way))
    listener <- serverSocket(attr(cl[[1]], "port"))
    close(listener)
  }
})

# A process that connects to `port` as soon as somebody listens, again and again, and says
# `greeting` each time.
start_stranger <- function(port, greeting, log, frame = parent.frame()) {
  start_script(c(
    sprintf("held <- list(); greeting <- %s", paste(deparse(greeting), collapse = "")),
    sprintf("while (length(held) < 100) { con <- tryCatch(suppressWarnings(socketConnection('127.0.0.1', %d, open = 'a+b', blocking = FALSE, timeout = 1)), error = function(e) NULL)", port),
    "  if (is.null(con)) { Sys.sleep(0.001); next }",
    "  held <- c(held, list(con)); try(writeBin(greeting, con), silent = TRUE)",
    sprintf("  cat('connected\\n', file = %s, append = TRUE); Sys.sleep(0.01) }; Sys.sleep(60)", deparse(log))
  ), frame = frame)
}

test_that("strangers on the port do not disturb the start", {
  greetings <- list(
    silence = raw(), garbage = as.raw(0:255), letters = charToRaw(strrep("0", 64)),
    "a huge length" = c(as.raw(rep(255, 16))), value = serialize(list(type = "VALUE", value = "forged", success = TRUE), NULL)
  )
  for (way in ways[c("tcp", "base")]) for (greeting in greetings) {
    port <- free_port()
    log <- withr::local_tempfile()
    # The worker waits in its profile, before it connects, until the stranger is there.
    profile <- withr::local_tempfile(lines = sprintf("while (!file.exists('%s')) Sys.sleep(0.01)", log))
    stranger <- start_stranger(port, greeting, log)
    cl <- within_seconds(30, do.call(makeClusterPSOCK, c(list(2, port = port, rscript_envs = c(R_PROFILE_USER = profile)), way)))
    expect_gt(length(lines_of(log)), 0L)
    expect_identical(clusterCall(cl, Sys.getpid), as.list(pids_of(cl)))
    expect_cluster_ends(cl)
    tools::pskill(stranger, tools::SIGKILL)
  }
})

# As many cores as on the smallest of machines.
local_cores <- function(cores, limits = NULL, frame = parent.frame()) {
  withr::local_options(
    parallelly.availableCores.methods = "system", parallelly.availableCores.system = cores,
    parallelly.maxWorkers.localhost = limits, .local_envir = frame
  )
}

test_that("more workers than cores give a warning, more than three times as many an error", {
  local_cores(2L)
  expect_silent(expect_cluster_ends(makeClusterPSOCK(2)))
  expect_warning(
    expect_cluster_ends(makeClusterPSOCK(3)),
    "3 workers on this machine are 150% of the 2 CPU cores .* \\(by 'system'\\), and the soft limit is 100%"
  )
  expect_warning(expect_cluster_ends(makeClusterPSOCK(6)), "soft")
  before <- child_pids()
  expect_argument_error(makeClusterPSOCK(7), "7 workers on this machine are 350% .* hard limit is 300%.* I\\(7\\)")
  expect_identical(child_pids(), before)
})

test_that("the limits are for numbers alone, and not for those that are AsIs", {
  local_cores(1L)
  expect_silent(expect_cluster_ends(makeClusterPSOCK(I(4))))
  expect_silent(expect_cluster_ends(makeClusterPSOCK(rep("localhost", 4))))
})

test_that("the limits are set by an option", {
  local_cores(1L, limits = c(0.5, 2))
  expect_warning(expect_cluster_ends(makeClusterPSOCK(1)), "50%")
  expect_argument_error(makeClusterPSOCK(3), "200%")
  options(parallelly.maxWorkers.localhost = 3)
  expect_silent(expect_cluster_ends(makeClusterPSOCK(3)))
  expect_warning(expect_cluster_ends(makeClusterPSOCK(4)), "300%")
  options(parallelly.maxWorkers.localhost = numeric())
  expect_silent(expect_cluster_ends(makeClusterPSOCK(4)))
  for (limits in list("many", c(1, NA), -1, 1:3)) {
    options(parallelly.maxWorkers.localhost = limits)
    expect_argument_error(makeClusterPSOCK(1), "maxWorkers.localhost")
  }
})

test_that("some methods of availableCores() do not count for the limits", {
  local_cores(2L)
  withr::local_options(parallelly.availableCores.methods = c("system", "_R_CHECK_LIMIT_CORES_", "mc.cores"))
  withr::local_envvar("_R_CHECK_LIMIT_CORES_" = "TRUE")
  options(parallelly.availableCores.system = 4L)
  expect_silent(expect_cluster_ends(makeClusterPSOCK(3))) # a check's limit does not
  options(parallelly.maxWorkers.localhost.ignore = character())
  expect_warning(expect_cluster_ends(makeClusterPSOCK(3)), "by '_R_CHECK_LIMIT_CORES_'")
  options(mc.cores = 1L)
  withr::defer(options(mc.cores = NULL, parallelly.maxWorkers.localhost.ignore = NULL))
  for (ignored in list("_R_CHECK_LIMIT_CORES_, mc.cores", c("_R_CHECK_LIMIT_CORES_", "mc.cores"))) {
    options(parallelly.maxWorkers.localhost.ignore = ignored)
    expect_silent(expect_cluster_ends(makeClusterPSOCK(3)))
  }
})

test_that("the limits are set by environment variables", {
  told <- in_new_session(
    "invisible(loadNamespace('nodelay')); for (name in c('', '.ignore')) dput(getOption(paste0('parallelly.maxWorkers.localhost', name)))",
    variables = c(R_PARALLELLY_MAXWORKERS_LOCALHOST = "1.5,4", R_PARALLELLY_MAXWORKERS_LOCALHOST_IGNORE = "mc.cores, nproc")
  )
  expect_identical(told, c("c(1.5, 4)", "c(\"mc.cores\", \"nproc\")"))
})

# Those that R's own select() has to do with.
num_low_descriptors <- function() sum(as.integer(list.files("/proc/self/fd")) < 1024L)

test_that("what is kept open for a worker leaves the descriptors that select() knows to R", {
  limit <- as.integer(system("ulimit -S -n", intern = TRUE))
  skip_if(!is.na(limit) && limit < 1100L, "the limit of open files is low")
  local_cluster(1) # a template may come
  before <- num_low_descriptors()
  for_each_way(function(way, name) {
    cl <- cluster_for(way, 2)
    expect_identical(num_low_descriptors(), before, label = name)
  })
})

test_that("many workers start under a low limit of open files, which they get as it was", {
  told <- run_script(c(
    "limit <- function() as.integer(strsplit(grep('^Max open files', readLines('/proc/self/limits'), value = TRUE), ' +')[[1]][4])",
    "few <- makeClusterPSOCK(1)",
    "before <- limit()",
    "cl <- makeClusterPSOCK(I(180))",
    "low <- sum(as.integer(list.files('/proc/self/fd')) < 1024)",
    "cat(before, limit() > before, low < 30, unique(unlist(clusterCall(c(few, cl), limit))), length(unique(unlist(clusterCall(cl, Sys.getpid)))), '\\n')",
    "stopCluster(cl)"
  ), shell = "ulimit -S -n 1024;")
  expect_identical(trimws(told), "1024 TRUE TRUE 1024 180")
})
