# SPDX-License-Identifier: MIT
# Each argument does what it says, on native and on base-R workers.

for_native_and_base <- function(test) for (engine in c("native", "base")) test(engine)

asked <- function(cl, ...) within_seconds(20, clusterCall(cl, ...))[[1L]]

nasty <- c(
  "a\"b", "a'b", "C:\\Users\\new", "a\\tb", "two\nlines", " both ends ", "caf\u00e9 \u4e2d\u6587", "$HOME `id` $(id)", "%d %s", "#;&|<>*?~!", "="
)

test_that("rscript_options sets R options to values of any kind", {
  options <- list(
    digits = 3L, "odd name \"'" = "odd \"'\\ value", a_function = identity, a_list = list(NULL, b = 1), a_formula = stats::as.formula("y ~ x", globalenv()),
    a_call = quote(stop("not run")), scipen = 7, text = nasty, warn = 1
  )
  for_native_and_base(function(engine) {
    cl <- local_cluster(1, engine = engine, rscript_options = options)
    expect_equal(asked(cl, task(function(names) options()[names]), names(options)), options)
  })
})

test_that("rscript_options set to NULL removes an option", {
  profile <- withr::local_tempfile(lines = "options(mine = 1)")
  cl <- local_cluster(1, rscript_options = list(mine = NULL), rscript_envs = c(R_PROFILE_USER = profile))
  expect_identical(asked(cl, getOption, "mine", "gone"), "gone")
})

test_that("rscript_startup takes an expression, lines of code, or a list of these", {
  forms <- list(
    quote({ first <- 1; second <- "two" }), expression(first <- 1, second <- "two"), c("first <- 1 # a comment", "second <- \"two\""),
    list(quote(first <- 1), "second <- 'two'"), list(expression(first <- 1), list("second <-", quote(0)))[1], "first <- 1; second <- 'two'"
  )
  forms[[5]] <- list(forms[[5]], "second <- if (TRUE) {\n 'two' } else 3")
  for_native_and_base(function(engine) for (form in forms) {
    cl <- makeClusterPSOCK(1, engine = engine, rscript_startup = form)
    expect_identical(asked(cl, task(function() list(first, second))), list(1, "two"))
    expect_cluster_ends(cl)
  })
})

test_that("rscript_startup runs in the global environment, after all else has taken effect", {
  library <- withr::local_tempdir()
  for_native_and_base(function(engine) {
    cl <- local_cluster(1,
      engine = engine, rscript_envs = c(MINE = "set"), rscript_libs = c(library, "*"), rscript_options = list(mine = 5),
      rscript_startup = quote(seen <- list(Sys.getenv("MINE"), .libPaths()[1L], getOption("mine"), environment(), getOption("socketOptions")))
    )
    expect_identical(asked(cl, task(function() seen)), list("set", normalizePath(library), 5, globalenv(), "no-delay"))
  })
})

test_that("rscript_envs sets, copies and unsets environment variables", {
  withr::local_envvar(NO_DELAY_COPIED = nasty[1L], NO_DELAY_REMOVED = "here", NO_DELAY_KEPT = "kept")
  values <- structure(nasty, names = paste0("NO_DELAY_SET_", seq_along(nasty)))
  for_native_and_base(function(engine) {
    cl <- local_cluster(1, engine = engine, rscript_envs = c(values, "NO_DELAY_COPIED", NO_DELAY_REMOVED = NA, "_R_ODD_" = "", TZ = "Asia/Tokyo"))
    expect_identical(asked(cl, Sys.getenv, names(values)), values)
    expect_identical(asked(cl, Sys.getenv, c("NO_DELAY_COPIED", "NO_DELAY_REMOVED", "NO_DELAY_KEPT", "_R_ODD_"), "unset", names = FALSE), c(nasty[1L], "unset", "kept", ""))
    expect_identical(asked(cl, task(function() format(as.POSIXct(0, origin = "1970-01-01"), "%H"))), "09")
  })
})

test_that("rscript_envs takes numbers and NA of any type for variables that have a name", {
  withr::local_envvar(NO_DELAY_REMOVED = "here")
  cl <- local_cluster(1, rscript_envs = c(NO_DELAY_NUMBER = 2, NO_DELAY_REMOVED = NA))
  expect_identical(asked(cl, Sys.getenv, c("NO_DELAY_NUMBER", "NO_DELAY_REMOVED"), "unset", names = FALSE), c("2", "unset"))
  cl <- local_cluster(1, rscript_envs = c(NO_DELAY_REMOVED = NA))
  expect_identical(asked(cl, Sys.getenv, "NO_DELAY_REMOVED", "unset"), "unset")
})

test_that("environment variables are there when R starts", {
  seen <- withr::local_tempfile()
  profile <- withr::local_tempfile(lines = "cat(Sys.getenv('NO_DELAY_EARLY'), file = Sys.getenv('NO_DELAY_SEEN'))")
  for_native_and_base(function(engine) {
    local_cluster(1, engine = engine, rscript_envs = c(R_PROFILE_USER = profile, NO_DELAY_EARLY = engine, NO_DELAY_SEEN = seen))
    expect_identical(lines_of(seen), engine)
  })
})

test_that("a variable to be copied that is not there is a warning", {
  expect_warning(cl <- makeClusterPSOCK(1, rscript_envs = "NO_DELAY_NO_SUCH"), "Did not pass down missing environment variables to cluster node: 'NO_DELAY_NO_SUCH'")
  expect_identical(asked(cl, Sys.getenv, "NO_DELAY_NO_SUCH", NA), NA_character_)
  expect_cluster_ends(cl)
})

test_that("a worker may start workers of its own", {
  for (way in ways) {
    cl <- cluster_for(way, 1)
    for (inner in ways) {
      expect_identical(asked(cl, task(function(way) {
        cl <- do.call(nodelay::makeClusterPSOCK, c(list(1, timeout = 60), way))
        on.exit(parallel::stopCluster(cl))
        parallel::clusterCall(cl, identity, 5)
      }), inner), list(5))
    }
  }
})

# What R makes of these library paths.
with_libraries <- function(libs) {
  before <- .libPaths()
  on.exit(.libPaths(before))
  .libPaths(libs)
  .libPaths()
}

test_that("rscript_libs sets the library paths, with * for the worker's own", {
  odd <- file.path(withr::local_tempdir(), "odd 'lib\" $HOME \u00e9") # R takes a backslash as part of a pattern
  dir.create(odd)
  for_native_and_base(function(engine) {
    paths <- function(libs) {
      cl <- makeClusterPSOCK(1, engine = engine, rscript_libs = libs)
      on.exit(stopCluster(cl))
      asked(cl, ".libPaths") # by name: the function itself carries the paths of this process
    }
    own <- paths(NULL)
    expect_identical(paths(c(odd, "*")), c(normalizePath(odd), own))
    expect_identical(paths(c("*", odd)), c(own, normalizePath(odd)))
    expect_identical(paths(odd), with_libraries(odd))
    expect_identical(paths("*"), own)
  })
})

test_that("default_packages and methods say what is attached", {
  attached <- function(...) {
    cl <- makeClusterPSOCK(1, ...)
    on.exit(stopCluster(cl))
    sub("package:", "", grep("^package:", asked(cl, search), value = TRUE))
  }
  for_native_and_base(function(engine) {
    expect_setequal(attached(engine = engine), c("datasets", "utils", "grDevices", "graphics", "stats", "methods", "base"))
    expect_setequal(attached(engine = engine, methods = FALSE), c("datasets", "utils", "grDevices", "graphics", "stats", "base"))
    expect_setequal(attached(engine = engine, default_packages = c("splines", "stats")), c("splines", "stats", "base"))
    expect_setequal(attached(engine = engine, default_packages = c("tools", "*")), c("tools", getOption("defaultPackages"), "base"))
  })
  expect_setequal(attached(default_packages = NULL), c(getOption("defaultPackages"), "base"))
})

test_that("outfile takes what the worker writes", {
  say <- task(function(text) {
    cat(paste0(text, " out\n")) # in one write, since two workers share the file
    message(text, " err")
  })
  for_native_and_base(function(engine) {
    file <- file.path(withr::local_tempdir(), "odd 'name\".log")
    writeLines("old", file)
    cl <- makeClusterPSOCK(2, engine = engine, outfile = file)
    asked(cl, say, "hello")
    expect_cluster_ends(cl)
    lines <- lines_of(file)
    expect_identical(sum(lines == "hello out"), 2L)
    expect_identical(sum(lines == "hello err"), 2L)
    expect_false("old" %in% lines)
    for (outfile in c("''", "NULL")) {
      told <- run_script(c(
        sprintf("cl <- makeClusterPSOCK(1, engine = '%s', outfile = %s)", engine, outfile),
        "invisible(clusterCall(cl, eval, quote({ cat('hello out\\n'); message('hello err') })))", "stopCluster(cl)"
      ))
      expect_true(all(c("hello out", "hello err") %in% told), label = paste(engine, outfile))
    }
    told <- run_script(c(
      sprintf("cl <- makeClusterPSOCK(1, engine = '%s')", engine),
      "invisible(clusterCall(cl, eval, quote({ cat('hello out\\n'); message('hello err') })))", "stopCluster(cl)"
    ))
    expect_identical(told, character())
  })
})

test_that("useXDR gives the class, and calls and values are the same", {
  for (way in ways) {
    cl <- cluster_for(way, 1, useXDR = TRUE)
    expect_identical(class(cl[[1]]), c("nodelay_node", "RichSOCKnode", "SOCKnode"))
    expect_identical(asked(cl, task(function(...) list(...)), 1:10, iris, pi), list(1:10, iris, pi))
  }
})

test_that("validate asks for the worker's session, or does not", {
  for (way in ways) {
    node <- cluster_for(way, 1)[[1]]
    expect_identical(node$session_info$r$version.string, R.version.string)
    expect_identical(node$session_info$process$pid, attr(node, "pid"))
    expect_identical(node$session_info$libs, .libPaths()[file.exists(.libPaths())])
    cl <- cluster_for(way, 1, validate = FALSE)
    expect_false("session_info" %in% names(cl[[1]]))
    expect_output(print(cl), "R version and platform not queried")
  }
})

test_that("the packages in a worker's libraries are told where an option asks for them", {
  pkgs <- function(...) {
    cl <- local_cluster(1, ...)
    cl[[1]]$session_info$pkgs
  }
  expect_null(pkgs())
  withr::local_options(parallelly.makeNodePSOCK.sessionInfo.pkgs = TRUE)
  for_native_and_base(function(engine) {
    found <- pkgs(engine = engine)
    expect_named(found)
    expect_true(paste0("parallel_", getRversion()) %in% unlist(found))
  })
})

test_that("a base-R worker needs no nodelay, and loads none", {
  withr::local_envvar(R_LIBS = withr::local_tempdir(), R_LIBS_USER = NULL, R_LIBS_SITE = withr::local_tempdir())
  cl <- local_cluster(1, engine = "base")
  expect_false("nodelay" %in% asked(cl, loadedNamespaces))
  expect_identical(asked(cl, identity, 1), 1)
})

test_that("workers start whatever the language of messages is", {
  for (language in c("ko", "zh_CN", "zh_TW")) {
    withr::local_envvar(LANGUAGE = language)
    for_native_and_base(function(engine) expect_identical(asked(local_cluster(1, engine = engine), identity, 1), 1))
  }
})

test_that("engine and transport say what runs on the worker and what connects it", {
  runs <- task(function() c(native = "nodelay" %in% loadedNamespaces(), tcp = nrow(showConnections()) > 0L))
  expect_identical(asked(local_cluster(1), runs), c(native = TRUE, tcp = FALSE))
  expect_identical(asked(local_cluster(1, engine = "base"), runs), c(native = FALSE, tcp = TRUE))
  expect_identical(asked(local_cluster(1, engine = "base", rscript_envs = c(R_LIBS = NA_character_)), runs), c(native = FALSE, tcp = TRUE))
  expect_identical(asked(local_cluster(1, rscript_envs = c(R_LIBS = NA_character_)), runs), c(native = TRUE, tcp = FALSE))
})

test_that("the token of a worker stands on no command line and in no variable", {
  for (way in ways[c("tcp", "base")]) {
    cl <- cluster_for(way, 1)
    expect_identical(asked(cl, Sys.getenv, "NODELAY_TOKEN", "none"), "none")
    line <- readLines(file.path("/proc", pids_of(cl), "cmdline"), warn = FALSE, skipNul = TRUE)
    expect_no_match(line, "[0-9a-f]{64}")
  }
})

test_that("one node may be started by itself, with its rank", {
  for (way in ways) {
    node <- do.call(makeNodePSOCK, c(list(rank = 3L), way))
    expect_identical(node$rank, 3L)
    cl <- structure(list(node), class = c("nodelay_cluster", "RichSOCKcluster", "SOCKcluster", "cluster"))
    expect_identical(asked(cl, Sys.getpid), attr(node, "pid"))
    expect_cluster_ends(cl)
  }
})
