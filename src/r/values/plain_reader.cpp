// SPDX-License-Identifier: MIT
#include "r/values/plain_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "r/values/plain_format.h"

namespace nodelay {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} * 1024;
constexpr std::size_t kMostSymbols = 128;

// A null value, from any function below: the whole is left to R. An R error may leave all of it
// behind at any place.
class PlainReader {
 public:
  explicit PlainReader(Bytes bytes) : next_(bytes.data()), end_(next_ + bytes.size()) {}

  bool is_at_end() const { return next_ == end_; }

  SEXP read(int depth = 0) {
    const auto flags = take_number();
    return flags ? read_item(*flags, depth) : nullptr;
  }

 private:
  std::size_t num_left() const { return static_cast<std::size_t>(end_ - next_); }

  std::optional<int> take_number() {
    if (num_left() < sizeof(int)) return std::nullopt;
    int number = 0;
    std::memcpy(&number, next_, sizeof number);
    next_ += sizeof number;
    return number;
  }

  SEXP read_item(int flags, int depth) {
    if (++num_parts_ > kMostPlainParts || depth > kDeepestPlainPart) return nullptr;
    switch (flags & kTypeMask) {
      case kNullItem:
        return R_NilValue;
      case kGlobalEnvironmentItem:
        return R_GlobalEnv;
      case kBaseEnvironmentItem:
        return R_BaseEnv;
      case kEmptyEnvironmentItem:
        return R_EmptyEnv;
      case kMissingArgumentItem:
        return R_MissingArg;
      case kReferenceItem:
        return read_reference(flags >> kReferenceShift);
      case SYMSXP:
        return read_symbol();
      case LISTSXP:
      case LANGSXP:
        return read_pairlist(flags, depth);
      case LGLSXP:
      case INTSXP:
      case REALSXP:
      case CPLXSXP:
      case RAWSXP:
      case STRSXP:
      case VECSXP:
        return read_vector(flags, depth);
      default:
        return nullptr;
    }
  }

  SEXP read_reference(int index) const {
    const bool is_known = index > 0 && static_cast<std::size_t>(index) <= num_symbols_;
    return is_known ? symbols_[static_cast<std::size_t>(index) - 1] : nullptr;
  }

  SEXP read_symbol() {
    SEXP name = read_string();
    if (name == nullptr || name == NA_STRING || num_symbols_ == kMostSymbols) return nullptr;
    PROTECT(name);
    SEXP symbol = Rf_installTrChar(name);
    UNPROTECT(1);
    return symbols_[num_symbols_++] = symbol;
  }

  // Strings in the locale's own encoding may have to be translated, which is R's to do.
  SEXP read_string() {
    const auto flags = take_number();
    const auto length = take_number();
    const int kind = *flags & ((1 << kLevelsShift) - 1);
    if (!length || kind != CHARSXP) return nullptr;
    if (*length == kMissingStringLength) return NA_STRING;
    if (*length < 0 || num_left() < static_cast<std::size_t>(*length)) return nullptr;
    const auto* text = reinterpret_cast<const char*>(next_);
    next_ += *length;
    switch (*flags >> kLevelsShift) {
      case kAsciiLevel:
        return Rf_mkCharLenCE(text, *length, CE_NATIVE);
      case kUtf8Level:
        return Rf_mkCharLenCE(text, *length, CE_UTF8);
      case kLatin1Level:
        return Rf_mkCharLenCE(text, *length, CE_LATIN1);
      case kBytesLevel:
        return Rf_mkCharLenCE(text, *length, CE_BYTES);
      default:
        return nullptr;
    }
  }

  // A pairlist or, in the same form, a call.
  SEXP read_pairlist(int flags, int depth) {
    const bool is_call = (flags & kTypeMask) == LANGSXP;
    SEXP first = PROTECT(is_call ? Rf_lcons(R_NilValue, R_NilValue) : Rf_list1(R_NilValue));
    SEXP cell = first;
    bool is_sound = read_cell(cell, flags, depth);
    while (is_sound) {
      const auto next_flags = take_number();
      if (next_flags == kNullItem) break;
      is_sound = next_flags && (*next_flags & kTypeMask) == LISTSXP;
      if (!is_sound) break;
      SETCDR(cell, Rf_list1(R_NilValue));
      cell = CDR(cell);
      is_sound = read_cell(cell, *next_flags, depth);
    }
    UNPROTECT(1);
    return is_sound ? first : nullptr;
  }

  // All of it but the rest of its list. False: left to R.
  bool read_cell(SEXP cell, int flags, int depth) {
    if (flags >> kLevelsShift != 0 || !read_attributes(cell, flags, depth)) return false;
    if ((flags & kHasTag) != 0) {
      SEXP tag = read(depth + 1);
      if (tag == nullptr || TYPEOF(tag) != SYMSXP) return false;
      SET_TAG(cell, tag);
    }
    SEXP value = read(depth + 1);
    if (value == nullptr) return false;
    SETCAR(cell, value);
    return true;
  }

  SEXP read_vector(int flags, int depth) {
    const auto type = static_cast<SEXPTYPE>(flags & kTypeMask);
    const auto length = take_number();
    if (!length || *length < 0 || flags >> kLevelsShift != 0) return nullptr;
    // Before memory is asked for: one number at least for each string, and element of a list.
    if (num_left() / bytes_of_element(type) < static_cast<std::size_t>(*length)) return nullptr;
    SEXP vector = PROTECT(Rf_allocVector(type, *length));
    const bool is_sound =
        read_elements(vector, *length, depth) && read_attributes(vector, flags, depth);
    UNPROTECT(1);
    return is_sound ? vector : nullptr;
  }

  static std::size_t bytes_of_element(SEXPTYPE type) {
    switch (type) {
      case REALSXP:
        return sizeof(double);
      case CPLXSXP:
        return sizeof(Rcomplex);
      case RAWSXP:
        return sizeof(Rbyte);
      default:
        return sizeof(int);
    }
  }

  bool read_elements(SEXP vector, int length, int depth) {
    const SEXPTYPE type = TYPEOF(vector);
    if (type == STRSXP) return read_strings(vector, length);
    if (type == VECSXP) return read_list(vector, length, depth);
    const std::size_t num_bytes = static_cast<std::size_t>(length) * bytes_of_element(type);
    if (num_bytes > 0) std::memcpy(DATAPTR(vector), next_, num_bytes);
    next_ += num_bytes;
    return true;
  }

  bool read_strings(SEXP vector, int length) {
    num_parts_ += std::min(length, kMostPlainParts);
    if (num_parts_ > kMostPlainParts) return false;
    for (int i = 0; i < length; ++i) {
      SEXP string = read_string();
      if (string == nullptr) return false;
      SET_STRING_ELT(vector, i, string);
    }
    return true;
  }

  bool read_list(SEXP list, int length, int depth) {
    for (int i = 0; i < length; ++i) {
      SEXP element = read(depth + 1);
      if (element == nullptr) return false;
      SET_VECTOR_ELT(list, i, element);
    }
    return true;
  }

  bool read_attributes(SEXP of, int flags, int depth) {
    if ((flags & kHasAttributes) != 0) {
      SEXP attributes = read(depth + 1);
      if (attributes == nullptr || TYPEOF(attributes) != LISTSXP) return false;
      SET_ATTRIB(of, attributes);
    }
    SET_OBJECT(of, (flags & kIsObject) != 0);
    return true;
  }

  const std::byte* next_;
  const std::byte* end_;
  std::array<SEXP, kMostSymbols> symbols_;  // read before, which references name
  std::size_t num_symbols_ = 0;
  int num_parts_ = 0;
};

}  // namespace

std::optional<Bytes> plain_content(Bytes bytes) {
  if (bytes.size() > kMostBytes) return std::nullopt;
  const Bytes header = plain_format_header();
  const bool is_plain =
      bytes.size() > header.size() && std::equal(header.begin(), header.end(), bytes.begin());
  return is_plain ? std::optional(bytes.subspan(header.size())) : std::nullopt;
}

SEXP read_plain_value(Bytes content) {
  PlainReader reader(content);
  SEXP value = reader.read();
  return reader.is_at_end() ? value : nullptr;
}

}  // namespace nodelay
