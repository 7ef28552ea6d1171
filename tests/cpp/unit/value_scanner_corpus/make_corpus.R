# SPDX-License-Identifier: MIT
# Writes the values that value_scanner_test.cpp reads, next to this script: each in
# versions 2 and 3 of R's serialization format, XDR and native (on a little-endian
# machine). Run in this folder: LC_ALL=C.UTF-8 Rscript make_corpus.R

write_value <- function(name, value, refhook = NULL, versions = 2:3) {
  for (version in versions) {
    for (encoding in c("xdr", "native")) {
      bytes <- serialize(value, NULL, xdr = encoding == "xdr", version = version, refhook = refhook)
      writeBin(bytes, sprintf("%s-%d-%s.bin", name, version, encoding))
    }
  }
}

# A call with attributes within bytecode, once alone and once shared.
attributed <- quote(f(x, g(y)))
attr(attributed, "note") <- quote(h(z))
closure <- eval(bquote(function(x, ...) {
  inner <- function(y = x) y + 1
  list(quote(.(attributed)), quote(.(attributed)), switch(x, a = , b = inner(), NA_character_))
}))
environment(closure) <- globalenv()
compiled <- compiler::cmpfun(closure)

setClass("Point", representation(x = "numeric", label = "character"))
locked <- new.env(hash = TRUE, parent = emptyenv())
assign("self", locked, locked)
delayedAssign("lazy", stop("never forced"), locked, locked)
lockEnvironment(locked)
keep_dots <- function(...) environment()
dots <- keep_dots(a, b = 2)
parent.env(dots) <- baseenv()

write_value("closure", closure)
write_value("compiled", compiled)
write_value("environment", locked)
write_value("dots", dots)
write_value("s4", new("Point", x = 1:2 / 2, label = "half"))
write_value("sequence", 1:1000000, versions = 3)  # version 2 would write all its numbers
write_value("deferred", as.character(c(10, 20)))
write_value("call", attributed)
write_value("formula", structure(y ~ x | z, .Environment = globalenv()))
write_value("factor", factor(c("b", "a", NA)))
write_value("iris", head(iris, 3))
write_value("pointer", methods::new("externalptr"))
write_value("namespace", asNamespace("stats"))
write_value("package", suppressWarnings(as.environment("package:stats")))
write_value("hook", list(locked, locked), refhook = function(environment) c("one", "two"))
write_value("constants", list(
  NULL, baseenv(), emptyenv(), globalenv(), .BaseNamespaceEnv, quote(expr = )
))
write_value("vectors", list(
  1i, as.raw(0:3), c(NA, "\u00e9", "\xff"), c(TRUE, NA), 1.5, expression(a + b), pairlist(a = 1)
))
write_value("primitives", list(sum, `if`))
