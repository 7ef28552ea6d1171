# SPDX-License-Identifier: MIT
# How the command of a worker is made of the arguments, shown, and run by hand.

rule <- strrep("-", 70L)
names_of_packages <- "datasets,utils,grDevices,graphics,stats,methods"
packages <- paste0("--default-packages=", names_of_packages)
in_quotes <- function(text) paste0("'", gsub("'", "'\\''", text, fixed = TRUE), "'")
own <- in_quotes(rscript_path())

# -- What is shown -------------------------------------------------------------------------------

test_that("dryrun shows the command of a local worker and starts none", {
  expect_silent(cl <- makeClusterPSOCK(2, dryrun = TRUE, quiet = TRUE))
  expect_identical(unclass(cl), list(NULL, NULL))
  lines <- shown_commands(2, port = 11000)
  expect_identical(lines[c(1, 4)], c(rule, rule))
  expect_identical(lines[c(2, 5)], sprintf("Manually, start worker #%d on local machine 'localhost' with:", 1:2))
  expect_match(lines[c(3, 6)], paste("NODELAY_TOKEN=<secret>", own, packages, "-e '"), fixed = TRUE)
  expect_match(lines[c(3, 6)], "MASTER=localhost PORT=11000 OUT=/dev/null TIMEOUT=2592000 XDR=FALSE SETUPTIMEOUT=120 SETUPSTRATEGY=sequential$")
  expect_length(lines, 6L)
  expect_null(makeNodePSOCK(dryrun = TRUE, quiet = TRUE))
})

test_that("dryrun shows the ways to a remote worker and the two in one", {
  lines <- shown_commands(c("n1", "n2.org"), port = 11000, user = "alice", rshcmd = "ssh", rshlogfile = "/tmp/l", rshopts = c("-p", "22"))
  for (i in 1:2) {
    each <- lines[seq(7 * i - 6, 7 * i)]
    host <- c("n1", "n2.org")[i]
    expect_identical(each[-(5:7)], c(
      rule, sprintf("Manually, (i) login into external machine '%s':", host),
      sprintf("'ssh' -E '/tmp/l' -R %d:localhost:11000 -l alice -p 22 %s", 10999 + i, host),
      sprintf("and (ii) start worker #%d from there:", i)
    ))
    program <- if (i == 1) own else "'Rscript'" # the same place is not assumed in another domain
    expect_match(each[5], paste("NODELAY_TOKEN=<secret>", program, packages), fixed = TRUE)
    expect_match(each[5], sprintf("MASTER=localhost PORT=%d ", 10999 + i))
    expect_identical(each[6], sprintf("Alternatively, start worker #%d from the local machine by combining both steps in a single call:", i))
    worker <- sub("NODELAY_TOKEN=<secret> ", "", each[5], fixed = TRUE)
    expect_identical(each[7], paste("echo <secret> |", each[3], in_quotes(worker)))
  }
  expect_length(lines, 14L)
})

test_that("commands for Windows are in its own quotes, those around them in sh's", {
  lines <- shown_commands("n1", port = 11000, rshcmd = "ssh", rscript = "C:/R x/Rscript.exe", rscript_sh = c("cmd", "sh"))
  expect_match(lines[5], paste("set \"NODELAY_TOKEN=<secret>\" && \"C:/R x/Rscript.exe\"", packages, "-e \"options(socketOptions=\\\"no-delay\\\")\""), fixed = TRUE)
  expect_match(lines[7], paste("n1 '\"C:/R x/Rscript.exe\"", packages, "-e \"options"), fixed = TRUE)
  expect_match(shown_commands("n1", rshcmd = "ssh", rscript = "Rscript", rscript_sh = "none")[7], paste("n1", "[^']*Rscript", packages, "-e options[(]socketOptions=\"no-delay\"[)] -e [(]function"))
  expect_match(shown_commands("n1", rshcmd = "ssh", rscript_sh = c("sh", "cmd"))[7], paste("n1", paste0("\"", own)), fixed = TRUE)
})

test_that("only what needs the secret is given it", {
  lines <- shown_commands("n1", rscript_call = "parallel:::.workRSOCK()", rshcmd = "ssh")
  expect_false(any(grepl("secret|NODELAY_TOKEN", lines)))
  expect_match(lines[5], "-e 'parallel:::.workRSOCK()' MASTER=localhost PORT=", fixed = TRUE)
})

# -- The program and its arguments ---------------------------------------------------------------

test_that("rscript is quoted word by word, or raw where it is AsIs", {
  begins <- function(..., with) expect_match(local_command(...), paste("NODELAY_TOKEN=<secret>", with), fixed = TRUE)
  begins(rscript = "*", with = paste(own, packages, "-e"))
  begins(rscript = c("FOO=a 'b'", "*"), with = paste(paste0("R_DEFAULT_PACKAGES=", names_of_packages), paste0("FOO=", in_quotes("a 'b'")), own))
  begins(rscript = "/no such/Rscript", with = paste("'/no such/Rscript'", packages))
  begins(rscript = I("my $R/Rscript"), with = paste("my $R/Rscript", packages))
  begins(rscript = c("/no/docker run", "a b", "Rscript"), with = paste0("R_DEFAULT_PACKAGES=", names_of_packages, " '/no/docker run' 'a b' 'Rscript' -e"))
  begins(rscript = I(c("env", "A=\"$HOME\"", "*")), with = paste0("R_DEFAULT_PACKAGES=", names_of_packages, " env A=\"$HOME\" ", rscript_path()))
  expect_match(remote_command("n1", rscript = "my_r"), "NODELAY_TOKEN=<secret> R_DEFAULT_PACKAGES=[a-zA-Z,]+ '[^']*my_r' -e")
  expect_match(remote_command("n1", rscript = "sh", homogeneous = FALSE), "R_DEFAULT_PACKAGES=[a-zA-Z,]+ 'sh' -e")
  for (rscript in list(character(), NA_character_, "", 1)) expect_argument_error(makeClusterPSOCK(1, rscript = rscript), "'rscript'")
})

test_that("a program whose path has blanks, and one of the search path, start workers", {
  folder <- file.path(withr::local_tempdir(), "it's my folder")
  dir.create(folder)
  file.symlink(rscript_path(), file.path(folder, "my_r"))
  file.symlink(rscript_path(), file.path(folder, "Rscript"))
  withr::local_path(folder)
  for (rscript in c(file.path(folder, "Rscript"), file.path(folder, "my_r"), "my_r")) {
    cl <- local_cluster(1, rscript = rscript)
    expect_identical(clusterCall(cl, identity, 1), list(1))
  }
  expect_identical(remote_command("n1.org", rscript = "my_r") |> sub(pattern = ".*('.*my_r').*", replacement = "\\1"), "'my_r'") # not looked for here
})

test_that("homogeneous says whether R is at the same place", {
  program <- function(...) sub(" .*", "", sub("NODELAY_TOKEN=<secret> ", "", remote_command(...)))
  expect_identical(program("n1"), own)
  for (host in c("n1.org", "10.0.0.1", "fe80::1")) expect_identical(program(host), "'Rscript'")
  expect_identical(program("n1:2200"), own)
  expect_identical(program("n1.org", homogeneous = TRUE), own)
  expect_identical(program("n1", homogeneous = FALSE), "'Rscript'")
  expect_argument_error(program("n1", homogeneous = NA), "'homogeneous'")
})

test_that("rscript_args stand in front, or around the star", {
  expect_match(local_command(rscript_args = c("--vanilla", "$A")), paste(own, "--vanilla $A", packages), fixed = TRUE)
  expect_match(local_command(rscript_args = c("--a", "*", "--b")), paste0(own, " --a ", packages, " -e .* --b MASTER=localhost"))
  expect_match(local_command(rscript_args = "*"), paste(own, packages, "-e"), fixed = TRUE)
  expect_argument_error(local_command(rscript_args = c("*", "a", "*")), "at most one asterisk \\('\\*'\\): '\\*' 'a' '\\*'")
})

test_that("rscript_args and options of all kinds reach a program that prints them", {
  seen <- withr::local_tempfile()
  printer <- local_program("R script", sprintf("printf '%%s\\n' \"$@\" > '%s'; exit 3", seen))
  expect_error(makeClusterPSOCK(1, rscript = printer, rscript_args = c("'a b'", "*", "\"c  d\""), default_packages = NULL), "exited with status 3")
  lines <- lines_of(seen)
  expect_identical(lines[1L], "a b")
  expect_true("c  d" %in% lines)
})

test_that("rscript_call is the last expression, and is checked", {
  expect_match(local_command(rscript_call = "my$loop('a b')"), "-e 'my$loop('\\''a b'\\'')' MASTER=", fixed = TRUE)
  expect_match(local_command(rscript_call = quote(my$loop("a b"))), "-e 'my$loop(\"a b\")' MASTER=", fixed = TRUE)
  expect_argument_error(local_command(rscript_call = "foo{"), "Syntax error in argument 'rscript_call'")
  withr::local_options(parallelly.makeNodePSOCK.rscript_call = "my_loop()")
  expect_match(local_command(), "-e 'my_loop()' MASTER=", fixed = TRUE)
})

test_that("a worker may run parallel's own loop, with all that the others have", {
  calls <- list(
    list(rscript_call = "parallel:::.workRSOCK()"), list(rscript_args = c("-e", shQuote("parallel:::.workRSOCK()"))),
    list(rscript_args = c("*", "-e", shQuote("parallel:::.workRSOCK()")))
  )
  for (call in calls) {
    cl <- do.call(local_cluster, c(call, list(
      workers = 1, rscript_envs = c(MINE = "a\"b\\"), rscript_options = list(mine = 5), rscript_startup = "x <- getOption('mine') + 1"
    )))
    expect_identical(
      clusterCall(cl, task(function() list(x, Sys.getenv("MINE"), getOption("socketOptions"))))[[1]],
      list(6, "a\"b\\", "no-delay")
    )
  }
  expect_argument_error(makeClusterPSOCK(1, rscript_call = "parallel:::.workRSOCK()", engine = "native"), "no native one")
})

test_that("default_packages of a program that is not Rscript are in its environment", {
  cl <- local_cluster(1, rscript = file.path(R.home("bin"), "R"), rscript_args = c("--no-echo", "--no-restore", "*", "--args"), default_packages = c("stats", "splines"))
  attached <- clusterCall(cl, search)[[1]]
  expect_true(all(c("package:stats", "package:splines") %in% attached))
  expect_false("package:utils" %in% attached)
  withr::local_options(defaultPackages = NULL)
  expect_match(local_command(default_packages = "*"), "--default-packages= -e", fixed = TRUE)
  expect_match(local_command(default_packages = character()), "--default-packages= -e", fixed = TRUE)
  expect_no_match(local_command(default_packages = NULL), "default-packages|DEFAULT_PACKAGES")
  expect_argument_error(local_command(default_packages = "a;b"), "invalid package names")
})

test_that("renice lowers the priority whatever the program is", {
  priority <- task(function() as.integer(strsplit(sub(".*\\) ", "", readLines("/proc/self/stat")), " ")[[1]][17]))
  mine <- as.integer(process_stat(Sys.getpid())[17L])
  programs <- list("*", c("FOO=a b", "*"), c("nice", "-n", "0", "*"), I("FOO='a b' Rscript"), I(c("FOO=1", "*")))
  for (rscript in programs) {
    cl <- local_cluster(1, rscript = rscript, renice = 3)
    expect_identical(clusterCall(cl, priority)[[1]], min(mine + 3L, 19L))
    expect_identical(asked_environment(cl, "FOO"), if (any(grepl("FOO=.*a b", rscript))) "a b" else if (any(grepl("FOO=1", rscript))) "1" else "")
  }
  for (renice in list(NA, 0, -5, FALSE)) expect_no_match(local_command(renice = renice), "nice")
  expect_match(local_command(renice = TRUE), "nice -n 1 ")
  expect_identical(clusterCall(local_cluster(1, renice = 19), priority)[[1]], 19L)
  expect_argument_error(local_command(renice = "a"), "'renice'")
})

test_that("calls and a label tell a reader of ps where a worker comes from", {
  my_function <- function(...) local_command(...)
  expect_match(my_function(calls = TRUE), "-e 'invisible[(]\"calls:[^\"]*my_function->local_command->[^\"]*makeClusterPSOCK\"[)]'")
  expect_no_match(my_function(calls = FALSE), "calls")
  for (label in c("mine", "it's mine")) {
    withr::local_options(parallelly.makeNodePSOCK.rscript_label = label)
    expect_match(local_command(), paste("-e", in_quotes(paste0("#label=", label))), fixed = TRUE)
  }
  for (label in list(TRUE, "TRUE")) {
    withr::local_options(parallelly.makeNodePSOCK.rscript_label = label)
    expect_match(local_command(), sprintf("#label=nodelay:%d:", Sys.getpid()), fixed = TRUE)
  }
  for (label in list(FALSE, "FALSE", "")) {
    withr::local_options(parallelly.makeNodePSOCK.rscript_label = label)
    expect_no_match(local_command(), "#label")
  }
  withr::local_options(parallelly.makeNodePSOCK.rscript_label = "it's mine")
  cl <- local_cluster(1, calls = TRUE)
  line <- readLines(file.path("/proc", pids_of(cl), "cmdline"), warn = FALSE, skipNul = TRUE)
  expect_match(line, "#label=it's~+~mine", fixed = TRUE) # as Rscript spells a blank
  expect_match(line, "calls:.*makeClusterPSOCK")
})

# -- The way to another machine ------------------------------------------------------------------

test_that("rshcmd may be a program, several words, or a function of all options", {
  expect_match(remote_shell("n1"), "^'/.*/ssh' -R 11000:localhost:11000 n1$")
  for (rshcmd in list("<ssh>", "", c("<putty-plink>", "<ssh>"))) expect_match(remote_shell("n1", rshcmd = rshcmd), "^'/.*/ssh' -R 11000")
  expect_identical(remote_shell("n1", rshcmd = c("ssh", "-o A b")), "'ssh' '-o A b' -R 11000:localhost:11000 n1")
  my_shell <- function(rshopts, worker) paste("via", worker, rshopts, "&&")
  expect_identical(
    remote_shell("n1", rshcmd = my_shell, rshopts = c("-a", "'b c'"), user = "bob", rshlogfile = "/tmp/l", revtunnel = TRUE),
    "via n1 -E '/tmp/l' -R 11000:localhost:11000 -l bob -a 'b c' &&"
  )
  expect_identical(remote_shell("n1", rshcmd = my_shell), "via n1  &&")
  expect_argument_error(remote_shell("n1", rshcmd = function(rshopts, worker) 1), "value of rshcmd")
  expect_argument_error(remote_shell("n1", rshcmd = "<foo>"), "Unknown 'rshcmd' type: 'foo'")
  expect_argument_error(remote_shell("n1", rshcmd = character()), "a non-empty character vector")
  expect_argument_error(makeClusterPSOCK("n1", rshcmd = "/no/such"), "no program '/no/such'")
  expect_silent(remote_shell("n1", rshcmd = "no-such"))
})

test_that("a program that is not there is refused when it is needed, and not when a worker is planned", {
  for (missing in c("rsh-of-no-machine", "/no/such")) {
    plan <- makeNodePSOCK("n1", rshcmd = missing, action = "options")
    expect_s3_class(plan, "makeNodePSOCKOptions")
    before <- child_pids()
    expect_argument_error(makeNodePSOCK(plan), sprintf("no program '%s'", missing))
    expect_argument_error(makeClusterPSOCK(c("localhost", "n1"), rshcmd = missing), sprintf("no program '%s'", missing))
    expect_identical(child_pids(), before)
  }
  expect_argument_error(makeNodePSOCK("n1", rshcmd = c("", "x"), action = "options"), "no program ''")
})

test_that("a function as rshcmd takes 'rshopts' and 'worker' by their names", {
  plan <- function(rshcmd, ...) makeNodePSOCK(rshcmd = rshcmd, action = "options", ...)
  for (bad in list(function() 1, function(rshopts) 1, function(a, worker) 1, function(rshopts, b) 1)) {
    for (worker in c("localhost", "n1")) expect_argument_error(plan(bad, worker = worker), "'rshopts' and 'worker'")
  }
  for (good in list(function(worker, rshopts) 1, function(...) 1, function(more = 1, worker, rshopts) 1)) {
    expect_s3_class(plan(good), "makeNodePSOCKOptions")
  }
})

test_that("without an ssh client there is an error, or a warning where it is only shown", {
  withr::local_envvar(PATH = withr::local_tempdir())
  expect_argument_error(makeClusterPSOCK("n1"), "Failed to locate a default SSH client \\(checked: 'ssh'\\)")
  expect_warning(shown <- remote_shell("n1"), "Will still try with 'ssh'")
  expect_identical(shown, "'ssh' -R 11000:localhost:11000 n1")
})

test_that("a tunnel is dug by ssh and its kin, and by others where asked for", {
  tunnel <- function(...) grepl("-R 11000:localhost:11000", remote_shell("n1", ...), fixed = TRUE)
  for (rshcmd in c("ssh", "/no/ssh", "/no/ssh.exe", "plink.exe", "/no/plink")) expect_true(tunnel(rshcmd = rshcmd))
  for (rshcmd in list("rsh", function(rshopts, worker) paste("x", rshopts, worker))) {
    expect_false(tunnel(rshcmd = rshcmd))
    expect_true(tunnel(rshcmd = rshcmd, revtunnel = TRUE))
  }
  expect_false(tunnel(revtunnel = FALSE))
  expect_argument_error(tunnel(revtunnel = "yes"), "'revtunnel'")
})

test_that("a tunnelled worker comes to its near end, any other to the master", {
  master <- function(...) sub(".* MASTER=(.*) PORT=.*", "\\1", remote_command("n1", ...))
  expect_identical(master(), "localhost")
  expect_identical(master(master = "m1"), "localhost")
  expect_identical(master(revtunnel = FALSE), Sys.info()[["nodename"]])
  expect_identical(master(revtunnel = FALSE, master = "m1"), "m1")
})

test_that("a user is for all workers, or each has its own", {
  users <- function(...) {
    lines <- grep("-R ", shown_commands(c("n1", "n2"), rshcmd = "ssh", ...), value = TRUE)[c(1, 3)]
    sub(".*:[0-9]+ (.*)n.$", "\\1", lines)
  }
  expect_identical(users(), c("", ""))
  expect_identical(users(user = "*"), c("", ""))
  expect_identical(users(user = "alice"), c("-l alice ", "-l alice "))
  expect_identical(users(user = c("alice", "*")), c("-l alice ", ""))
  expect_argument_error(users(user = c("a", "b", "c")), "'user' must have length 1")
})

test_that("a port in the name of a machine is that of its ssh server", {
  expect_match(remote_shell("n1:2200"), "-p 2200 n1$")
  expect_match(remote_shell("[fe80::1]:2200"), "-p 2200 fe80::1$")
  expect_match(remote_shell("fe80::1"), "11000 fe80::1$")
  expect_match(remote_shell("n1:2200", rshcmd = "plink"), "-P 2200 n1$")
  expect_match(remote_shell("n1:2200", rshcmd = "rsh"), "'rsh' n1:2200$")
})

test_that("each tunnel has a port of its own at the far end", {
  ports <- function(...) as.integer(sub(".*-R ([0-9]+):.*", "\\1", grep("^'ssh'", shown_commands(..., rshcmd = "ssh"), value = TRUE)))
  expect_identical(ports(rep("n1", 3), port = 2000), 2000:2002)
  expect_argument_error(ports(rep("n1", 2), port = 65535), "port 65536")
  withr::local_options(parallelly.makeNodePSOCK.port.increment = FALSE)
  expect_identical(ports(rep("n1", 2), port = 65535), c(65535L, 65535L))
})

test_that("rshlogfile is for ssh's log", {
  expect_match(remote_shell("n1", rshlogfile = TRUE), "-E '/.*[.]log' -R")
  expect_match(remote_shell("n1", rshlogfile = "it's"), "-E '/.*/it'[\\]''s' -R")
  expect_match(remote_shell("n1", rshlogfile = "/tmp/l", rshcmd = "plink"), "-sshlog '/tmp/l' -R")
  for (none in list(NULL, FALSE)) expect_no_match(remote_shell("n1", rshlogfile = none), "-E")
})

test_that("names of this machine are local, in any spelling, unless said otherwise", {
  is_local <- function(workers) vapply(as_workers(workers), attr, NA, "localhost")
  as_workers <- nodelay:::as_workers
  expect_true(all(is_local(c("localhost", "LOCALHOST", "127.0.0.1", "127.0.1.1", "::1", Sys.info()[["nodename"]]))))
  expect_false(any(is_local(c("n1", "127.0.0.2", "localhost.org", "local.ost"))))
  expect_identical(is_local(list("n1", structure("n2", localhost = TRUE), structure("localhost", localhost = FALSE))), c(FALSE, TRUE, FALSE))
  expect_identical(is_local(structure(c("n1", "n2"), localhost = TRUE)), c(TRUE, TRUE))
  expect_identical(is_local(structure(c("n1", "n2"), localhost = c(TRUE, FALSE))), c(TRUE, FALSE))
  expect_argument_error(is_local(structure(c("n1", "n2"), localhost = c(TRUE, FALSE, TRUE))), "localhost")
  cl <- local_cluster(list(structure("a name of mine", localhost = TRUE)))
  expect_identical(cl[[1]]$host, structure("a name of mine", localhost = TRUE))
  withr::local_options(parallelly.localhost.hostname = "my.alias")
  expect_true(is_local("my.alias"))
})

# -- Nothing is executed that should not be ------------------------------------------------------

nasty_names <- c("n1;touch evil", "$(touch evil)", "`touch evil`", "a & touch evil", "a | touch evil", "a\ntouch evil", "it's\"; touch evil; '")

test_that("names of machines, users and masters are never executed", {
  withr::local_dir(withr::local_tempdir())
  seen <- file.path(getwd(), "seen")
  ssh <- local_ssh(sprintf("printf '%%s\\036' \"$@\" >> '%s'; exit 7", seen))
  for (name in nasty_names) {
    unlink(seen)
    expect_error(makeClusterPSOCK(name, user = name, master = name, rshcmd = ssh, tries = 1), "exited with status 7")
    expect_error(makeClusterPSOCK(name, revtunnel = FALSE, master = name, rshcmd = ssh, tries = 1), "exited with status 7")
    words <- strsplit(readChar(seen, 1e5), "\036", fixed = TRUE)[[1L]]
    expect_identical(sum(words == name), 3L)
    expect_false(file.exists("evil"))
  }
  expect_argument_error(makeClusterPSOCK("-oProxyCommand=touch evil"), "begins with '-'")
})

test_that("an outfile is never executed, here or there", {
  withr::local_dir(withr::local_tempdir())
  withr::local_options(parallelly.makeNodePSOCK.port.increment = FALSE)
  for (name in c("a b.log", nasty_names[-6])) for (workers in list(1, "n1")) {
    path <- file.path(getwd(), name)
    cl <- makeClusterPSOCK(workers, engine = "base", rshcmd = local_ssh(), outfile = path)
    clusterCall(cl, eval, quote(cat("hello\n")))
    stopCluster(cl)
    expect_true(wait_until(function() "hello" %in% lines_of(path)))
  }
  expect_false(file.exists("evil"))
})

# -- Starting ------------------------------------------------------------------------------------

test_that("one remote worker and many come over a stand-in for ssh", {
  withr::local_options(parallelly.makeNodePSOCK.port.increment = FALSE)
  values <- c("a\"b", "C:\\Users\\new", "two\nlines", "$HOME `id`")
  cl <- local_cluster(c("n1", "n2", "localhost"),
    rshcmd = local_ssh(), rscript_envs = c(MINE = values[1], OTHER = values[2]), rscript_libs = c("C:\\temp\\new", "\\\\srv\\share", "*"),
    rscript_startup = list(quote(if (TRUE) x <- 1 else x <- 2), "y <- 3 # a comment"), rscript_options = list(mine = values)
  )
  expect_identical(vapply(cl, function(node) as.character(node$host), ""), c("n1", "n2", "localhost"))
  expect_identical(vapply(cl, `[[`, 0L, "rank"), 1:3)
  got <- clusterCall(cl, task(function() list(x, y, Sys.getenv("MINE"), Sys.getenv("OTHER"), getOption("mine"))))
  expect_identical(got, rep(list(list(1, 3, values[1], values[2], values)), 3))
})

test_that("a worker or its ssh that ends at once is told of at once", {
  for (setup_strategy in c("parallel", "sequential")) {
    expect_lt(seconds_for(expect_error(
      makeClusterPSOCK(2, setup_strategy = setup_strategy, rscript_startup = quote(stop("not today")), tries = 1), "not today",
      class = "nodelay_error_start_failed"
    )), 20)
  }
  expect_lt(seconds_for(expect_error(
    makeClusterPSOCK("n1", rshcmd = local_ssh("echo 'ssh: no route' >&2; exit 255"), tries = 1), "exited with status 255.*ssh: no route"
  )), 20)
  log <- withr::local_tempfile()
  chatty <- local_ssh("echo 'debug: no route' > \"$2\"; exit 255")
  expect_error(makeClusterPSOCK("n1", rshcmd = chatty, rshlogfile = log, tries = 1), "debug: no route")
  expect_error(makeClusterPSOCK("n1", rshcmd = local_ssh(), rscript = "/no/Rscript", tries = 1), "exited with status 127.*/no/Rscript")
  expect_error(makeClusterPSOCK("n1", rshcmd = local_ssh(), rscript_startup = quote(stop("not today")), tries = 1), "not today")
})

test_that("tries and delay count for what failed to connect, on the same port", {
  count <- withr::local_tempfile()
  again <- function(num_failures) {
    unlink(count)
    local_ssh(sprintf("echo >> '%s'; [ $(wc -l < '%s') -gt %d ] || exit 255", count, count, num_failures), parent.frame())
  }
  cl <- local_cluster("n1", rshcmd = again(2), tries = 3, delay = 0.01)
  expect_identical(clusterCall(cl, identity, 1), list(1))
  expect_length(lines_of(count), 3L)
  expect_error(makeClusterPSOCK("n1", rshcmd = again(5), tries = 2, delay = 0.01), "exited with status 255.*started 2 times")
  expect_length(lines_of(count), 2L)
  begin <- Sys.time()
  expect_error(makeClusterPSOCK("n1", rshcmd = again(5), tries = 2, delay = 0.5))
  expect_gte(as.numeric(Sys.time() - begin, units = "secs"), 0.5)
  unlink(count)
  expect_argument_error(makeClusterPSOCK("n1", rshcmd = again(5), connectTimeout = -1, tries = 5))
  expect_length(lines_of(count), 0L)
})

test_that("starting workers leaves no file behind", {
  before <- list.files(tempdir())
  stopCluster(makeClusterPSOCK(2, setup_strategy = "sequential"))
  stopCluster(makeClusterPSOCK("n1", rshcmd = ssh <- local_ssh()))
  expect_identical(setdiff(list.files(tempdir()), c(before, basename(dirname(ssh)))), character())
})

test_that("a makeNode function may wrap makeNodePSOCK()", {
  ranks <- integer()
  my_node <- function(..., rank) {
    ranks <<- c(ranks, rank)
    makeNodePSOCK(..., rank = rank, rscript_envs = c(MINE = rank))
  }
  cl <- local_cluster(2, makeNode = my_node)
  expect_identical(unlist(clusterCall(cl, Sys.getenv, "MINE")), c("1", "2"))
  expect_identical(ranks, 1:2)
  expect_argument_error(makeClusterPSOCK(1, makeNode = function(...) structure(list(), class = "SOCKnode")), "action = \"options\"")
})

test_that("what would be launched can be kept and launched later", {
  plan <- makeNodePSOCK(action = "options", rscript_envs = c(MINE = "kept"))
  expect_s3_class(plan, "makeNodePSOCKOptions")
  node <- makeNodePSOCK(plan)
  cl <- structure(list(node), class = c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster"))
  expect_identical(clusterCall(cl, Sys.getenv, "MINE"), list("kept"))
  expect_cluster_ends(cl)
  port <- freePort()
  cl[[1]] <- makeNodePSOCK("localhost", port = port)
  expect_identical(clusterCall(cl, identity, 1), list(1))
  expect_cluster_ends(cl)
})

# -- By hand -------------------------------------------------------------------------------------

# A main process that waits for workers to be started by hand; `find` picks their commands from what
# it prints. Returns all that it printed.
started_by_hand <- function(call, find, num_workers) {
  log <- withr::local_tempfile()
  main <- start_script(c(
    "options(useFancyQuotes = FALSE, parallelly.makeNodePSOCK.port.increment = FALSE)", paste("cl <-", call),
    "cat('values', unlist(clusterCall(cl, identity, 42)), '\\n')", "stopCluster(cl)", "cat('done\\n')"
  ), log = log)
  expect_true(wait_until(function() length(find(lines_of(log))) == num_workers), label = paste(lines_of(log), collapse = "\n"))
  for (command in find(lines_of(log))) system(paste("(", command, ") </dev/null >/dev/null 2>&1 &"))
  expect_true(wait_until(function() "done" %in% lines_of(log), 30), label = paste(lines_of(log), collapse = "\n"))
  lines_of(log)
}

test_that("workers started by hand on this machine join", {
  find <- function(lines) grep("^  NODELAY_TOKEN=[0-9a-f]+ ", lines, value = TRUE)
  expect_true("values 42 42 " %in% started_by_hand("makeClusterPSOCK(2, manual = TRUE)", find, 2L))
  call <- "makeClusterPSOCK(1, manual = TRUE, rscript_call = 'parallel:::.workRSOCK()')"
  expect_true("values 42 " %in% started_by_hand(call, function(lines) grep("workRSOCK", lines, value = TRUE), 1L))
})

test_that("workers started by hand on another machine join, in one step or two", {
  call <- sprintf("makeClusterPSOCK(c('n1', 'n2'), manual = TRUE, rshcmd = '%s')", local_ssh())
  one <- function(lines) grep("^  echo [0-9a-f]+ [|] ", lines, value = TRUE)
  two <- function(lines) grep("^  NODELAY_TOKEN=[0-9a-f]+ ", lines, value = TRUE)
  expect_true("values 42 42 " %in% started_by_hand(call, one, 2L))
  expect_true("values 42 42 " %in% started_by_hand(call, two, 2L))
})

# -- Schedulers ----------------------------------------------------------------------------------

# As srun runs the words behind the name of the machine.
srun_lines <- c("while [ \"$1\" != -w ]; do shift; done", "shift 2", "exec \"$@\"")
# As qrsh -inherit and pjrsh give their words to a shell.
rsh_lines <- "for last; do :; done; exec sh -c \"$last\""

with_programs <- function(code) {
  folders <- c(
    dirname(local_program("srun", srun_lines)), dirname(local_program("qrsh", rsh_lines)), dirname(local_program("pjrsh", rsh_lines))
  )
  withr::with_path(folders, action = "prefix", code)
}

test_that("the remote shells of schedulers are known by name", {
  with_programs({
    expect_match(remote_shell("n1", rshcmd = "<srun>"), "srun' '--exact' '--overlap' '--overcommit' '--nodes=1' '--ntasks=1' '--cpus-per-task=1' -w n1$")
    expect_match(remote_shell("n1", rshcmd = "<srun>", rshopts = "--mem=1"), " --mem=1 -w n1$")
    expect_match(remote_shell("n1", rshcmd = "<qrsh>"), "qrsh' '-inherit' '-V' n1$")
    expect_match(remote_shell("n1", rshcmd = "<pjrsh>"), "pjrsh' n1$")
    with_settings(variables = c(SLURM_JOB_ID = "1"), expect_match(remote_shell("n1", rshcmd = "<hpc>"), "srun'"))
    with_settings(variables = c(PE_HOSTFILE = "/f"), expect_match(remote_shell("n1", rshcmd = "<hpc>"), "qrsh'"))
    with_settings(variables = c(PJM_JOBID = "1"), expect_match(remote_shell("n1", rshcmd = c("<hpc>", "<ssh>")), "pjrsh'"))
    with_settings({
      expect_argument_error(remote_shell("n1", rshcmd = "<hpc>"), "no job of a known scheduler")
      expect_match(remote_shell("n1", rshcmd = c("<hpc>", "<ssh>")), "ssh' -R")
    })
  })
})

test_that("workers come by the remote shells of schedulers, directly", {
  with_programs(for (rshcmd in list("<srun>", "<qrsh>", "<pjrsh>", c("srun", "-w"))) for (rscript in list(NULL, c("FOO=a b", "*"))) {
    cl <- local_cluster(c("n1", "n2"), rshcmd = rshcmd, rscript = rscript, master = "127.0.0.1", rscript_libs = "*")
    expect_identical(clusterCall(cl, identity, 1), list(1, 1))
    expect_identical(asked_environment(cl, "FOO"), if (is.null(rscript)) "" else "a b")
  })
})
