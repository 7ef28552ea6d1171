#' Identify connections, and see whether they are still there
#'
#' R's connections are numbers of a table of fixed size, so that an old connection object may come
#' to stand for another connection that was opened later. Each also carries an identifier
#' of its own, by which these functions tell them apart.
#'
#' @param con A connection, of class `connection`.
#' @param target,current Two connections to compare.
#' @param ... Not used.
#'
#' @return `connectionId()`: a single number: 0, 1 or 2 for [stdin()], [stdout()] and [stderr()], a
#'   number from 3 on for another connection, -1 for one that was serialized, and `NA` for one
#'   that carries no identifier. Where it was read from the connection, attribute `raw_id`
#'   is the string that R prints for it.
#'
#'   `isConnectionValid()`: `TRUE`, or `FALSE` with attribute `reason`, a string.
#'
#'   The method of [all.equal()]: `TRUE` where both are the same connection, else a string.
#'
#' @section Errors:
#' `nodelay_error_argument` where `con` is no connection.
#'
#' @examples
#' con <- rawConnection(raw(0))
#' connectionId(con)
#' isConnectionValid(con)
#' copy <- unserialize(serialize(con, NULL))
#' connectionId(copy)
#' isConnectionValid(copy)
#' close(con)
#' isConnectionValid(con)
#' @export
connectionId <- function(con) {
  index <- connection_index(con)
  if (index <= 2L) return(index)
  raw_id <- raw_connection_id(con)
  if (is.na(raw_id)) return(NA_integer_)
  structure(number_of_pointer(raw_id), raw_id = raw_id)
}

#' @rdname connectionId
#' @export
isConnectionValid <- function(con) {
  index <- connection_index(con)
  if (index <= 2L) return(TRUE)
  if (!index %in% getAllConnections()) {
    return(structure(FALSE, reason = sprintf("Connection #%d has been closed: R has no connection of that number now.", index)))
  }
  present <- getConnection(index)
  if (identical(raw_connection_id(con), raw_connection_id(present))) return(TRUE)
  structure(FALSE, reason = sprintf(
    "Connection #%d %s. R's connection of that number now is another one: %s of class %s.", index,
    if (connectionId(con) %in% -1L) "was serialized" else "has been closed",
    sQuote(summary(present)$description, FALSE), sQuote(class(present)[1L], FALSE)
  ))
}

#' @rdname connectionId
#' @method all.equal connection
all.equal.connection <- function(target, current, ...) {
  if (identical(target, current)) TRUE else "Connections differ"
}

# Newer versions of parallelly have the same method. R tells the user where a package overwrites a
# method that is not its own, which it sees by the name of what encloses that: this one has the name of
# parallelly, so that it gives way without a word. Nor does it take the place of another.
register_connection_method <- function() {
  present <- utils::getS3method("all.equal", "connection", optional = TRUE, envir = baseenv())
  if (!is.null(present)) return(invisible())
  method <- all.equal.connection
  environment(method) <- structure(new.env(parent = topenv()), name = "parallelly")
  registerS3method("all.equal", "connection", method, envir = baseenv())
}

#' Count R's connections
#'
#' How many connections an R process can have at a time, the three standard ones among them, and how
#' many of these are free. It is 128 unless R (>= 4.4.0) was started with
#' `--max-connections`. Each node of \pkg{parallel} and \pkg{parallelly} takes one.
#'
#' R does not tell, so `availableConnections()` opens connections until none is left. It does
#' so once in a session.
#'
#' @return A single number. `Inf` where R has room for more than the option
#'   `parallelly.availableConnections.tries`, by default 16384. The option
#'   `parallelly.availableConnections` overrides the number that is found.
#'
#' @section Errors:
#' `nodelay_error_argument` where one of the options is no number, or
#' `parallelly.availableConnections` is below 3.
#'
#' @examples
#' availableConnections()
#' freeConnections()
#' @export
availableConnections <- function() {
  given <- given_connections()
  if (!is.null(given)) return(given)
  tries <- as_option(
    setting("availableConnections.tries", 16384L), "parallelly.availableConnections.tries", "of 0 or more", function(x) x >= 0
  )
  if (is.null(the$num_connections)) {
    found <- count_connections(tries)
    if (found == Inf) return(found) # more tries may find more
    the$num_connections <- found
  }
  the$num_connections
}

# What the user says, NULL where nothing: R has the first three in any case.
given_connections <- function() {
  given <- setting("availableConnections", NULL)
  if (!is.null(given)) as_option(given, "parallelly.availableConnections", "of 3 or more", function(x) x >= 3)
}

#' @rdname availableConnections
#' @export
freeConnections <- function() availableConnections() - length(getAllConnections())

count_connections <- function(most) {
  opened <- list()
  on.exit(for (con in opened) close(con))
  gc(verbose = FALSE) # else R does so when none is left, with a warning for each that was lost
  while (length(opened) < most) {
    con <- tryCatch(rawConnection(raw(0)), error = function(e) NULL)
    if (is.null(con)) return(length(getAllConnections()))
    opened[[length(opened) + 1L]] <- con
  }
  Inf
}

connection_index <- function(con) {
  if (inherits(con, "connection")) return(as.integer(con))
  stop_argument("Argument 'con' must be a connection, not ", shown(con), ".")
}

# "<pointer: 0xcf>"; NA where there is none.
raw_connection_id <- function(con) {
  id <- attr(con, "conn_id", exact = TRUE)
  if (is.null(id)) NA_character_ else deparse(id)
}

# -1 for the null pointer, however this platform prints it.
number_of_pointer <- function(text) {
  digits <- sub("^<pointer: (0x)?([^>]*)>$", "\\2", text)
  if (grepl("^0*$|nil", digits)) return(-1L)
  number <- as.numeric(paste0("0x", digits))
  if (number <= .Machine$integer.max) as.integer(number) else number
}
