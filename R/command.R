# The command that starts a worker: what src/r/main/command_plan.cpp makes one of, and how it is shown.

# The worker's command but for its last expression.
command_plan <- function(rscript, homogeneous, rscript_args, rscript_call, default_packages, renice, calls) {
  own <- if (homogeneous) file.path(R.home("bin"), "Rscript") else "Rscript"
  program <- as_rscript(rscript, own, homogeneous)
  arguments <- as_rscript_args(rscript_args)
  call <- as_rscript_call(rscript_call)
  list(
    program = as.character(program), is_raw = rep(inherits(program, "AsIs"), length(program)),
    is_rscript = basename(program[[1L]]) %in% c("Rscript", "Rscript.exe"),
    is_default = homogeneous && identical(as.character(sub("^[[:alpha:]_][[:alnum:]_]*=.*", "", program)[nzchar(program)]), own) && length(unlist(arguments)) == 0L,
    default_packages = as_default_packages(default_packages),
    before = arguments$before, after = arguments$after,
    code = as.character(c(label_code(), if (is_flag(calls, "calls")) calls_code())),
    call = call, has_own_code = !is.null(call) || runs_own_loop(unlist(arguments)),
    niceness = as_niceness(renice)
  )
}

runs_own_loop <- function(arguments) any(grepl("parallel:::[.](slave|work)RSOCK[(][)]", arguments))

# Tells a reader of ps what the worker is for: a text of the user's own, or who started it.
label_code <- function() {
  label <- setting("makeNodePSOCK.rscript_label", NULL)
  if (is.null(label) || label %in% c(NA, "", "FALSE")) return(NULL)
  if (label == "TRUE") label <- paste("nodelay", Sys.getpid(), Sys.info()[["nodename"]], Sys.info()[["user"]], sep = ":")
  paste0("#label=", label)
}

# The functions that called makeClusterPSOCK(), or makeNodePSOCK(), for a reader of ps.
calls_code <- function() {
  names <- vapply(sys.calls(), function(call) if (is.name(call[[1L]])) as.character(call[[1L]]) else "", "")
  first <- match(TRUE, names %in% c("makeClusterPSOCK", "makeNodePSOCK"), length(names))
  names <- gsub("[^[:alnum:]._]", "", names[seq_len(first)])
  sprintf("invisible(\"calls:%s\")", paste(names[nzchar(names)], collapse = "->"))
}

# How a command gets to another machine.
remote_plan <- function(host, rshcmd, rshopts, user, revtunnel, rshlogfile, is_only_shown) {
  is_function <- is.function(rshcmd)
  shell <- if (is_function) list(kind = "function") else as_remote_shell(rshcmd, is_only_shown)
  has_tunnel <- shell$kind %in% c("ssh", "putty-plink")
  rshopts <- as_words(rshopts, "rshopts")
  if (!is.null(user)) user <- as_word(user, "user")
  revtunnel <- as_tristate(revtunnel, "revtunnel")
  at <- if (has_tunnel) host_and_port(host) else list(host = as.character(host), port = 0L)
  list(
    host = at$host, program = as.character(shell$program), is_raw = rep(FALSE, length(shell$program)),
    call = if (is_function) function(options) as_word(rshcmd(rshopts = options, worker = as.character(host)), "value of rshcmd()"),
    log = as_log_file(rshlogfile), log_option = if (shell$kind == "putty-plink") "-sshlog" else "-E",
    tunnel = if (is.na(revtunnel)) has_tunnel else revtunnel, tunnel_end = "localhost",
    user = if (is.null(user) || user == "*") "" else user,
    options = c(if (at$port > 0L) c(if (shell$kind == "ssh") "-p" else "-P", at$port), rshopts, shell$before_host),
    # srun runs words, not a text for a shell.
    outer_shell = if (shell$kind == "srun") "none" else "sh"
  )
}

show_command <- function(plan, port) {
  texts <- node_command(plan, port)
  token <- if (plan$greeting == "unknown") "" else "<secret>"
  announce_command(plan, texts$worker, texts$remote_shell, texts$whole, token)
}

# Tells what to run by hand. `token`: what the worker has to know.
announce_command <- function(plan, worker, remote_shell, whole, token) {
  if (plan$quiet) return(invisible())
  if (nzchar(token)) {
    set <- if (plan$inner_shell == "cmd") "set \"NODELAY_TOKEN=%s\" && %s" else "NODELAY_TOKEN=%s %s"
    worker <- sprintf(set, token, worker)
    whole <- paste("echo", token, "|", whole)
  }
  cat(strrep("-", 70L), "\n", sep = "")
  if (plan$localhost) {
    cat(sprintf("Manually, start worker #%d on local machine %s with:\n\n  %s\n", plan$rank, sQuote(plan$host), worker))
  } else {
    cat(sprintf("Manually, (i) login into external machine %s:\n\n  %s\n", sQuote(plan$host), remote_shell))
    cat(sprintf("\nand (ii) start worker #%d from there:\n\n  %s\n", plan$rank, worker))
    cat(sprintf("\nAlternatively, start worker #%d from the local machine by combining both steps in a single call:\n\n  %s\n\n", plan$rank, whole))
  }
  utils::flush.console()
}
