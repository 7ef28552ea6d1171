# The programs that run a command on another machine.

# `program`: its words; `before_host`: what stands between all options and the name of the
# machine; `job`: the environment variable that its scheduler sets. Whatever starts the worker
# passes on standard input, where the worker finds its token: no -nostdin for qrsh.
remote_shells <- list(
  ssh = list(program = "ssh"),
  "putty-plink" = list(program = c("plink", "-ssh")),
  srun = list(
    program = c("srun", "--exact", "--overlap", "--overcommit", "--nodes=1", "--ntasks=1", "--cpus-per-task=1"),
    before_host = "-w", job = "SLURM_JOB_ID"
  ),
  qrsh = list(program = c("qrsh", "-inherit", "-V"), job = "PE_HOSTFILE"),
  pjrsh = list(program = "pjrsh", job = "PJM_JOBID")
)

# What can be told of it even where it is not needed.
ensure_remote_shell <- function(rshcmd) {
  if (is.function(rshcmd)) {
    formals <- names(formals(args(rshcmd)))
    if (!"..." %in% formals && !all(c("rshopts", "worker") %in% formals)) {
      stop_argument("Argument 'rshcmd': the function must take the arguments 'rshopts' and 'worker'.")
    }
  } else if (!is.null(rshcmd) && (!is.character(rshcmd) || length(rshcmd) == 0L || anyNA(rshcmd))) {
    stop_argument("Argument 'rshcmd' must be NULL, a non-empty character vector or a function, not ", shown(rshcmd), ".")
  }
}

# The program: its words, what stands in front of the machine's name, and the kind of program.
as_remote_shell <- function(rshcmd, is_only_shown) {
  words <- as_words(rshcmd, "rshcmd")
  if (!is.null(rshcmd) && length(words) == 0L) stop_argument("Argument 'rshcmd' must name a program, not ", shown(rshcmd), ".")
  if (length(words) == 0L || identical(words, "")) words <- "<ssh>"
  if (all(grepl("^<.*>$", words))) return(typed_remote_shell(words, is_only_shown))
  if (!nzchar(words[[1L]])) refuse_program("")
  kind <- sub("[.]exe$", "", basename(words[[1L]]))
  list(program = words, before_host = character(), kind = if (kind == "plink") "putty-plink" else kind)
}

# Before anything is started. What is planned or shown may be meant for another time or machine.
ensure_programs <- function(plans) {
  programs <- unique(unlist(lapply(plans, function(plan) if (!plan$manual) plan$remote$program[1L])))
  missing <- Filter(function(program) !nzchar(Sys.which(program)), programs)
  if (length(missing) > 0L) refuse_program(missing[[1L]])
}

refuse_program <- function(program) {
  stop_argument("Argument 'rshcmd': there is no program ", sQuote(program, FALSE), " on this machine.")
}

# The first of these types, such as "<ssh>", that is there.
typed_remote_shell <- function(types, is_only_shown) {
  names <- unlist(lapply(gsub("[<>]", "", types), function(name) if (name == "hpc") job_shell(types) else name))
  unknown <- setdiff(names, names(remote_shells))
  if (length(unknown) > 0L) {
    stop_argument(
      "Unknown 'rshcmd' type: ", paste(sQuote(unknown, FALSE), collapse = ", "), ". Known are ",
      paste0("\"<", c(names(remote_shells), "hpc"), ">\"", collapse = ", "), "."
    )
  }
  programs <- vapply(remote_shells[names], function(shell) shell$program[[1L]], "")
  found <- names[nzchar(Sys.which(programs))]
  if (length(found) == 0L) {
    what <- if (all(names == "ssh")) "a default SSH client" else "a program that reaches other machines"
    text <- paste0("Failed to locate ", what, " (checked: ", paste(sQuote(unique(programs), FALSE), collapse = ", "), "). Please specify one via argument 'rshcmd'.")
    if (!is_only_shown) stop_argument(text)
    warning(text, " Will still try with ", sQuote(programs[[1L]], FALSE), ".", call. = FALSE)
    found <- names
  }
  shell <- remote_shells[[found[[1L]]]]
  path <- unname(Sys.which(shell$program[[1L]]))
  if (nzchar(path)) shell$program[[1L]] <- path
  list(program = shell$program, before_host = as.character(shell$before_host), kind = found[[1L]])
}

# The remote shell of the scheduler whose job this is; none where there are others in `types`.
job_shell <- function(types) {
  is_ours <- vapply(remote_shells, function(shell) !is.null(shell$job) && nzchar(Sys.getenv(shell$job)), NA)
  if (any(is_ours)) return(names(remote_shells)[is_ours][[1L]])
  if (length(types) > 1L) return(NULL)
  stop_argument(
    "rshcmd = \"<hpc>\": this is no job of a known scheduler, for none of ",
    paste(unlist(lapply(remote_shells, `[[`, "job")), collapse = ", "),
    " is set. Use rshcmd = c(\"<hpc>\", \"<ssh>\") to have ssh instead."
  )
}

# "name:22" as the name and the port of its ssh server, which is 0L where there is none.
host_and_port <- function(host) {
  pattern <- "^([^:]+|\\[.*\\]):([0-9]{1,5})$"
  if (!grepl(pattern, host)) return(list(host = as.character(host), port = 0L))
  list(host = gsub("[][]", "", sub(pattern, "\\1", host)), port = as.integer(sub(pattern, "\\2", host)))
}
