# SPDX-License-Identifier: MIT
# Workers that a real ssh reaches on a real server of this machine's own.

test_that("a worker whose only way back is its tunnel answers as any other", {
  options <- local_far_network()
  cl <- within_seconds(60, local_cluster(c("far1", "far2"), rshopts = options))
  expect_identical(vapply(cl, function(node) as.character(node$host), ""), c("far1", "far2"))
  expect_false(any(isLocalhostNode(cl)))
  expect_identical(clusterCall(cl, identity, iris), list(iris, iris))
  big <- as.raw(seq_len(1e6) %% 256)
  expect_identical(clusterCall(cl, identity, big), list(big, big))
  expect_identical(clusterCall(cl, getOption, "socketOptions"), list("no-delay", "no-delay"))
  expect_error(clusterCall(cl, task(function() stop("my error"))), "my error")
  expect_identical(clusterApplyLB(cl, 1:20, task(function(i) i^2)), as.list((1:20)^2))
  # There is nothing else to be reached from there.
  expect_error(suppressWarnings(clusterCall(cl, task(function() socketConnection("127.0.0.2", 22, timeout = 1)))))
})

test_that("many workers of one machine start at the same time", {
  server <- local_sshd()
  cl <- within_seconds(60, local_cluster(rep("127.0.0.2", 6), rshopts = server$options, rscript_options = list(mine = 1)))
  pids <- unlist(clusterCall(cl, Sys.getpid))
  expect_identical(anyDuplicated(pids), 0L)
  expect_identical(unlist(clusterCall(cl, getOption, "mine")), rep(1, 6))
  expect_true(all(nzchar(unlist(clusterCall(cl, Sys.getenv, "SSH_CONNECTION")))))
})

test_that("both ends of the tunnel send without delay", {
  skip_if(!nzchar(Sys.which("strace")), "no strace")
  skip_if(system2("strace", c("-o", "/dev/null", "true"), stderr = FALSE) != 0L, "strace may not trace")
  server <- local_sshd()
  calls <- file.path(server$folder, c("main", "worker"))
  traced <- function(log) c("strace", "-f", "-qq", "-e", "trace=setsockopt,execve", "-o", log)
  script <- withr::local_tempfile(fileext = ".R", lines = c(
    "library(parallel); library(nodelay, warn.conflicts = FALSE)", sprintf("rscript <- c(%s, '*')", paste(shQuote(traced(calls[2])), collapse = ", ")),
    sprintf("cl <- makeClusterPSOCK('127.0.0.2', rscript = rscript, rshopts = c(%s))", paste(shQuote(server$options), collapse = ", ")),
    "invisible(clusterCall(cl, identity, 1)); cat(Sys.getpid()); stopCluster(cl)"
  ))
  pid <- system2(traced(calls[1])[1], shQuote(c(traced(calls[1])[-1], rscript_path(), script)), stdout = TRUE, timeout = 60)
  sets_no_delay <- function(lines) any(grepl("TCP_NODELAY, [1], 4) = 0", lines, fixed = TRUE))
  expect_true(sets_no_delay(grep(paste0("^", pid, " "), lines_of(calls[1]), value = TRUE)))
  expect_true(sets_no_delay(lines_of(calls[2])))
})

test_that("what goes wrong on the way is told at once in ssh's own words", {
  server <- local_sshd()
  refused <- freePort()
  fails <- function(regexp, ..., options = server$options, host = "127.0.0.2", status = 255L) {
    seconds <- seconds_for(error <- outcome_of(makeClusterPSOCK(host, rshopts = options, connectTimeout = 120, tries = 1, ...)))
    expect_lt(seconds, 30)
    expect_s3_class(error, c("nodelay_error_start_failed", "nodelay_error", "PSOCKConnectionError", "simpleError", "error", "condition"), exact = TRUE)
    expect_match(conditionMessage(error), sprintf("on %s could not be started: the command that starts it exited with status %d", host, status))
    expect_match(conditionMessage(error), regexp)
    expect_identical(error$status, status)
    expect_identical(error$host, host)
  }
  fails("/opt/no such/Rscript: No such file", rscript = "/opt/no such/Rscript", status = 127L)
  fails("Permission denied \\(publickey", options = ssh_options(server$folder, server$port, "other_key"))
  fails("Permission denied \\(publickey", options = ssh_options(server$folder, server$port, "no_key"))
  fails("no_such_user_of_mine@127.0.0.2: Permission denied", user = "no_such_user_of_mine")
  fails(sprintf("connect to host 127.0.0.2 port %d: Connection refused", refused), options = ssh_options(server$folder, refused))
  fails("Could not resolve hostname no-such-host.invalid", host = "no-such-host.invalid")
  fails("Host key verification failed", options = c("-o StrictHostKeyChecking=ask", server$options))
  fails("Bad configuration option", options = c("-o NoSuchOption=1", server$options))
  fails("my startup fails", rscript_startup = "stop('my startup fails')", status = 1L)
  log <- withr::local_tempfile()
  fails("connect to host .*: Connection refused", options = ssh_options(server$folder, refused), rshlogfile = log)
  expect_match(lines_of(log), "Connection refused", all = FALSE)
})

test_that("a password is not asked for but the attempt fails", {
  server <- local_sshd("PasswordAuthentication yes")
  options <- c("-o PubkeyAuthentication=no", server$options)
  seconds <- seconds_for(error <- outcome_of(makeClusterPSOCK("127.0.0.2", rshopts = options, tries = 1)))
  expect_match(conditionMessage(error), "exited with status 255.*Permission denied")
  expect_lt(seconds, 30)
})

test_that("a failing ssh is tried again as often as asked", {
  server <- local_sshd()
  error <- outcome_of(makeClusterPSOCK("127.0.0.2", rshopts = ssh_options(server$folder, server$port, "other_key"), tries = 3, delay = 0.01))
  expect_match(conditionMessage(error), "started 3 times")
  log <- lines_of(file.path(server$folder, "log"))
  expect_length(grep("Connection closed by authenticating user|Disconnected from authenticating user", log), 3L)
})

test_that("one of many that fails ends them all", {
  server <- local_sshd()
  before <- child_pids()
  expect_error(makeClusterPSOCK(c("127.0.0.2", "127.0.0.2", "no-such-host.invalid"), rshopts = server$options, tries = 1), "no-such-host")
  expect_true(wait_until(function() length(setdiff(child_pids(), before)) == 0L))
})

test_that("a session that ends on the other side is news at once", {
  server <- local_sshd()
  cl <- within_seconds(60, makeClusterPSOCK(c("127.0.0.2", "127.0.0.2"), rshopts = server$options))
  workers <- unlist(clusterCall(cl, Sys.getpid))
  ssh <- pids_of(cl)
  session <- workers[1]
  # OpenSSH 9.8 and later call it "sshd-session".
  while (!startsWith(lines_of(file.path("/proc", session, "comm")), "sshd")) session <- as.integer(process_stat(session)[2L])
  parallel:::sendCall(cl[[1]], Sys.sleep, list(60))
  tools::pskill(session, tools::SIGKILL)
  error <- within_seconds(20, outcome_of(parallel:::recvResult(cl[[1]])))
  expect_s3_class(error, "nodelay_error_worker_lost")
  expect_match(conditionMessage(error), "127.0.0.2", fixed = TRUE)
  expect_identical(clusterCall(cl[2], identity, 1), list(1))
  stopCluster(cl)
  tools::pskill(workers[1], tools::SIGKILL)
  expect_true(wait_until(function() !any(is_running(c(ssh, workers)))))
})

test_that("stopping the cluster ends each ssh and each worker", {
  server <- local_sshd()
  cl <- within_seconds(60, makeClusterPSOCK(c("127.0.0.2", "127.0.0.2"), rshopts = server$options))
  pids <- c(pids_of(cl), unlist(clusterCall(cl, Sys.getpid)))
  stopCluster(cl)
  expect_true(wait_until(function() !any(is_running(pids))))
})

test_that("a main process that is killed leaves neither ssh nor worker", {
  server <- local_sshd()
  pids <- withr::local_tempfile()
  main <- start_script(c(
    sprintf("cl <- makeClusterPSOCK('127.0.0.2', rshopts = c(%s))", paste(shQuote(server$options), collapse = ", ")),
    sprintf("writeLines(as.character(c(attr(unclass(cl)[[1]], 'pid'), clusterCall(cl, Sys.getpid)[[1]], 'end')), '%s')", pids), "Sys.sleep(60)"
  ))
  expect_true(wait_until(function() length(lines_of(pids)) == 3L, 30))
  tools::pskill(main, tools::SIGKILL)
  expect_true(wait_until(function() !any(is_running(as.integer(lines_of(pids)[1:2])))))
})

test_that("the token stands on no command line, here or there", {
  server <- local_sshd()
  # The profile of the worker looks at all command lines before R goes on.
  seen <- file.path(server$folder, "command_lines")
  look <- sprintf("for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $file; done > '%s' 2>/dev/null; exec %s \"$@\"", seen, rscript_path())
  cl <- within_seconds(60, local_cluster("127.0.0.2", rshopts = server$options, rscript = local_program("Rscript", look)))
  lines <- paste(lines_of(seen), collapse = "")
  expect_match(lines, "ssh.*-R [0-9]+:localhost:")
  expect_no_match(lines, "[0-9a-f]{64}")
  lines <- unlist(lapply(Sys.glob("/proc/[0-9]*/cmdline"), function(path) suppressWarnings(try(readLines(path, warn = FALSE, skipNul = TRUE), silent = TRUE))))
  expect_no_match(paste(lines, collapse = ""), "[0-9a-f]{64}")
  expect_identical(clusterCall(cl, Sys.getenv, "NODELAY_TOKEN"), list(""))
})
