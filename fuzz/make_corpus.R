# SPDX-License-Identifier: MIT
# Writes the seeds of the fuzzers. Run in this folder: LC_ALL=C.UTF-8 Rscript make_corpus.R

little_endian <- function(value, num_bytes) as.raw(value %/% 256^(seq_len(num_bytes) - 1) %% 256)

write_seed <- function(fuzzer, name, bytes) {
  folder <- file.path("corpus", fuzzer)
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  writeBin(bytes, file.path(folder, name))
}

# Messages of templates: docs/protocol.md.
request <- function(numbers, variables) {
  c(charToRaw("NF"), little_endian(length(numbers), 2), unlist(lapply(numbers, little_endian, 4)),
    unlist(lapply(variables, function(text) c(charToRaw(text), raw(1)))))
}
write_seed("fork_message", "request", request(0:3, c("NODELAY_MAIN=4711", "NODELAY_STREAM=3")))
write_seed("fork_message", "request_without_equals", request(0, "NODELAY"))
write_seed("fork_message", "answer", c(charToRaw("NF"), raw(2), little_endian(4711, 4), raw(4)))
write_seed("fork_message", "refusal", c(charToRaw("NF"), raw(2), little_endian(4711, 4), little_endian(95, 4)))

# Frames: docs/protocol.md.
header <- function(kind, flags = 0, request = 0, body_bytes = 0) {
  c(charToRaw("ND"), as.raw(c(kind, flags)), raw(4),
    little_endian(request, 8), little_endian(body_bytes, 8))
}
hello <- c(little_endian(2, 4), little_endian(4711, 4))
write_seed("frame", "hello_body", hello)
write_seed("frame", "hello", c(header(1, body_bytes = 8), hello))
write_seed("frame", "call", header(2, request = 1, body_bytes = 100))
write_seed("frame", "call_may_spin", header(2, flags = 1, request = 2, body_bytes = 100))
write_seed("frame", "result", header(3, request = 1, body_bytes = 8e7))
write_seed("frame", "event", header(4, request = 1, body_bytes = 22))
write_seed("frame", "cancel", header(5, request = 1))
write_seed("frame", "bye", header(6))
write_seed("frame", "ping", header(7, request = 1))
write_seed("frame", "pong", header(8, request = 1))
write_seed("frame", "longest_body", header(3, request = 1, body_bytes = 2^42))
write_seed("frame", "too_long_body", header(3, request = 1, body_bytes = 2^42 + 1))
write_seed("frame", "unknown_kind", header(9))
write_seed("frame", "cut_header", header(6)[1:20])

# Values: R Internals, "Serialization Formats".
write_value <- function(name, value, version = 3, xdr = TRUE, refhook = NULL) {
  bytes <- serialize(value, NULL, xdr = xdr, version = version, refhook = refhook)
  write_seed("value_scanner", name, bytes)
}
attributed <- quote(f(x))
attr(attributed, "note") <- 1L
closure <- eval(bquote(function(x) list(quote(.(attributed)), quote(.(attributed)), f(x + 1))))
environment(closure) <- globalenv()
locked <- new.env(hash = FALSE, parent = emptyenv())
assign("self", locked, locked)
lockEnvironment(locked)

write_value("null", NULL)
write_value("null_version_2", NULL, version = 2)
write_value("null_native", NULL, xdr = FALSE)
write_value("vectors", list(1i, as.raw(0:3), c(NA, "a"), c(TRUE, NA), 1.5, 1:2 + 0L))
write_value("list_native", list(a = 1, b = list("x")), version = 2, xdr = FALSE)
write_value("sequence", 1:1000000)
write_value("compiled", compiler::cmpfun(closure))
write_value("environment", locked)
write_value("hook", list(locked, locked), refhook = function(environment) "one")
write_value("namespace", list(asNamespace("stats"), baseenv(), .BaseNamespaceEnv))
write_value("pointer", list(methods::new("externalptr"), sum, `if`))
write_value("factor", factor(c("a", "b")))
write_value("formula", structure(y ~ x, .Environment = globalenv()))
# Claims a vector of 2^48 elements: -1, then the two halves of the length.
write_seed("value_scanner", "huge_vector", c(
  serialize(raw(0), NULL, version = 2)[1:18], as.raw(rep(255, 4)), as.raw(c(0, 1, 0, 0)), raw(4)
))

# Values in nodelay's own format, behind a byte that says how they are cut.
write_own_value <- function(name, value) {
  write_seed("value_reader", name, c(as.raw(9), nodelay:::encoded_value(value)))
}
write_own_value("vectors", list(1i, as.raw(0:3), c(NA, "a", "a"), c(TRUE, NA), 1.5, 1:2 + 0L))
write_own_value("list", list(a = 1, b = list("x"), c = as.list(1:20)))
write_own_value("closure", closure)
write_own_value("environment", locked)
write_own_value("factor", factor(c("a", "b")))
write_own_value("namespace", list(asNamespace("stats"), sum))
