#' Size of a value once it is serialized
#'
#' Counts the bytes that [serialize()] would make of a value, without making them: what it
#' takes to send the value to a worker.
#'
#' @param obj Any R value.
#'
#' @return A single double: the number of bytes in version 3 of R's format. The XDR encoding and
#'   this machine's own take the same number.
#'
#' @section Errors:
#' Those of [serialize()].
#'
#' @examples
#' serializedSize(mtcars)
#' length(serialize(mtcars, NULL))
#' @export
serializedSize <- function(obj) serialized_size(obj)
