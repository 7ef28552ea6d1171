// SPDX-License-Identifier: MIT
#include "r/base/lists.h"

#include <cstring>

namespace nodelay {

SEXP list_element(SEXP list, const char* name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  if (TYPEOF(list) != VECSXP || TYPEOF(names) != STRSXP) return R_NilValue;
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    if (std::strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  return R_NilValue;
}

bool is_string(SEXP text, const char* expected) {
  return TYPEOF(text) == STRSXP && Rf_xlength(text) == 1 &&
         std::strcmp(CHAR(STRING_ELT(text, 0)), expected) == 0;
}

}  // namespace nodelay
