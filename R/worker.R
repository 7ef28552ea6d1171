# The whole life of a worker, called by the last expression of its command line.
# `master` is looked up by name in this frame by packages, future among them, whose
# tasks send values before they end.
run_worker <- function() {
  if (nzchar(Sys.getenv("NODELAY_TEMPLATE"))) fork_workers()
  link <- worker_connect(tempdir())
  master <- structure(list(), link = link, class = c("nodelay_master", "SOCK0node"))
  enclosure <- asNamespace("parallel")
  # The handlers are set up once for many calls, and again only after an error. Outside of
  # them an interrupt, which may come late, waits.
  suspendInterrupts(while (tryCatch(
    allowInterrupts(worker_serve(link, enclosure)),
    error = function(e) worker_fail(link, error_value(e)),
    interrupt = function(e) worker_interrupted(link)
  )) {})
}

# What a template does in place of a worker; returns in the workers that it forks.
fork_workers <- function() {
  worker_fork(tempdir(), is_pristine())
  # The other one is the template's. Few workers have clusters of their own.
  delayedAssign("session", session_new(), assign.env = the)
}

# A start-up file, or a package that it loads, may have drawn random numbers, put files into the temporary
# folder or opened connections: things that workers must not share.
is_pristine <- function() {
  !exists(".Random.seed", globalenv(), inherits = FALSE) &&
    length(list.files(tempdir(), all.files = TRUE, no.. = TRUE)) == 0L &&
    nrow(showConnections()) == 0L
}

# What parallel's workers send in place of the value of a call that failed.
error_value <- function(e) {
  message <- tryCatch(conditionMessage(e), error = function(e) "an error whose message cannot be read")
  structure(message, class = c("snow-try-error", "try-error"))
}

#' @exportS3Method parallel::sendData
sendData.nodelay_master <- function(node, data) worker_send_event(attr(node, "link"), data)

# The first call on each worker makes it ready. It uses base R alone, since not every
# worker has nodelay. An error ends the worker, as one in a script does: the main
# process then tells of its exit status and last lines.
set_up_worker <- function(settings) {
  tryCatch(
    {
      Sys.unsetenv(settings$unset)
      if (length(settings$set) > 0L) do.call(Sys.setenv, as.list(settings$set))
      if (!is.null(settings$libs)) {
        libs <- as.list(settings$libs)
        libs[settings$libs == "*"] <- list(.libPaths())
        .libPaths(unlist(libs))
      }
      options(settings$options)
      for (code in settings$startup) eval(code, globalenv())
    },
    error = function(e) {
      call <- conditionCall(e)
      at <- if (is.null(call)) "" else paste0(" in ", deparse(call, nlines = 1L)[1L])
      cat("Error", at, " : ", conditionMessage(e), "\n", sep = "", file = stderr())
      quit(save = "no", status = 1L, runLast = FALSE)
    }
  )
  if (!settings$validate) return(list(tempdir = tempdir()))
  list(
    r = c(R.version, os.type = .Platform$OS.type),
    system = as.list(Sys.info()),
    l10n = l10n_info(),
    extSoftVersion = extSoftVersion(),
    pwd = getwd(),
    tempdir = tempdir(),
    libs = .libPaths(),
    pkgs = if (isTRUE(settings$pkgs)) {
      sapply(.libPaths(), simplify = FALSE, FUN = function(lib) {
        found <- utils::installed.packages(lib.loc = lib)
        if (nrow(found) > 0L) paste0(found[, "Package"], "_", found[, "Version"])
      })
    },
    process = list(pid = Sys.getpid())
  )
}
environment(set_up_worker) <- baseenv()
