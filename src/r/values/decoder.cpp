// SPDX-License-Identifier: MIT
#include "r/values/decoder.h"

#include <nodelay/error.h>

#include <algorithm>
#include <cstring>

#include "r/base/r_interface.h"
#include "r/values/by_r.h"
#include "r/values/shared_vectors.h"

namespace nodelay {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorKind::protocol, what);
}

SEXPTYPE type_of_vector(Item item) {
  switch (item) {
    case Item::strings:
      return STRSXP;
    case Item::list:
      return VECSXP;
    case Item::expression:
      return EXPRSXP;
    default:
      return type_of(item);
  }
}

cetype_t r_encoding(StringEncoding encoding) {
  switch (encoding) {
    case StringEncoding::utf8:
      return CE_UTF8;
    case StringEncoding::latin1:
      return CE_LATIN1;
    case StringEncoding::bytes:
      return CE_BYTES;
    default:
      return CE_NATIVE;
  }
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char each) { return (each & 0x80) == 0; });
}

}  // namespace

Decoder::Decoder(ReaderTables& tables) : tables_(tables) {
  PROTECT_WITH_INDEX(references_, &references_index_);
  PROTECT_WITH_INDEX(items_, &items_index_);
  num_protected_ = 2;
}

void Decoder::finish() {
  UNPROTECT(num_protected_);
  num_protected_ = 0;
}

SEXP Decoder::protect(SEXP value) {
  ++num_protected_;
  return PROTECT(value);
}

void Decoder::unprotect(int count) {
  num_protected_ -= count;
  UNPROTECT(count);
}

SEXP Decoder::read(ValueReader& reader, const SharedMemory* memory) {
  reader_ = &reader;
  memory_ = memory;
  tables_.strings.clear();
  tables_.symbols.clear();
  take_prologue();
  SEXP value = protect(take());
  while (num_filled_ < num_references_) fill(num_filled_++);
  unprotect(1);
  return value;
}

// Strings without a mark are in the encoding of the writer's locale.
void Decoder::take_prologue() {
  if (reader_->take_byte() != std::to_integer<std::uint8_t>(kValueMagic)) {
    refuse("A value is not in nodelay's format.");
  }
  const std::uint64_t length = reader_->take_number();
  if (length > codeset_name_.size()) refuse("A value names an encoding that is none.");
  reader_->take_elements(codeset_name_.data(), static_cast<std::size_t>(length));
  codeset_ = {codeset_name_.data(), static_cast<std::size_t>(length)};
  if (codeset_ == native_codeset()) codeset_ = {};
}

SEXP Decoder::take() {
  for (;;) {
    const Head head = reader_->take_head();
    if (head.item < Item::new_environment) return take_after(head);
    define(head.item);
  }
}

SEXP Decoder::take_after(Head head) {
  switch (head.item) {
    case Item::null:
      return R_NilValue;
    case Item::global_environment:
      return R_GlobalEnv;
    case Item::base_environment:
      return R_BaseEnv;
    case Item::base_namespace:
      return R_BaseNamespace;
    case Item::empty_environment:
      return R_EmptyEnv;
    case Item::missing_argument:
      return R_MissingArg;
    case Item::reference:
      return take_reference();
    case Item::symbol:
      return take_symbol();
    case Item::logical:
    case Item::integer:
    case Item::real:
    case Item::complex:
    case Item::raw:
    case Item::strings:
    case Item::list:
    case Item::expression:
      return take_vector(head);
    case Item::pairlist:
    case Item::call:
      return with_flags(take_pairlist(head.item == Item::call), head);
    case Item::closure:
      return with_flags(take_closure(), head);
    case Item::object:
      return with_flags(Rf_allocS4Object(), head);
    case Item::shared:
      return with_flags(take_shared(), head);
    case Item::by_r:
      return take_by_r();
    default:
      refuse("A value has an item where it cannot be.");
  }
}

SEXP Decoder::take_vector(Head head) {
  const std::size_t size = element_bytes(head.item);
  const bool is_list = type_of_vector(head.item) == VECSXP;
  const std::uint64_t length =
      reader_->take_count(std::max<std::size_t>(size, 1), is_list ? kLongestRun : 1);
  SEXP vector = protect(Rf_allocVector(type_of_vector(head.item), static_cast<R_xlen_t>(length)));
  if (size > 0) {
    reader_->take_elements(writable_data(vector), length * size);
  } else if (head.item == Item::strings) {
    take_strings(vector, static_cast<R_xlen_t>(length));
  } else {
    take_list(vector, static_cast<R_xlen_t>(length));
  }
  unprotect(1);
  return with_flags(vector, head);
}

SEXP Decoder::take_shared() {
  const auto item = static_cast<Item>(reader_->take_byte());
  const std::uint64_t offset = reader_->take_number();
  const std::uint64_t length = reader_->take_number();
  if (memory_ == nullptr || type_of(item) == NILSXP) {
    refuse("A vector in shared memory came without that memory.");
  }
  return vector_over(*memory_, item, offset, length);
}

void Decoder::take_strings(SEXP vector, R_xlen_t length) {
  for (R_xlen_t i = 0; i < length; ++i) SET_STRING_ELT(vector, i, take_text());
}

// The strings that are remembered stand in vectors that are protected.
SEXP Decoder::take_text() {
  const Text text = reader_->take_string();
  switch (text.kind) {
    case Text::Kind::missing:
      return NA_STRING;
    case Text::Kind::again:
      if (!tables_.strings.has(text.place)) refuse("A value repeats a string that it has not.");
      return tables_.strings[text.place];
    case Text::Kind::fresh:
      break;
  }
  SEXP string = make_text(text);
  tables_.strings.add(string);
  return string;
}

SEXP Decoder::make_text(const Text& text) {
  if (text.encoding == StringEncoding::native && !codeset_.empty() && !is_ascii(text.text)) {
    return string_from(codeset_, text.text);
  }
  return Rf_mkCharLenCE(text.text.data(), static_cast<int>(text.text.size()),
                        r_encoding(text.encoding));
}

void Decoder::take_list(SEXP list, R_xlen_t length) {
  R_CheckStack();
  const bool is_expression = TYPEOF(list) == EXPRSXP;
  for (R_xlen_t i = 0; i < length;) {
    const Head head = reader_->take_head();
    if (head.item == Item::run) {
      if (is_expression) refuse("A value has a run where none can be.");
      i += take_run(list, i, length);
    } else if (head.item >= Item::new_environment) {
      define(head.item);
    } else {
      SET_VECTOR_ELT(list, i++, take_after(head));
    }
  }
}

// Vectors that are alike, from element `first` of a list on; returns how many there are.
R_xlen_t Decoder::take_run(SEXP list, R_xlen_t first, R_xlen_t length) {
  const auto item = static_cast<Item>(reader_->take_byte());
  const std::uint64_t each_length = reader_->take_number();
  const std::uint64_t count = reader_->take_number();
  const std::size_t size = element_bytes(item);
  constexpr std::uint64_t kLongest = 1 << 20;
  const bool is_vector = size > 0 || item == Item::strings;
  if (!is_vector || each_length > kLongest || count > kLongestRun ||
      count > static_cast<std::uint64_t>(length - first)) {
    refuse("A value has a run that does not fit.");
  }
  const auto num_elements = static_cast<R_xlen_t>(each_length);
  const auto end = first + static_cast<R_xlen_t>(count);
  for (R_xlen_t i = first; i < end; ++i) {
    SEXP vector = Rf_allocVector(type_of_vector(item), num_elements);
    SET_VECTOR_ELT(list, i, vector);
    if (size > 0) {
      reader_->take_elements(writable_data(vector), each_length * size);
    } else {
      take_strings(vector, num_elements);
    }
  }
  return end - first;
}

SEXP Decoder::take_pairlist(bool is_call) {
  R_CheckStack();
  const std::uint64_t count = reader_->take_number();
  if (count == 0) refuse("A value has a pairlist of nothing.");
  SEXP first =
      protect(is_call ? Rf_lcons(R_NilValue, R_NilValue) : Rf_cons(R_NilValue, R_NilValue));
  SEXP cell = first;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > 0) {
      SETCDR(cell, Rf_cons(R_NilValue, R_NilValue));
      cell = CDR(cell);
    }
    const Text tag = reader_->take_symbol();
    if (tag.kind != Text::Kind::missing) SET_TAG(cell, symbol_of(tag));
    SETCAR(cell, take());
  }
  unprotect(1);
  return first;
}

SEXP Decoder::take_closure() {
  R_CheckStack();
  SEXP formals = protect(take());
  SEXP body = protect(take());
  SEXP environment = take();
  const bool is_sound =
      (formals == R_NilValue || TYPEOF(formals) == LISTSXP) && TYPEOF(environment) == ENVSXP;
  if (!is_sound) refuse("A value has a function that is none.");
  protect(environment);
  SEXP closure = make_closure(formals, body, environment);
  unprotect(3);
  return closure;
}

SEXP Decoder::take_by_r() {
  const std::uint64_t num_bytes = reader_->take_number();
  return read_by_r(reader_->take_in_one_piece(static_cast<std::size_t>(num_bytes)), references_);
}

SEXP Decoder::take_symbol() {
  return symbol_of(reader_->take_symbol());
}

SEXP Decoder::symbol_of(const Text& text) {
  if (text.kind == Text::Kind::again && tables_.symbols.has(text.place)) {
    return tables_.symbols[text.place];
  }
  if (text.kind != Text::Kind::fresh || text.text.empty())
    refuse("A value has no name for a symbol.");
  SEXP name = protect(make_text(text));
  SEXP symbol = Rf_installTrChar(name);
  unprotect(1);
  tables_.symbols.add(symbol);
  return symbol;
}

SEXP Decoder::take_reference() {
  const std::uint64_t number = reader_->take_number();
  if (number >= num_references_) refuse("A value refers to something that did not come before.");
  return VECTOR_ELT(references_, static_cast<R_xlen_t>(number));
}

SEXP Decoder::with_flags(SEXP value, Head head) {
  if (!head.has_attributes && !head.is_s4) return value;
  protect(value);
  if (head.has_attributes) take_attributes(value);
  SEXP result = head.is_s4 ? Rf_asS4(value, TRUE, 0) : value;
  unprotect(1);
  return result;
}

void Decoder::take_attributes(SEXP value) {
  const std::uint64_t count = reader_->take_number();
  for (std::uint64_t i = 0; i < count; ++i) {
    const SEXP tag = take_symbol();
    SEXP attribute = protect(take());
    Rf_setAttrib(value, tag, attribute);
    unprotect(1);
  }
}

// -- References -----------------------------------------------------------------------------------

void Decoder::add_reference(SEXP value, Item item) {
  protect(value);
  const auto room = static_cast<std::size_t>(Rf_xlength(references_));
  if (num_references_ == room) {
    const auto more = static_cast<R_xlen_t>(std::max<std::size_t>(8, 2 * room));
    SEXP longer = protect(Rf_allocVector(VECSXP, more));
    SEXP items = Rf_allocVector(RAWSXP, more);
    for (std::size_t i = 0; i < room; ++i) {
      const auto place = static_cast<R_xlen_t>(i);
      SET_VECTOR_ELT(longer, place, VECTOR_ELT(references_, place));
      RAW(items)[i] = RAW(items_)[i];
    }
    REPROTECT(references_ = longer, references_index_);
    REPROTECT(items_ = items, items_index_);
    unprotect(1);
  }
  SET_VECTOR_ELT(references_, static_cast<R_xlen_t>(num_references_), value);
  RAW(items_)[num_references_++] = static_cast<Rbyte>(item);
  unprotect(1);
}

void Decoder::define(Item item) {
  switch (item) {
    case Item::new_environment: {
      const SEXP parent = take_after(reader_->take_head());
      const std::uint64_t size = reader_->take_number();
      if (TYPEOF(parent) != ENVSXP || size > kLargestTable)
        refuse("A value has an environment that is none.");
      return add_reference(R_NewEnv(parent, size > 0, static_cast<int>(size)), item);
    }
    case Item::new_pointer:
      return add_reference(R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue), item);
    case Item::new_weak_reference:
      return add_reference(R_MakeWeakRef(R_NilValue, R_NilValue, R_NilValue, FALSE), item);
    case Item::new_foreign:
      return add_reference(take_by_r(), item);
    default:
      refuse("A value has an item where it cannot be.");
  }
}

void Decoder::fill(std::size_t number) {
  const SEXP value = VECTOR_ELT(references_, static_cast<R_xlen_t>(number));
  bool is_locked = false;
  switch (static_cast<Item>(RAW(items_)[number])) {
    case Item::new_pointer:
      R_SetExternalPtrProtected(value, take());
      R_SetExternalPtrTag(value, take());
      break;
    case Item::new_environment:
      is_locked = (reader_->take_byte() & kIsLocked) != 0;
      fill_environment(value);
      break;
    case Item::new_foreign:
      return;
    default:
      break;
  }
  const bool has_s4 = (reader_->take_byte() & kIsS4) != 0;
  take_attributes(value);
  if (has_s4) Rf_asS4(value, TRUE, 0);
  if (is_locked) R_LockEnvironment(value, FALSE);
}

void Decoder::fill_environment(SEXP environment) {
  const std::uint64_t count = reader_->take_number();
  for (std::uint64_t i = 0; i < count; ++i) take_binding(environment);
}

void Decoder::take_binding(SEXP environment) {
  const std::uint8_t kind = reader_->take_byte();
  const SEXP symbol = take_symbol();
  SEXP first = protect(take());
  switch (static_cast<BindingKind>(kind & kBindingMask)) {
    case BindingKind::value:
      Rf_defineVar(symbol, first, environment);
      break;
    case BindingKind::active:
      if (!Rf_isFunction(first)) refuse("A value has an active binding without a function.");
      R_MakeActiveBinding(symbol, first, environment);
      break;
    case BindingKind::delayed: {
      SEXP place = protect(take());
      bind_delayed(symbol, first, place, environment);
      unprotect(1);
      break;
    }
    case BindingKind::forced: {
      SEXP value = protect(take());
      bind_forced(symbol, first, value, environment);
      unprotect(1);
      break;
    }
    default:
      refuse("A value has a binding of an unknown kind.");
  }
  if ((kind & kIsLocked) != 0) R_LockBinding(symbol, environment);
  unprotect(1);
}

}  // namespace nodelay
