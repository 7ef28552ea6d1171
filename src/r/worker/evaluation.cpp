// SPDX-License-Identifier: MIT
#include "r/worker/evaluation.h"

namespace nodelay {
namespace {

// The call that do.call(fun, args, quote = TRUE) would evaluate.
SEXP make_call(SEXP function, SEXP arguments, SEXP quote) {
  const SEXP names = Rf_getAttrib(arguments, R_NamesSymbol);
  const R_xlen_t num_arguments = Rf_xlength(arguments);
  SEXP cell = PROTECT(Rf_allocList(static_cast<int>(num_arguments)));
  SEXP called = TYPEOF(function) == STRSXP ? Rf_installTrChar(STRING_ELT(function, 0)) : function;
  SEXP call = PROTECT(Rf_lcons(called, cell));
  for (R_xlen_t i = 0; i < num_arguments; ++i, cell = CDR(cell)) {
    SETCAR(cell, Rf_lang2(quote, VECTOR_ELT(arguments, i)));
    if (names == R_NilValue) continue;
    const SEXP name = STRING_ELT(names, i);
    if (name != NA_STRING && LENGTH(name) > 0) SET_TAG(cell, Rf_installTrChar(name));
  }
  UNPROTECT(2);
  return call;
}

bool is_callable(SEXP function, SEXP arguments) {
  const bool is_name = TYPEOF(function) == STRSXP && Rf_xlength(function) == 1;
  return (Rf_isFunction(function) || is_name) && TYPEOF(arguments) == VECSXP;
}

SEXP do_call(SEXP function, SEXP arguments) {
  static const SEXP kDoCall = Rf_install("do.call");
  SEXP quoted_function = PROTECT(Rf_lang2(R_QuoteSymbol, function));
  SEXP quoted_arguments = PROTECT(Rf_lang2(R_QuoteSymbol, arguments));
  SEXP yes = PROTECT(Rf_ScalarLogical(TRUE));
  SEXP call = PROTECT(Rf_lang4(kDoCall, quoted_function, quoted_arguments, yes));
  SET_TAG(CDDDR(call), Rf_install("quote"));
  UNPROTECT(4);
  return call;
}

}  // namespace

cpp11::sexp quoting_function() {
  const cpp11::sexp quoted = cpp11::package("base")["enquote"](R_NilValue);
  return CAR(quoted);
}

SEXP evaluate(SEXP function, SEXP arguments, SEXP enclosure, SEXP quote) {
  SEXP frame = PROTECT(R_NewEnv(enclosure, FALSE, 0));
  SEXP call = PROTECT(is_callable(function, arguments) ? make_call(function, arguments, quote)
                                                       : do_call(function, arguments));
  SEXP value = Rf_eval(call, frame);
  UNPROTECT(2);
  return value;
}

}  // namespace nodelay
