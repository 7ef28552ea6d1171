// SPDX-License-Identifier: MIT
#include "r/values/encoder.h"

#include <R_ext/Altrep.h>

#include <algorithm>
#include <exception>
#include <string_view>

#include "r/base/r_interface.h"
#include "r/values/attributes.h"
#include "r/values/shared_vectors.h"

namespace nodelay {
namespace {

// To visit many small objects is what costs: so many are fetched while others are looked at.
constexpr R_xlen_t kLookAhead = 16;

// Vectors in a list that are alike are worth a run from some number on, as long as they are short.
constexpr R_xlen_t kShortestRun = 4;
constexpr R_xlen_t kLongestInRun = 64;

bool is_well_known(SEXP environment) {
  return environment == R_GlobalEnv || environment == R_BaseEnv || environment == R_BaseNamespace ||
         environment == R_EmptyEnv;
}

bool is_foreign(SEXP environment) {
  return R_IsNamespaceEnv(environment) || R_IsPackageEnv(environment);
}

bool is_simple(Item item) {
  return element_bytes(item) > 0;
}

Item item_of_vector(SEXPTYPE type) {
  switch (type) {
    case LGLSXP:
      return Item::logical;
    case INTSXP:
      return Item::integer;
    case REALSXP:
      return Item::real;
    case CPLXSXP:
      return Item::complex;
    case RAWSXP:
      return Item::raw;
    case STRSXP:
      return Item::strings;
    case EXPRSXP:
      return Item::expression;
    default:
      return Item::list;
  }
}

StringEncoding encoding_of(SEXP string) {
  switch (Rf_getCharCE(string)) {
    case CE_UTF8:
      return StringEncoding::utf8;
    case CE_LATIN1:
      return StringEncoding::latin1;
    case CE_BYTES:
      return StringEncoding::bytes;
    default:
      return StringEncoding::native;
  }
}

std::string_view text_of(SEXP string) {
  return {CHAR(string), static_cast<std::size_t>(LENGTH(string))};
}

// Vectors that R or a package computes when they are looked at: 1:1e9, say. R writes these as it
// likes best, unless they are large and lie in memory.
bool is_left_to_r(SEXP vector) {
  if (!ALTREP(vector)) return false;
  const std::size_t size = element_bytes(item_of_vector(TYPEOF(vector)));
  const bool is_large = static_cast<std::size_t>(Rf_xlength(vector)) * size >= kSmallestShared;
  return !is_large || DATAPTR_OR_NULL(vector) == nullptr;
}

// How many cells a pairlist or call has; nothing where it is none that R's functions make.
std::optional<std::uint64_t> num_cells(SEXP first) {
  std::uint64_t count = 0;
  SEXP cell = first;
  for (; cell == first || TYPEOF(cell) == LISTSXP; cell = CDR(cell)) {
    if (cell != first && has_attributes(cell)) return std::nullopt;
    ++count;
  }
  if (cell != R_NilValue) return std::nullopt;
  return count;
}

// The size of an environment's table; 0 where it has none. Both decide the order in which R lists
// what is in it.
int table_size(SEXP environment) {
  static const SEXP kProfile = Rf_install("env.profile");
  SEXP call = PROTECT(Rf_lang2(kProfile, environment));
  SEXP profile = PROTECT(Rf_eval(call, R_BaseEnv));
  const int size = TYPEOF(profile) == VECSXP ? Rf_asInteger(VECTOR_ELT(profile, 0)) : 0;
  UNPROTECT(2);
  return size;
}

unsigned flags_of(SEXP value, std::uint64_t num_attributes) {
  return (num_attributes > 0 ? kHasAttributes : 0U) | (is_s4(value) ? kIsS4 : 0U);
}

bool is_alike(SEXP element, SEXPTYPE type, R_xlen_t length) {
  return TYPEOF(element) == type && !ALTREP(element) && Rf_xlength(element) == length &&
         !has_attributes(element);
}

}  // namespace

Encoder::Encoder(ValueWriter& writer, References& references, SharedSink* shared)
    : writer_(writer),
      references_(references),
      shared_(shared),
      num_defined_(references.size()),
      num_filled_(references.size()),
      numbering_([this](SEXP value) {
        try {
          enter(value);
          return static_cast<int>(*references_.find(value));
        } catch (const std::exception&) {  // out of memory; it must not pass through R
          return -1;
        }
      }) {}

void Encoder::write(SEXP value) {
  const std::string_view codeset = native_codeset();
  writer_.put_byte(std::to_integer<std::uint8_t>(kValueMagic));
  writer_.put_number(codeset.size());
  writer_.put_elements(codeset.data(), codeset.size());
  put(value);
  while (num_filled_ < references_.size()) fill(references_[num_filled_++]);
}

void Encoder::put(SEXP value) {
  switch (TYPEOF(value)) {
    case NILSXP:
      writer_.put_item(Item::null);
      return;
    case SYMSXP:
      if (value == R_MissingArg) {
        writer_.put_item(Item::missing_argument);
      } else {
        writer_.put_item(Item::symbol);
        put_symbol(value);
      }
      return;
    case LISTSXP:
      return put_pairlist(value, Item::pairlist);
    case LANGSXP:
      return put_pairlist(value, Item::call);
    case CLOSXP:
      return put_closure(value);
    case ENVSXP:
    case EXTPTRSXP:
    case WEAKREFSXP:
      return put_reference(value);
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case CPLXSXP:
    case RAWSXP:
    case STRSXP:
    case VECSXP:
    case EXPRSXP:
      return put_vector(value, item_of_vector(TYPEOF(value)));
    case S4SXP:
      return put_object(value);
    default:
      return put_by_r(value);
  }
}

void Encoder::put_vector(SEXP vector, Item item) {
  if (is_left_to_r(vector)) return put_by_r(vector);
  const auto num_attributes = num_usual_attributes(vector);
  if (!num_attributes) return put_by_r(vector);
  const unsigned flags = flags_of(vector, *num_attributes);
  if (is_simple(item)) {
    put_shared_or_elements(vector, item, flags);
  } else {
    writer_.put_item(item, flags);
    if (item == Item::strings) {
      put_strings(vector);
    } else {
      put_list(vector);
    }
  }
  if (*num_attributes > 0) put_attributes(vector, *num_attributes);
}

void Encoder::put_shared_or_elements(SEXP vector, Item item, unsigned flags) {
  const auto length = static_cast<std::uint64_t>(Rf_xlength(vector));
  const std::size_t num_bytes = length * element_bytes(item);
  const void* data = DATAPTR_RO(vector);
  if (shared_ != nullptr && num_bytes >= kSmallestShared) {
    if (const auto offset = shared_->append({static_cast<const std::byte*>(data), num_bytes})) {
      writer_.put_item(Item::shared, flags);
      writer_.put_byte(static_cast<std::uint8_t>(item));
      writer_.put_number(*offset);
      writer_.put_number(length);
      return;
    }
    shared_ = nullptr;  // there is no memory: the rest goes in the stream
  }
  writer_.put_item(item, flags);
  writer_.put_number(length);
  writer_.put_elements(data, num_bytes);
}

void Encoder::put_strings(SEXP vector) {
  const R_xlen_t length = Rf_xlength(vector);
  const SEXP* strings = STRING_PTR_RO(vector);
  writer_.put_number(static_cast<std::uint64_t>(length));
  for (R_xlen_t i = 0; i < length; ++i) {
    __builtin_prefetch(strings[std::min(i + kLookAhead, length - 1)]);
    put_text(strings[i]);
  }
}

void Encoder::put_text(SEXP string) {
  if (string == NA_STRING) {
    writer_.put_missing_string();
  } else if (!writer_.put_known_string(string)) {
    writer_.put_new_string(text_of(string), encoding_of(string));
  }
}

void Encoder::put_list(SEXP list) {
  R_CheckStack();
  const R_xlen_t length = Rf_xlength(list);
  const auto* elements = static_cast<const SEXP*>(DATAPTR_RO(list));
  writer_.put_number(static_cast<std::uint64_t>(length));
  for (R_xlen_t i = 0; i < length;) {
    __builtin_prefetch(elements[std::min(i + kLookAhead, length - 1)]);
    const R_xlen_t num_in_run = put_run(elements + i, length - i);
    i += num_in_run;
    if (num_in_run == 0) put(elements[i++]);
  }
}

// Writes the first elements of a list as a run where they are alike, and returns how many.
R_xlen_t Encoder::put_run(const SEXP* elements, R_xlen_t num_left) {
  const SEXP first = elements[0];
  const SEXPTYPE type = TYPEOF(first);
  if (num_left < kShortestRun || !Rf_isVectorAtomic(first)) return 0;
  const R_xlen_t length = Rf_xlength(first);
  if (length > kLongestInRun || !is_alike(first, type, length)) return 0;
  R_xlen_t count = 1;
  for (const R_xlen_t most = std::min<R_xlen_t>(num_left, kLongestRun); count < most; ++count) {
    __builtin_prefetch(elements[std::min(count + kLookAhead, num_left - 1)]);
    if (!is_alike(elements[count], type, length)) break;
  }
  if (count < kShortestRun) return 0;
  const Item item = item_of_vector(type);
  writer_.put_item(Item::run);
  writer_.put_byte(static_cast<std::uint8_t>(item));
  writer_.put_number(static_cast<std::uint64_t>(length));
  writer_.put_number(static_cast<std::uint64_t>(count));
  if (is_simple(item)) {
    const std::size_t num_bytes = static_cast<std::size_t>(length) * element_bytes(item);
    for (R_xlen_t i = 0; i < count; ++i) writer_.put_elements(DATAPTR_RO(elements[i]), num_bytes);
  } else {
    for (R_xlen_t i = 0; i < count; ++i) {
      for (R_xlen_t k = 0; k < length; ++k) put_text(STRING_ELT(elements[i], k));
    }
  }
  return count;
}

void Encoder::put_pairlist(SEXP first, Item item) {
  R_CheckStack();
  const auto count = num_cells(first);
  const auto num_attributes = num_usual_attributes(first);
  if (!count || !num_attributes) return put_by_r(first);
  const unsigned flags = flags_of(first, *num_attributes);
  writer_.put_item(item, flags);
  writer_.put_number(*count);
  for (SEXP cell = first; cell != R_NilValue; cell = CDR(cell)) {
    if (TAG(cell) == R_NilValue) {
      writer_.put_no_symbol();
    } else {
      put_symbol(TAG(cell));
    }
    put(CAR(cell));
  }
  if (*num_attributes > 0) put_attributes(first, *num_attributes);
}

void Encoder::put_closure(SEXP closure) {
  R_CheckStack();
  const auto num_attributes = num_usual_attributes(closure);
  if (!num_attributes) return put_by_r(closure);
  const unsigned flags = flags_of(closure, *num_attributes);
  writer_.put_item(Item::closure, flags);
  put(closure_formals(closure));
  put(closure_body(closure));
  put(closure_environment(closure));
  if (*num_attributes > 0) put_attributes(closure, *num_attributes);
}

void Encoder::put_object(SEXP object) {
  R_CheckStack();
  const auto num_attributes = num_usual_attributes(object);
  if (!num_attributes || !is_s4(object)) return put_by_r(object);
  writer_.put_item(Item::object, kHasAttributes | kIsS4);
  put_attributes(object, *num_attributes);
}

// What R writes refers to environments and the like by our numbers.
void Encoder::put_by_r(SEXP value) {
  by_r_.clear();
  write_by_r(value, Encoding::native, by_r_, &numbering_);
  // Defining may need the buffer itself, but only for names of namespaces.
  if (num_defined_ < references_.size()) {
    Buffer written = std::move(by_r_);
    define_new();
    by_r_ = std::move(written);
  }
  put_written_by_r(Item::by_r);
}

void Encoder::put_written_by_r(Item item) {
  writer_.put_item(item);
  writer_.put_number(by_r_.size());
  writer_.put_elements(by_r_.data(), by_r_.size());
}

bool Encoder::put_well_known(SEXP environment) {
  if (!is_well_known(environment)) return false;
  writer_.put_item(environment == R_GlobalEnv       ? Item::global_environment
                   : environment == R_BaseEnv       ? Item::base_environment
                   : environment == R_BaseNamespace ? Item::base_namespace
                                                    : Item::empty_environment);
  return true;
}

void Encoder::put_reference(SEXP value) {
  if (put_well_known(value)) return;
  enter(value);
  define_new();
  put_known_reference(value);
}

void Encoder::put_known_reference(SEXP value) {
  if (put_well_known(value)) return;
  writer_.put_item(Item::reference);
  writer_.put_number(*references_.find(value));
}

// Gives a value its number, after the environments around it.
void Encoder::enter(SEXP value) {
  if (references_.find(value)) return;
  if (TYPEOF(value) != ENVSXP || is_foreign(value)) return references_.add(value);
  const std::size_t num_before = ancestors_.size();
  for (SEXP each = value; !is_well_known(each) && !references_.find(each);
       each = parent_environment(each)) {
    ancestors_.push_back(each);
    if (is_foreign(each)) break;
  }
  while (ancestors_.size() > num_before) {
    references_.add(ancestors_.back());
    ancestors_.pop_back();
  }
}

void Encoder::define_new() {
  while (num_defined_ < references_.size()) define(references_[num_defined_++]);
}

void Encoder::define(SEXP value) {
  if (TYPEOF(value) == EXTPTRSXP) return writer_.put_item(Item::new_pointer);
  if (TYPEOF(value) == WEAKREFSXP) return writer_.put_item(Item::new_weak_reference);
  if (is_foreign(value)) {
    by_r_.clear();
    write_by_r(value, Encoding::native, by_r_);
    return put_written_by_r(Item::new_foreign);
  }
  const int size = table_size(value);
  writer_.put_item(Item::new_environment);
  put_known_reference(parent_environment(value));
  writer_.put_number(static_cast<std::uint64_t>(std::min(size, kLargestTable)));
}

// Writes what a reference holds, which may refer to others and to itself.
void Encoder::fill(SEXP value) {
  switch (TYPEOF(value)) {
    case EXTPTRSXP:
      put(R_ExternalPtrProtected(value));
      put(R_ExternalPtrTag(value));
      break;
    case ENVSXP:
      if (is_foreign(value)) return;
      fill_environment(value);
      break;
    default:
      break;
  }
  writer_.put_byte(is_s4(value) ? kIsS4 : 0);
  std::uint64_t num_attributes = 0;
  for_each_attribute(value, [&](SEXP, SEXP) { ++num_attributes; });
  put_attributes(value, num_attributes);
}

void Encoder::fill_environment(SEXP environment) {
  SEXP names = PROTECT(R_lsInternal3(environment, TRUE, FALSE));
  const R_xlen_t num_names = Rf_xlength(names);
  writer_.put_byte(R_EnvironmentIsLocked(environment) ? kIsLocked : 0);
  writer_.put_number(static_cast<std::uint64_t>(num_names));
  // R puts each new variable in front: so the last one goes first.
  for (R_xlen_t i = num_names; i-- > 0;) {
    put_binding(Rf_installTrChar(STRING_ELT(names, i)), environment);
  }
  UNPROTECT(1);
}

// Forces no promise and runs no active binding.
void Encoder::put_binding(SEXP symbol, SEXP environment) {
  const Binding binding = binding_of(symbol, environment);
  const auto begin = [&](BindingKind kind) {
    const unsigned lock = R_BindingIsLocked(symbol, environment) ? kIsLocked : 0U;
    writer_.put_byte(static_cast<std::uint8_t>(static_cast<unsigned>(kind) | lock));
    put_symbol(symbol);
  };
  switch (binding.type) {
    case BindingType::active:
      begin(BindingKind::active);
      return put(binding.value);
    case BindingType::delayed:
      begin(BindingKind::delayed);
      put(binding.expression);
      return put(binding.environment);
    case BindingType::forced:
      begin(BindingKind::forced);
      put(binding.expression);
      return put(binding.value);
    case BindingType::missing:
    case BindingType::unbound:  // a finalizer has taken it away meanwhile
      begin(BindingKind::value);
      return put(R_MissingArg);
    case BindingType::value:
    case BindingType::promise:
      begin(BindingKind::value);
      return put(binding.value);
  }
}

void Encoder::put_symbol(SEXP symbol) {
  if (writer_.put_known_symbol(symbol)) return;
  const SEXP name = PRINTNAME(symbol);
  writer_.put_new_symbol(text_of(name), encoding_of(name));
}

void Encoder::put_attributes(SEXP value, std::uint64_t count) {
  writer_.put_number(count);
  for_each_attribute(value, [&](SEXP tag, SEXP attribute) {
    put_symbol(tag);
    put(attribute);
  });
}

}  // namespace nodelay
