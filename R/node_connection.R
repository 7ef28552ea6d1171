# Element `con` of a node: a genuine socket connection of R, for packages that ask by
# socketSelect() whether a worker has answered; future is one. It is made when somebody asks for
# it, so a cluster that nobody asks takes none of R's 128 connections. It can be polled, and
# is readable while a reply waits or once the worker is lost; reading from it gives nothing,
# writing to it is an error, and neither touches the node. It is closed when the node is stopped.

#' @export
`$.nodelay_node` <- function(x, name) {
  if (name == "con") node_socket_connection(node_handle(x)) else .subset2(x, name, exact = FALSE)
}

#' @export
`[[.nodelay_node` <- function(x, i, ...) {
  if (identical(i, "con")) node_socket_connection(node_handle(x)) else .subset2(x, i, ...)
}

# Called by socket_connection() in src/r/main/node_handle.cpp, which puts another descriptor in the place of
# the one that R opens here. Whoever writes to it waits in vain, but no longer than the timeout, 1 s.
open_connection <- function(port) {
  socketConnection("127.0.0.1", port = port, open = "a+b", blocking = TRUE, timeout = 1L)
}

# R gives the number of a closed connection to the next one: it may be somebody else's by now.
close_connection <- function(con) {
  if (isConnectionValid(con)) close(con)
}
