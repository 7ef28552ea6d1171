// SPDX-License-Identifier: MIT
#include "r/values/shared_vectors.h"

#include <R_ext/Altrep.h>

#include <array>
#include <new>
#include <optional>
#include <utility>

#include "r/base/r_interface.h"

namespace nodelay {
namespace {

// A vector of one of R's types whose elements lie in shared memory. data1 of the ALTREP object
// points to its Mapping, data2 is its length.
struct SharedType {
  Item item;
  SEXPTYPE type;
  R_altrep_class_t altrep_class;
};

std::array<SharedType, 5> shared_types{{{Item::logical, LGLSXP, {}},
                                        {Item::integer, INTSXP, {}},
                                        {Item::real, REALSXP, {}},
                                        {Item::complex, CPLXSXP, {}},
                                        {Item::raw, RAWSXP, {}}}};

const SharedType* shared_type_of(Item item) {
  for (const SharedType& each : shared_types) {
    if (each.item == item) return &each;
  }
  return nullptr;
}

R_xlen_t length_of(SEXP vector) {
  return static_cast<R_xlen_t>(REAL_RO(R_altrep_data2(vector))[0]);
}

void* data_of(SEXP vector, Rboolean) {
  return static_cast<Mapping*>(R_ExternalPtrAddr(R_altrep_data1(vector)))->data();
}

const void* data_or_null(SEXP vector) {
  return data_of(vector, FALSE);
}

template <typename Element>
Element element_of(SEXP vector, R_xlen_t index) {
  return static_cast<const Element*>(data_of(vector, FALSE))[index];
}

// Processes may have some 65,000 mappings; this leaves most of them to others.
constexpr int kMostMappings = 16'000;
int num_mappings = 0;

void finalize_mapping(SEXP pointer) {
  if (R_ExternalPtrAddr(pointer) != nullptr) --num_mappings;
  delete static_cast<Mapping*>(R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
}

// R collects garbage when its own memory runs short, of which mapped vectors take next to
// none: without this, vectors that nobody uses any more would pile up.
void collect_now_and_then(std::size_t num_bytes) {
  constexpr std::size_t kBetweenCollections = std::size_t{512} * 1024 * 1024;  // bytes
  static std::size_t num_mapped_bytes = 0;
  num_mapped_bytes += num_bytes;
  if (num_mapped_bytes < kBetweenCollections) return;
  num_mapped_bytes = num_bytes;
  R_gc();
}

// Null where the elements cannot be mapped, or better are not: a vector that is a small part
// of its memory would keep all of that.
Mapping* map_elements(const SharedMemory& memory, std::size_t offset, std::size_t num_bytes) {
  constexpr std::size_t kSmallPart = 8;
  if (num_mappings >= kMostMappings || num_bytes < memory.size() / kSmallPart) return nullptr;
  auto mapping = memory.map(offset, num_bytes);
  return mapping ? new (std::nothrow) Mapping(std::move(*mapping)) : nullptr;
}

SEXP copy_elements(const SharedMemory& memory, SEXPTYPE type, std::size_t offset,
                   std::size_t num_bytes, R_xlen_t length) {
  SEXP vector = PROTECT(Rf_allocVector(type, length));
  if (!memory.read(offset, num_bytes, writable_data(vector))) {
    Rf_error("the shared memory of a vector cannot be read");
  }
  UNPROTECT(1);
  return vector;
}

void define_class(R_altrep_class_t altrep_class, Item item) {
  const_cast<SharedType*>(shared_type_of(item))->altrep_class = altrep_class;
  R_set_altrep_Length_method(altrep_class, length_of);
  R_set_altvec_Dataptr_method(altrep_class, data_of);
  R_set_altvec_Dataptr_or_null_method(altrep_class, data_or_null);
}

}  // namespace

SEXPTYPE type_of(Item item) {
  const SharedType* type = shared_type_of(item);
  return type != nullptr ? type->type : NILSXP;
}

SEXP vector_over(const SharedMemory& memory, Item item, std::uint64_t offset,
                 std::uint64_t length) {
  const SharedType* type = shared_type_of(item);
  const std::size_t size = memory.size();
  if (type == nullptr || length == 0 || offset > size ||
      length > (size - offset) / element_bytes(item)) {
    Rf_error("a vector in shared memory came without that memory");
  }
  const std::size_t num_bytes = length * element_bytes(item);
  collect_now_and_then(num_bytes);
  SEXP pointer = PROTECT(R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, finalize_mapping, FALSE);
  SEXP vector = R_NilValue;
  if (Mapping* mapping = map_elements(memory, offset, num_bytes)) {
    R_SetExternalPtrAddr(pointer, mapping);
    ++num_mappings;
    SEXP length_as_number = PROTECT(Rf_ScalarReal(static_cast<double>(length)));
    vector = R_new_altrep(type->altrep_class, pointer, length_as_number);
    UNPROTECT(1);
  } else {
    vector = copy_elements(memory, type->type, offset, num_bytes, static_cast<R_xlen_t>(length));
  }
  UNPROTECT(1);
  return vector;
}

void define_shared_vectors(DllInfo* dll) {
  const R_altrep_class_t logical = R_make_altlogical_class("nodelay_logical", "nodelay", dll);
  const R_altrep_class_t integer = R_make_altinteger_class("nodelay_integer", "nodelay", dll);
  const R_altrep_class_t real = R_make_altreal_class("nodelay_double", "nodelay", dll);
  const R_altrep_class_t complex = R_make_altcomplex_class("nodelay_complex", "nodelay", dll);
  const R_altrep_class_t raw = R_make_altraw_class("nodelay_raw", "nodelay", dll);
  define_class(logical, Item::logical);
  define_class(integer, Item::integer);
  define_class(real, Item::real);
  define_class(complex, Item::complex);
  define_class(raw, Item::raw);
  R_set_altlogical_Elt_method(logical, element_of<int>);
  R_set_altinteger_Elt_method(integer, element_of<int>);
  R_set_altreal_Elt_method(real, element_of<double>);
  R_set_altcomplex_Elt_method(complex, element_of<Rcomplex>);
  R_set_altraw_Elt_method(raw, element_of<Rbyte>);
}

}  // namespace nodelay
