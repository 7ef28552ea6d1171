// SPDX-License-Identifier: MIT
#include "r/values/stand_ins.h"

#include <R_ext/Altrep.h>
#include <nodelay/error.h>

#include <array>
#include <new>
#include <utility>

namespace nodelay {
namespace {

// Below this a vector is copied through the stream in less time than it takes to share it.
constexpr std::size_t kSmallestShared = std::size_t{256} * 1024;  // bytes

// Lists may be nested without end; what lies deeper is copied.
constexpr int kDeepest = 64;

const SharedMemory* memory_to_take = nullptr;  // of the message that is being unserialized

// A vector of one of R's types whose elements lie in shared memory, or a stand-in for one.
// Both are ALTREP objects of the same class: data1 of a vector points to its Mapping and is
// NULL for a stand-in, data2 is where the elements are: offset and number.
struct SharedType {
  SEXPTYPE type;
  std::size_t element_bytes;
  R_altrep_class_t altrep_class;
};

std::array<SharedType, 5> shared_types{{{LGLSXP, sizeof(int), {}},
                                        {INTSXP, sizeof(int), {}},
                                        {REALSXP, sizeof(double), {}},
                                        {CPLXSXP, sizeof(Rcomplex), {}},
                                        {RAWSXP, sizeof(Rbyte), {}}}};

R_altrep_class_t packed_list_class;

const SharedType* shared_type_of(SEXPTYPE type) {
  for (const SharedType& each : shared_types) {
    if (each.type == type) return &each;
  }
  return nullptr;
}

SEXP place_of(std::size_t offset, R_xlen_t length) {
  SEXP place = Rf_allocVector(REALSXP, 2);
  REAL(place)[0] = static_cast<double>(offset);
  REAL(place)[1] = static_cast<double>(length);
  return place;
}

R_xlen_t length_of(SEXP vector) {
  return static_cast<R_xlen_t>(REAL(R_altrep_data2(vector))[1]);
}

bool is_stand_in(SEXP vector) {
  return R_altrep_data1(vector) == R_NilValue;
}

void* data_of(SEXP vector, Rboolean) {
  if (is_stand_in(vector)) Rf_error("this vector is on its way to another process");
  return static_cast<Mapping*>(R_ExternalPtrAddr(R_altrep_data1(vector)))->data();
}

const void* data_or_null(SEXP vector) {
  return is_stand_in(vector) ? nullptr : data_of(vector, FALSE);
}

template <typename Element>
Element element_of(SEXP vector, R_xlen_t index) {
  return static_cast<const Element*>(data_of(vector, FALSE))[index];
}

// What is saved or sent on is an ordinary vector.
SEXP serialized_state(SEXP vector) {
  return is_stand_in(vector) ? R_altrep_data2(vector) : nullptr;
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

// Where the elements of a vector lie.
struct Range {
  std::size_t offset;
  std::size_t num_bytes;
};

std::optional<Range> range_of(const SharedType& type, SEXP place) {
  constexpr double kMost = 9007199254740992.0;  // 2^53: whole numbers up to here are exact
  if (TYPEOF(place) != REALSXP || Rf_xlength(place) != 2) return std::nullopt;
  const double offset = REAL(place)[0];
  const double num_bytes = REAL(place)[1] * static_cast<double>(type.element_bytes);
  const bool is_sound = offset >= 0 && offset <= kMost && num_bytes > 0 && num_bytes <= kMost;
  if (!is_sound) return std::nullopt;
  return Range{static_cast<std::size_t>(offset), static_cast<std::size_t>(num_bytes)};
}

// Null where the elements cannot be mapped, or better are not: a vector that is a small part
// of its memory would keep all of that.
Mapping* map_elements(const SharedMemory& memory, const Range& range) {
  constexpr std::size_t kSmallPart = 8;
  if (num_mappings >= kMostMappings || range.num_bytes < memory.size() / kSmallPart) return nullptr;
  auto mapping = memory.map(range.offset, range.num_bytes);
  return mapping ? new (std::nothrow) Mapping(std::move(*mapping)) : nullptr;
}

SEXP copy_elements(const SharedType& type, const SharedMemory& memory, const Range& range) {
  const auto length = static_cast<R_xlen_t>(range.num_bytes / type.element_bytes);
  SEXP vector = PROTECT(Rf_allocVector(type.type, length));
  if (!memory.read(range.offset, range.num_bytes, DATAPTR(vector))) {
    Rf_error("the shared memory of a vector cannot be read");
  }
  UNPROTECT(1);
  return vector;
}

// Called by R's unserializer: no C++ exception may leave it.
SEXP unserialize_vector(const SharedType& type, SEXP place) {
  const auto range = range_of(type, place);
  if (memory_to_take == nullptr || !range || range->num_bytes > memory_to_take->size()) {
    Rf_error("a vector in shared memory came without that memory");
  }
  PROTECT(place);
  collect_now_and_then(range->num_bytes);
  SEXP pointer = PROTECT(R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, finalize_mapping, FALSE);
  SEXP vector = R_NilValue;
  if (Mapping* mapping = map_elements(*memory_to_take, *range)) {
    R_SetExternalPtrAddr(pointer, mapping);
    ++num_mappings;
    vector = R_new_altrep(type.altrep_class, pointer, place);
  } else {
    vector = copy_elements(type, *memory_to_take, *range);
  }
  UNPROTECT(2);
  return vector;
}

template <std::size_t index>
SEXP unserialize_as(SEXP, SEXP place) {
  return unserialize_vector(shared_types[index], place);
}

SEXP unserialize_list(SEXP, SEXP packed) {
  return unpack_list(packed);
}

// Of a stand-in for a list, which is never looked at.
R_xlen_t no_length(SEXP) {
  return 0;
}

SEXP packed_state(SEXP stand_in) {
  return R_altrep_data2(stand_in);
}

template <std::size_t index>
void define_class(R_altrep_class_t altrep_class) {
  shared_types[index].altrep_class = altrep_class;
  R_set_altrep_Length_method(altrep_class, length_of);
  R_set_altrep_Serialized_state_method(altrep_class, serialized_state);
  R_set_altrep_Unserialize_method(altrep_class, unserialize_as<index>);
  R_set_altvec_Dataptr_method(altrep_class, data_of);
  R_set_altvec_Dataptr_or_null_method(altrep_class, data_or_null);
}

}  // namespace

SEXP StandIns::stand_in(SEXP value) {
  return cpp11::unwind_protect([&] { return stand_in(value, 0); });
}

SEXP StandIns::stand_in(SEXP value, int depth) {
  if (TYPEOF(value) != VECSXP) return may_have_stand_in(value) ? stand_in_for_vector(value) : value;
  if (depth == kDeepest) return value;
  if (Rf_xlength(value) >= kFewestPacked) {
    SEXP packed = PROTECT(packing_.pack(value));
    const SEXP stand_in = packed == R_NilValue ? R_NilValue : stand_in_for_list(value, packed);
    UNPROTECT(1);
    if (stand_in != R_NilValue) return stand_in;
  }
  return stand_in_for_elements(value, depth);
}

bool StandIns::needs_none(SEXP value) const {
  if (TYPEOF(value) != VECSXP) return !may_have_stand_in(value);
  if (Rf_xlength(value) >= kFewestPacked) return false;
  for (R_xlen_t i = 0; i < Rf_xlength(value); ++i) {
    if (may_have_stand_in(VECTOR_ELT(value, i))) return false;
  }
  return true;
}

bool StandIns::may_have_stand_in(SEXP value) const {
  const SEXPTYPE type = TYPEOF(value);
  if (type == VECSXP) return Rf_xlength(value) > 0;
  if (!may_share_memory_) return false;
  const SharedType* shared = shared_type_of(type);
  return shared != nullptr &&
         static_cast<std::size_t>(Rf_xlength(value)) * shared->element_bytes >= kSmallestShared;
}

SEXP StandIns::stand_in_for_elements(SEXP list, int depth) {
  SEXP result = list;
  PROTECT_INDEX index;
  PROTECT_WITH_INDEX(result, &index);
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    const SEXP element = VECTOR_ELT(list, i);
    if (!may_have_stand_in(element)) continue;
    SEXP replaced = PROTECT(stand_in(element, depth + 1));
    if (replaced != element) {
      if (result == list) REPROTECT(result = Rf_shallow_duplicate(list), index);
      SET_VECTOR_ELT(result, i, replaced);
    }
    UNPROTECT(1);
  }
  UNPROTECT(1);
  return result;
}

SEXP StandIns::stand_in_for_list(SEXP list, SEXP packed) {
  SEXP parts = PROTECT(stand_in_for_elements(packed, kDeepest - 1));
  SEXP stand_in = PROTECT(R_new_altrep(packed_list_class, R_NilValue, parts));
  SHALLOW_DUPLICATE_ATTRIB(stand_in, list);
  UNPROTECT(2);
  return stand_in;
}

SEXP StandIns::stand_in_for_vector(SEXP vector) {
  const SharedType& type = *shared_type_of(TYPEOF(vector));
  const auto num_bytes = static_cast<std::size_t>(Rf_xlength(vector)) * type.element_bytes;
  const void* data = DATAPTR_OR_NULL(vector);
  if (data == nullptr) return vector;  // 1:1e9, say, which R serializes in a few bytes
  if (!memory_) memory_ = SharedMemory::create();
  const auto offset =
      memory_ ? memory_->append({static_cast<const std::byte*>(data), num_bytes}) : std::nullopt;
  if (!offset) {
    may_share_memory_ = false;  // there is none: the rest goes in the stream
    return vector;
  }
  SEXP place = PROTECT(place_of(*offset, Rf_xlength(vector)));
  SEXP stand_in = PROTECT(R_new_altrep(type.altrep_class, R_NilValue, place));
  SHALLOW_DUPLICATE_ATTRIB(stand_in, vector);
  UNPROTECT(2);
  return stand_in;
}

std::shared_ptr<const SharedMemory> StandIns::take_memory() {
  if (!memory_ || memory_->size() == 0) return nullptr;
  if (!memory_->seal()) throw Error(ErrorKind::system, "sealing shared memory failed");
  return std::make_shared<const SharedMemory>(std::move(*memory_));
}

StandInReading::StandInReading(const SharedMemory* memory)
    : previous_(std::exchange(memory_to_take, memory)) {}

StandInReading::~StandInReading() {
  memory_to_take = previous_;
}

void define_stand_ins(DllInfo* dll) {
  packed_list_class = R_make_altinteger_class("nodelay_list", "nodelay", dll);
  R_set_altrep_Length_method(packed_list_class, no_length);
  R_set_altrep_Serialized_state_method(packed_list_class, packed_state);
  R_set_altrep_Unserialize_method(packed_list_class, unserialize_list);
  const R_altrep_class_t logical = R_make_altlogical_class("nodelay_logical", "nodelay", dll);
  const R_altrep_class_t integer = R_make_altinteger_class("nodelay_integer", "nodelay", dll);
  const R_altrep_class_t real = R_make_altreal_class("nodelay_double", "nodelay", dll);
  const R_altrep_class_t complex = R_make_altcomplex_class("nodelay_complex", "nodelay", dll);
  const R_altrep_class_t raw = R_make_altraw_class("nodelay_raw", "nodelay", dll);
  define_class<0>(logical);
  define_class<1>(integer);
  define_class<2>(real);
  define_class<3>(complex);
  define_class<4>(raw);
  R_set_altlogical_Elt_method(logical, element_of<int>);
  R_set_altinteger_Elt_method(integer, element_of<int>);
  R_set_altreal_Elt_method(real, element_of<double>);
  R_set_altcomplex_Elt_method(complex, element_of<Rcomplex>);
  R_set_altraw_Elt_method(raw, element_of<Rbyte>);
}

}  // namespace nodelay
