# Raises a condition of class nodelay_error_<kind>. Called by the C++ side for every
# error; docs/errors.md lists the kinds. A call on a whole cluster that fails leaves
# calls under way on the other nodes: they are given up first.
signal_error <- function(kind, message, fields = list()) {
  give_up_cluster_call()
  # What parallelly raises where a worker does not come up, and otherwise.
  theirs <- c(if (kind == "start_failed") "PSOCKConnectionError", "simpleError")
  stop(structure(
    class = c(paste0("nodelay_error_", kind), "nodelay_error", theirs, "error", "condition"),
    c(list(message = message, call = NULL), fields)
  ))
}

stop_argument <- function(...) signal_error("argument", paste0(...))
