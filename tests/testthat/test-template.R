# SPDX-License-Identifier: MIT
# Workers that a template forks: each has to be as one that was started by itself.

skip_on_os(c("mac", "windows", "solaris"))

# Evaluates `expr` with templates for local workers, or without.
with_template <- function(is_used, expr) {
  withr::local_options(nodelay.template = is_used)
  expr
}

# How many templates it took to evaluate `expr`.
num_new_templates <- function(expr) {
  before <- template_pids()
  force(expr)
  length(setdiff(template_pids(), before))
}

# What the kernel says of a process that must not depend on how it was started.
kernel_view <- task(function() {
  status <- readLines("/proc/self/status")
  kept <- grep("^(Umask|PPid|TracerPid|Uid|Gid|Groups|SigBlk|SigIgn|SigCgt|CapEff|Seccomp|NoNewPrivs|Cpus_allowed|Threads):", status, value = TRUE)
  stat <- strsplit(sub(".*\\) ", "", readLines("/proc/self/stat")), " ", fixed = TRUE)[[1L]]
  targets <- Sys.readlink(list.files("/proc/self/fd", full.names = TRUE))
  list(
    status = kept, leads_group = identical(stat[3L], as.character(Sys.getpid())), session = stat[4L], priority = stat[16:17],
    limits = readLines("/proc/self/limits"), oom = readLines("/proc/self/oom_score_adj"),
    descriptors = sort(sub("Rscript[^ ]*", "Rscript", sub("[0-9]+", "N", targets)))
  )
})

# What R says of itself.
r_view <- task(function() {
  variables <- Sys.getenv()
  # R's script puts the same folders in front of it each time.
  variables[["LD_LIBRARY_PATH"]] <- paste(unique(strsplit(variables[["LD_LIBRARY_PATH"]], ":")[[1L]]), collapse = ":")
  list(
    arguments = commandArgs(), environment = variables[names(variables) != "R_SESSION_TMPDIR"], options = options(),
    search = search(), namespaces = sort(loadedNamespaces()), libraries = .libPaths(), folder = getwd(),
    locale = Sys.getlocale(), interactive = interactive(), objects = ls(globalenv(), all.names = TRUE),
    connections = nrow(showConnections()), devices = dev.list(), seed = exists(".Random.seed", globalenv())
  )
})

test_that("the workers of a cluster take one template, and those of the next none", {
  withr::local_envvar(OF_THIS_TEST = "1")
  expect_identical(num_new_templates(local_cluster(2)), 1L)
  expect_identical(num_new_templates(local_cluster(I(3))), 0L)
})

test_that("forked workers are children of this process and leave with it knowing how", {
  cl <- local_cluster(2)
  pids <- unlist(clusterCall(cl, Sys.getpid))
  expect_identical(pids, pids_of(cl))
  expect_identical(unlist(clusterCall(cl, task(function() strsplit(sub(".*\\) ", "", readLines("/proc/self/stat")), " ")[[1L]][2L]))), rep(as.character(Sys.getpid()), 2L))
  expect_false(any(template_pids() %in% pids))
})

test_that("to the kernel and to R a forked worker looks as one that was started by itself", {
  forked <- with_template(TRUE, local_cluster(1))
  plain <- with_template(FALSE, local_cluster(1))
  expect_identical(clusterCall(forked, kernel_view), clusterCall(plain, kernel_view))
  expect_identical(clusterCall(forked, r_view), clusterCall(plain, r_view))
})

test_that("each worker has a temporary folder of its own, which goes with it", {
  folder <- local_temporary_folder()
  cl <- makeClusterPSOCK(2)
  told <- unlist(clusterCall(cl, task(function() c(tempdir(), dir.exists(tempdir()), dirname(tempfile()) == tempdir()))))
  expect_identical(dirname(told[c(1L, 4L)]), rep(folder, 2L))
  expect_identical(told[c(2L, 3L, 5L, 6L)], rep("TRUE", 4L))
  expect_setequal(list.files(folder), basename(told[c(1L, 4L)])) # the template has none
  clusterCall(cl, task(function() writeLines("x", tempfile())))
  expect_cluster_ends(cl)
  expect_identical(list.files(folder), character())
})

test_that("no worker takes a folder that was made in the place of its template's", {
  folder <- local_temporary_folder()
  names <- withr::local_tempfile()
  profile <- withr::local_tempfile(lines = sprintf("cat(tempdir(), '\\n', file = '%s', append = TRUE)", names))
  withr::local_envvar(R_PROFILE_USER = profile)
  local_cluster(1)
  of_template <- trimws(readLines(names))
  expect_length(of_template, 1L)
  expect_false(dir.exists(of_template))
  dir.create(of_template)
  cl <- local_cluster(1)
  expect_identical(dirname(clusterCall(cl, tempdir)[[1L]]), folder)
  expect_false(of_template %in% clusterCall(cl, tempdir)[[1L]])
  expect_true(dir.exists(of_template))
})

test_that("workers draw different random numbers and make different names of files", {
  cl <- local_cluster(I(3))
  expect_identical(anyDuplicated(unlist(clusterCall(cl, task(function() runif(1L))))), 0L)
  expect_identical(anyDuplicated(unlist(clusterCall(cl, tempfile, "x", "/tmp"))), 0L)
})

test_that("a worker's clock starts with it", {
  local_cluster(1)
  Sys.sleep(0.5)
  cl <- local_cluster(1)
  expect_lt(clusterCall(cl, task(function() proc.time()[["elapsed"]]))[[1L]], 0.5)
})

test_that("a worker that is killed or quits is told with its signal or status", {
  cl <- local_cluster(2)
  lost <- outcome_of(clusterCall(cl[1], task(function() tools::pskill(Sys.getpid(), tools::SIGKILL))))
  expect_s3_class(lost, "nodelay_error_worker_lost")
  expect_identical(lost$signal, 9L)
  lost <- outcome_of(clusterCall(cl[2], task(function() { message("last words"); quit(status = 7) })))
  expect_identical(lost$status, 7L)
  expect_match(lost$stderr, "last words")
})

test_that("a call that forked workers run is interrupted, with its children", {
  cl <- local_cluster(1)
  parallel:::sendCall(cl[[1]], Sys.sleep, list(60))
  expect_lt(seconds_for({
    interrupt_in(0.3)
    tryCatch(parallel:::recvResult(cl[[1]]), interrupt = function(e) NULL)
    nodelay:::nodes_give_up(nodelay:::node_handles(cl))
    expect_identical(clusterCall(cl, identity, 1), list(1))
  }), 10)
})

test_that("an interrupt while the template or its workers start leaves nothing in the way", {
  for (seconds in c(0.02, 0.1, 0.15, 0.2)) {
    before <- child_pids()
    withr::local_envvar(OF_THIS_TEST = paste("interrupt", seconds))
    interrupt_in(seconds)
    outcome <- tryCatch({ stopCluster(makeClusterPSOCK(2)); Sys.sleep(5); "too late" }, interrupt = function(e) "interrupted")
    expect_identical(outcome, "interrupted")
    expect_identical(child_pids(), before)
    expect_identical(clusterCall(local_cluster(2), identity, 1), list(1, 1))
  }
})

test_that("after the death of the template the next cluster gets a new one", {
  local_cluster(1)
  old <- template_pids()
  tools::pskill(old, tools::SIGKILL)
  expect_true(wait_until(function() !any(is_running(old))))
  cl <- local_cluster(2)
  expect_identical(clusterCall(cl, identity, 1), list(1, 1))
  expect_length(setdiff(template_pids(), old), 1L)
})

test_that("a template that does not answer holds nobody up for ever", {
  withr::local_envvar(OF_THIS_TEST = "2")
  local_cluster(1)
  for (pid in template_pids()) tools::pskill(pid, tools::SIGSTOP)
  expect_lt(seconds_for(cl <- local_cluster(1)), 15)
  expect_identical(clusterCall(cl, identity, 1), list(1))
  for (pid in template_pids()) tools::pskill(pid, tools::SIGCONT)
})

test_that("template and workers are gone within two seconds of the death of their main process", {
  folder <- withr::local_tempdir()
  pids <- file.path(folder, "pids")
  main <- start_script(c(
    "cl <- makeClusterPSOCK(2)",
    "told <- c(nodelay:::session_template_pids(nodelay:::the$session), unlist(clusterCall(cl, Sys.getpid)))",
    sprintf("writeLines(as.character(told), %1$s); file.rename(%1$s, %2$s); Sys.sleep(60)", deparse(paste0(pids, ".part")), deparse(pids))
  ), env = paste0("TMPDIR=", folder))
  expect_true(wait_until(function() file.exists(pids), 20))
  told <- as.integer(readLines(pids))
  expect_identical(is_running(told), rep(TRUE, 3L))
  tools::pskill(main, tools::SIGKILL)
  expect_true(wait_until(function() !any(is_running(told)), 2))
  expect_lte(length(list.files(folder, pattern = "^Rtmp")), 1L) # of the main process itself
})

test_that("a main process that ends leaves neither template nor folder", {
  folder <- withr::local_tempdir()
  told <- run_script(
    c("cl <- makeClusterPSOCK(2)", "cat(nodelay:::session_template_pids(nodelay:::the$session))"),
    env = paste0("TMPDIR=", folder)
  )
  expect_match(told, "^[0-9]+$")
  expect_false(is_running(as.integer(told)))
  expect_identical(list.files(folder), character())
})

test_that("different environments, working folders, masks and commands take different templates", {
  withr::local_envvar(R_PROFILE_USER = NA) # an R with --no-init-file has it set, for its children too
  local_cluster(1)
  expect_identical(num_new_templates(local_cluster(1)), 0L)
  expect_identical(num_new_templates({
    cl <- local_cluster(1, rscript_envs = c(OF_THIS_TEST = "other"))
    expect_identical(asked_environment(cl, "OF_THIS_TEST"), "other")
  }), 1L)
  expect_identical(num_new_templates({
    folder <- withr::local_tempdir()
    writeLines("from_profile <- 'here'", file.path(folder, ".Rprofile"))
    withr::with_dir(folder, cl <- local_cluster(1))
    expect_identical(clusterCall(cl, getwd), list(normalizePath(folder)))
    expect_identical(clusterEvalQ(cl, from_profile), list("here"))
    writeLines("from_profile <- 'changed'", file.path(folder, ".Rprofile"))
    withr::with_dir(folder, cl <- local_cluster(1))
    expect_identical(clusterEvalQ(cl, from_profile), list("changed"))
  }), 2L)
  mask <- Sys.umask("077")
  expect_identical(num_new_templates({
    cl <- local_cluster(1)
    expect_identical(clusterCall(cl, Sys.umask), list(as.octmode("077")))
  }), 1L)
  Sys.umask(mask)
  expect_identical(num_new_templates({
    cl <- local_cluster(1, default_packages = "stats")
    expect_false("package:utils" %in% clusterCall(cl, search)[[1L]])
  }), 1L)
  expect_lte(length(template_pids()), 4L)
})

test_that("start-up code, options, libraries and later variables are each worker's", {
  library_folder <- withr::local_tempdir()
  cl <- local_cluster(1, rscript_startup = quote(x <- 41), rscript_options = list(digits = 3), rscript_libs = c(library_folder, "*"))
  expect_identical(clusterEvalQ(cl, x + 1), list(42))
  expect_identical(clusterCall(cl, getOption, "digits"), list(3L))
  expect_identical(clusterEvalQ(cl, .libPaths())[[1L]][1L], normalizePath(library_folder))
  other <- local_cluster(1)
  expect_identical(clusterCall(other, exists, "x"), list(FALSE))
})

test_that("each worker has the output that was asked for, with what start-up files wrote", {
  profile <- withr::local_tempfile(lines = "cat('said hello\\n'); message('complained')")
  log <- withr::local_tempfile()
  local_cluster(2, outfile = log, rscript_envs = c(R_PROFILE_USER = profile), rscript_startup = quote(cat("is up\n")))
  lines <- lines_of(log)
  expect_identical(unname(table(lines)[c("said hello", "complained", "is up")]), rep(2L, 3L), ignore_attr = TRUE)
  expect_length(grep("^starting worker pid=", lines), 2L)
})

test_that("start-up files whose traces workers must not share keep them from being forked", {
  traces <- c("stats::runif(1)", "file.create(tempfile())", "trace <- file(nullfile(), 'w')")
  for (trace in traces) {
    profile <- withr::local_tempfile(lines = trace)
    cl <- local_cluster(2, rscript_envs = c(R_PROFILE_USER = profile))
    expect_identical(anyDuplicated(unlist(clusterCall(cl, task(function() runif(1L))))), 0L, label = trace)
    expect_identical(unlist(clusterCall(cl, dir.exists, "/")), c(TRUE, TRUE))
  }
})

test_that("the option and the environment variable switch templates off", {
  withr::local_envvar(OF_THIS_TEST = "3")
  with_template(FALSE, expect_identical(num_new_templates(local_cluster(1)), 0L))
  withr::with_envvar(c(R_NODELAY_TEMPLATE = "false"), expect_identical(num_new_templates(local_cluster(1)), 0L))
  expect_identical(num_new_templates(local_cluster(1)), 1L)
})

test_that("programs, arguments, priorities and transports of the user's own take none", {
  own <- list(
    list(rscript = rscript_path(), rscript_args = "--vanilla"), list(renice = 3L), list(rscript_sh = "none"),
    list(engine = "base"), list(transport = "tcp")
  )
  for (arguments in own) {
    withr::local_envvar(OF_THIS_TEST = deparse(arguments)[1L])
    expect_identical(num_new_templates(do.call(local_cluster, c(list(1), arguments))), 0L, label = deparse(arguments)[1L])
  }
})

test_that("a forked worker has clusters, forks and threads of its own", {
  cl <- local_cluster(1)
  nested <- clusterCall(cl, task(function() {
    inner <- nodelay::makeClusterPSOCK(2)
    on.exit(parallel::stopCluster(inner))
    c(Sys.getpid(), unlist(parallel::clusterCall(inner, Sys.getpid)))
  }))[[1L]]
  expect_identical(anyDuplicated(nested), 0L)
  expect_identical(nested[1L], pids_of(cl))
  expect_true(wait_until(function() !any(is_running(nested[-1L]))))
  forked <- clusterCall(cl, task(function() unlist(parallel::mclapply(1:2, function(i) Sys.getpid(), mc.cores = 2L))))[[1L]]
  expect_length(unique(c(forked, pids_of(cl))), 3L)
  skip_if_not_installed("data.table")
  # In the global environment: code of package base does not know data.table's `[`.
  expect_identical(clusterEvalQ(cl, {
    data.table::setDTthreads(2L)
    table <- data.table::data.table(group = rep(1:10, 1e4), value = 1)
    c(data.table::getDTthreads(), table[, sum(value), by = group]$V1[1L], data.table::fsort(c(3, 1, 2))[3L])
  }), list(c(2, 1e4, 3)))
})

test_that("the heaps of forked workers grow in large steps, and those of what they start as R's do", {
  # How many cells R waits for, for each that is in use.
  patience <- task(function() {
    kept <- as.list(1:400000)
    for (i in 1:3) gc()
    made <- lapply(1:20, function(i) length(as.list(1:20000)))
    cells <- gc()["Ncells", ]
    cells[["gc trigger"]] / cells[["used"]]
  })
  growth <- task(function() unname(Sys.getenv(c("R_GC_MEM_GROW", "NODELAY_HEAP_GROWTH"))))
  withr::local_envvar(R_GC_MEM_GROW = NA)
  cl <- local_cluster(1)
  expect_gt(clusterCall(cl, patience)[[1]], 2.8)
  expect_identical(clusterCall(cl, growth)[[1]], c("", ""))
  withr::local_envvar(R_GC_MEM_GROW = "0")
  cl <- local_cluster(1)
  expect_lt(clusterCall(cl, patience)[[1]], 2.8)
  expect_identical(clusterCall(cl, growth)[[1]], c("0", ""))
})
