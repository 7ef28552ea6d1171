// SPDX-License-Identifier: MIT
#include "bind_packed_list.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

namespace nodelay {
namespace {

constexpr R_xlen_t kLongestElement = 4096;

// What a packed list consists of: the type of each element (one byte), its length, and the
// elements of all those elements, one vector for each type.
enum Part : R_xlen_t { types, lengths, logicals, integers, doubles, strings, num_parts };

// Where the elements of a type go; num_parts for NULL, -1 for what cannot be packed.
R_xlen_t part_for(SEXPTYPE type) {
  switch (type) {
    case LGLSXP:
      return logicals;
    case INTSXP:
      return integers;
    case REALSXP:
      return doubles;
    case STRSXP:
      return strings;
    case NILSXP:
      return num_parts;
    default:
      return -1;
  }
}

template <typename Element>
void append(std::vector<Element>& to, const Element* from, R_xlen_t length) {
  to.insert(to.end(), from, from + length);
}

template <typename Element>
SEXP vector_of(SEXPTYPE type, const std::vector<Element>& from, Element* (*data)(SEXP)) {
  SEXP to = Rf_allocVector(type, static_cast<R_xlen_t>(from.size()));
  std::copy(from.begin(), from.end(), data(to));
  return to;
}

// What is left of the elements of one type.
template <typename Element>
struct Rest {
  const Element* next;
  R_xlen_t num_left;

  // Null where fewer than `length` are left.
  const Element* take(R_xlen_t length) {
    if (length < 0 || length > num_left) return nullptr;
    num_left -= length;
    return std::exchange(next, next + length);
  }
};

// Takes a new vector of `length` elements; null where there are fewer.
template <typename Element>
SEXP take_vector(SEXPTYPE type, Rest<Element>& rest, R_xlen_t length, Element* (*data)(SEXP)) {
  const Element* from = rest.take(length);
  if (from == nullptr) return nullptr;
  SEXP to = Rf_allocVector(type, length);
  std::copy_n(from, length, data(to));
  return to;
}

SEXP take_strings(Rest<SEXP>& rest, R_xlen_t length) {
  const SEXP* from = rest.take(length);
  if (from == nullptr) return nullptr;
  SEXP to = Rf_allocVector(STRSXP, length);
  for (R_xlen_t i = 0; i < length; ++i) SET_STRING_ELT(to, i, from[i]);
  return to;
}

bool is_packed_list(SEXP packed) {
  constexpr std::array<SEXPTYPE, num_parts> kTypes{RAWSXP, INTSXP, LGLSXP, INTSXP, REALSXP, STRSXP};
  if (TYPEOF(packed) != VECSXP || Rf_xlength(packed) != num_parts) return false;
  for (R_xlen_t part = 0; part < num_parts; ++part) {
    if (TYPEOF(VECTOR_ELT(packed, part)) != kTypes[static_cast<std::size_t>(part)]) return false;
  }
  return Rf_xlength(VECTOR_ELT(packed, types)) == Rf_xlength(VECTOR_ELT(packed, lengths));
}

}  // namespace

SEXP ListPacking::pack(SEXP list) {
  clear();
  bool is_gathered = false;
  try {
    is_gathered = gather(list);
  } catch (const std::bad_alloc&) {  // it must not pass through R: the list stays as it is
  }
  return is_gathered ? packed() : R_NilValue;
}

void ListPacking::clear() {
  types_.clear();
  lengths_.clear();
  logicals_.clear();
  integers_.clear();
  doubles_.clear();
  strings_.clear();
}

// In one walk: to visit many small objects is what costs. Runs no R code. False where the list
// cannot be packed.
bool ListPacking::gather(SEXP list) {
  const R_xlen_t num_elements = Rf_xlength(list);
  for (R_xlen_t i = 0; i < num_elements; ++i) {
    if (!take(VECTOR_ELT(list, i))) return false;
  }
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  return std::max({logicals_.size(), integers_.size(), doubles_.size(), strings_.size()}) <= kMost;
}

bool ListPacking::take(SEXP element) {
  const SEXPTYPE type = TYPEOF(element);
  const R_xlen_t part = part_for(type);
  if (part < 0 || ALTREP(element) || ATTRIB(element) != R_NilValue) return false;
  const R_xlen_t length = Rf_xlength(element);
  if (length > kLongestElement) return false;
  types_.push_back(static_cast<Rbyte>(type));
  lengths_.push_back(static_cast<int>(length));
  if (part == logicals) append(logicals_, LOGICAL_RO(element), length);
  if (part == integers) append(integers_, INTEGER_RO(element), length);
  if (part == doubles) append(doubles_, REAL_RO(element), length);
  if (part == strings) append(strings_, STRING_PTR_RO(element), length);
  return true;
}

SEXP ListPacking::packed() const {
  SEXP result = PROTECT(Rf_allocVector(VECSXP, num_parts));
  SET_VECTOR_ELT(result, types, vector_of(RAWSXP, types_, RAW));
  SET_VECTOR_ELT(result, lengths, vector_of(INTSXP, lengths_, INTEGER));
  SET_VECTOR_ELT(result, logicals, vector_of(LGLSXP, logicals_, LOGICAL));
  SET_VECTOR_ELT(result, integers, vector_of(INTSXP, integers_, INTEGER));
  SET_VECTOR_ELT(result, doubles, vector_of(REALSXP, doubles_, REAL));
  SEXP texts = Rf_allocVector(STRSXP, static_cast<R_xlen_t>(strings_.size()));
  SET_VECTOR_ELT(result, strings, texts);
  for (std::size_t i = 0; i < strings_.size(); ++i) {
    SET_STRING_ELT(texts, static_cast<R_xlen_t>(i), strings_[i]);
  }
  UNPROTECT(1);
  return result;
}

SEXP unpack_list(SEXP packed) {
  if (!is_packed_list(packed)) Rf_error("this is not a packed list");
  const auto part = [packed](Part which) { return VECTOR_ELT(packed, which); };
  const R_xlen_t num_elements = Rf_xlength(part(types));
  const Rbyte* type_of = RAW_RO(part(types));
  const int* length_of = INTEGER_RO(part(lengths));
  Rest<int> logical_rest{LOGICAL_RO(part(logicals)), Rf_xlength(part(logicals))};
  Rest<int> integer_rest{INTEGER_RO(part(integers)), Rf_xlength(part(integers))};
  Rest<double> double_rest{REAL_RO(part(doubles)), Rf_xlength(part(doubles))};
  Rest<SEXP> string_rest{STRING_PTR_RO(part(strings)), Rf_xlength(part(strings))};
  SEXP list = PROTECT(Rf_allocVector(VECSXP, num_elements));
  for (R_xlen_t i = 0; i < num_elements; ++i) {
    const int length = length_of[i];
    SEXP element = nullptr;
    switch (type_of[i]) {
      case NILSXP:
        continue;
      case LGLSXP:
        element = take_vector(LGLSXP, logical_rest, length, LOGICAL);
        break;
      case INTSXP:
        element = take_vector(INTSXP, integer_rest, length, INTEGER);
        break;
      case REALSXP:
        element = take_vector(REALSXP, double_rest, length, REAL);
        break;
      case STRSXP:
        element = take_strings(string_rest, length);
        break;
      default:
        break;
    }
    if (element == nullptr) Rf_error("a packed list has fewer elements than it says");
    SET_VECTOR_ELT(list, i, element);
  }
  UNPROTECT(1);
  return list;
}

}  // namespace nodelay
