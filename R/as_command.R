# Functions that can be called from a shell: `Rscript -e nodelay::availableCores --omit=1`.
# Rscript prints the function, and its print method calls it. They are made by as_command() as
# the package is built, in alphabetical order of the files: this one is before theirs.

as_command <- function(fun) structure(fun, class = c("nodelay_command", "function"))

#' @export
print.nodelay_command <- function(x, ...) {
  if (is_command_line(x, commandArgs())) {
    print(do.call(x, command_arguments(x, commandArgs(trailingOnly = TRUE))))
  } else {
    print(unclass(x), ...)
  }
  invisible(x)
}

# Whether R was started for this function alone.
is_command_line <- function(fun, arguments) {
  expression <- arguments[match("-e", arguments) + 1L]
  name <- sub("^nodelay::", "", expression)
  !is.na(name) && name != expression && name %in% getNamespaceExports("nodelay") &&
    identical(getExportedValue("nodelay", name), fun)
}

# "--omit=1", "--methods=system,nproc" as a list of values.
command_arguments <- function(fun, arguments) {
  pattern <- "^--([[:alpha:].]+)=(.*)$"
  names <- sub(pattern, "\\1", arguments)
  is_known <- grepl(pattern, arguments) & (names %in% names(formals(fun)) | "..." %in% names(formals(fun)))
  if (!all(is_known)) {
    stop_argument("Unknown command-line arguments: ", paste(arguments[!is_known], collapse = " "))
  }
  values <- strsplit(sub(pattern, "\\2", arguments), ",", fixed = TRUE)
  structure(lapply(values, utils::type.convert, as.is = TRUE), names = names)
}
