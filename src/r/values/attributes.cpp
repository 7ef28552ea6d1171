// SPDX-License-Identifier: MIT
#include "r/values/attributes.h"

#include <cstring>

#include "r/base/r_interface.h"

namespace nodelay {
namespace {

bool is_plain_text(SEXP value) {
  return TYPEOF(value) == STRSXP && !has_attributes(value);
}

bool fits_dimensions(SEXP value, SEXP dim) {
  if (TYPEOF(dim) != INTSXP || has_attributes(dim) || Rf_xlength(dim) == 0) return false;
  double product = 1;
  for (R_xlen_t i = 0; i < Rf_xlength(dim); ++i) {
    const int extent = INTEGER_RO(dim)[i];
    if (extent < 0) return false;  // or NA
    product *= extent;
  }
  return product == static_cast<double>(Rf_xlength(value));
}

// As R's setter leaves them: texts, NULL where there are none, and not nothing but NULL.
bool are_dimnames_of(SEXP dimnames, SEXP dim) {
  if (TYPEOF(dimnames) != VECSXP || TYPEOF(dim) != INTSXP) return false;
  if (Rf_xlength(dimnames) != Rf_xlength(dim) || Rf_isObject(dimnames)) return false;
  bool has_any = false;
  for (R_xlen_t i = 0; i < Rf_xlength(dimnames); ++i) {
    const SEXP names = VECTOR_ELT(dimnames, i);
    if (names == R_NilValue) continue;
    const int extent = INTEGER_RO(dim)[i];
    if (!is_plain_text(names) || extent == 0 || Rf_xlength(names) != extent) return false;
    has_any = true;
  }
  bool has_names_only = true;
  for_each_attribute(dimnames, [&](SEXP tag, SEXP names) {
    has_names_only = has_names_only && tag == R_NamesSymbol && is_plain_text(names) &&
                     Rf_xlength(names) == Rf_xlength(dimnames);
  });
  return has_any && has_names_only;
}

bool is_time_series(SEXP value, SEXP tsp) {
  constexpr double kTolerance = 1e-5;  // R's own
  if (TYPEOF(tsp) != REALSXP || has_attributes(tsp) || Rf_xlength(tsp) != 3) return false;
  const double* times = REAL_RO(tsp);
  const double num_times = (times[1] - times[0]) * times[2] + 1;
  const SEXP dim = Rf_getAttrib(value, R_DimSymbol);
  const double length = static_cast<double>(
      TYPEOF(dim) == INTSXP && Rf_xlength(dim) > 0 ? INTEGER_RO(dim)[0] : Rf_xlength(value));
  const double difference = num_times - length;
  return times[2] > 0 && length > 0 && difference < kTolerance && difference > -kTolerance;
}

bool is_class_of(SEXP value, SEXP klass) {
  if (TYPEOF(klass) != STRSXP || Rf_xlength(klass) == 0) return false;
  if (TYPEOF(value) == INTSXP) return true;
  for (R_xlen_t i = 0; i < Rf_xlength(klass); ++i) {
    if (std::strcmp(CHAR(STRING_ELT(klass, i)), "factor") == 0) return false;
  }
  return true;
}

bool is_usual(SEXP value, SEXP tag, SEXP attribute) {
  if (attribute == R_NilValue) return false;
  if (tag == R_ClassSymbol) return is_class_of(value, attribute);
  if (tag == R_NamesSymbol) {
    return Rf_isVector(value) && TYPEOF(attribute) == STRSXP &&
           Rf_xlength(attribute) == Rf_xlength(value) &&
           Rf_xlength(Rf_getAttrib(value, R_DimSymbol)) != 1;
  }
  if (tag == R_DimSymbol) return Rf_isVector(value) && fits_dimensions(value, attribute);
  if (tag == R_DimNamesSymbol) {
    return Rf_isVector(value) && are_dimnames_of(attribute, Rf_getAttrib(value, R_DimSymbol));
  }
  if (tag == R_TspSymbol) return Rf_isVector(value) && is_time_series(value, attribute);
  if (tag == R_RowNamesSymbol) return TYPEOF(attribute) == STRSXP || TYPEOF(attribute) == INTSXP;
  static const SEXP kComment = Rf_install("comment");
  if (tag == kComment) return is_plain_text(attribute) && Rf_xlength(attribute) > 0;
  return true;
}

}  // namespace

std::optional<std::uint64_t> num_usual_attributes(SEXP value) {
  std::uint64_t count = 0;
  bool is_sound = true;
  bool has_class = false;
  bool has_dim = false;
  for_each_attribute(value, [&](SEXP tag, SEXP attribute) {
    // Setting dimensions drops names of dimensions that were set before.
    if (tag == R_DimNamesSymbol && !has_dim) is_sound = false;
    has_dim = has_dim || tag == R_DimSymbol;
    has_class = has_class || tag == R_ClassSymbol;
    is_sound = is_sound && is_usual(value, tag, attribute);
    ++count;
  });
  if (!is_sound || has_class != is_object(value)) return std::nullopt;
  return count;
}

}  // namespace nodelay
