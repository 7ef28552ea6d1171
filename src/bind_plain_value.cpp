// SPDX-License-Identifier: MIT
#include "bind_plain_value.h"

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "bind_serialization.h"

namespace nodelay {
namespace {

// The numbers of R's format, from "R Internals", section "Serialization Formats", and
// src/main/serialize.c of R.
constexpr int kReference = 255;
constexpr int kNull = 254;
constexpr int kGlobalEnvironment = 253;
constexpr int kEmptyEnvironment = 242;
constexpr int kBaseEnvironment = 241;
constexpr int kIsObject = 1 << 8;
constexpr int kHasAttributes = 1 << 9;
constexpr int kHasTag = 1 << 10;
constexpr int kLevelsShift = 12;
constexpr int kReferenceShift = 8;
constexpr int kNotWritten = 0x21;  // levels of a string that are of this process only

constexpr int kMostParts = 10'000;  // R's table does not count any more
constexpr int kDeepest = 64;

class PlainWriter {
 public:
  explicit PlainWriter(Buffer& buffer) : buffer_(buffer) {}

  bool write(SEXP value, int depth = 0) {
    if (++num_parts_ > kMostParts || depth > kDeepest || ALTREP(value)) return false;
    switch (TYPEOF(value)) {
      case NILSXP:
        put(kNull);
        return true;
      case ENVSXP:
        return write_environment(value);
      case SYMSXP:
        return write_symbol(value);
      case LISTSXP:
        return write_pairlist(value, depth);
      case LGLSXP:
      case INTSXP:
      case REALSXP:
      case CPLXSXP:
      case RAWSXP:
      case STRSXP:
      case VECSXP:
        return write_vector(value, depth);
      default:
        return false;
    }
  }

 private:
  void put(int number) { buffer_.append(&number, sizeof number); }

  static int flags_of(SEXP value) {
    return static_cast<int>(TYPEOF(value)) | (LEVELS(value) << kLevelsShift) |
           (OBJECT(value) ? kIsObject : 0) | (ATTRIB(value) != R_NilValue ? kHasAttributes : 0);
  }

  bool write_environment(SEXP value) {
    const int number = value == R_GlobalEnv  ? kGlobalEnvironment
                       : value == R_BaseEnv  ? kBaseEnvironment
                       : value == R_EmptyEnv ? kEmptyEnvironment
                                             : 0;
    if (number != 0) put(number);
    return number != 0;
  }

  bool write_symbol(SEXP symbol) {
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i] != symbol) continue;
      put((static_cast<int>(i + 1) << kReferenceShift) | kReference);
      return true;
    }
    if (symbol == R_MissingArg || symbol == R_UnboundValue) return false;
    symbols_.push_back(symbol);
    put(SYMSXP);
    write_string(PRINTNAME(symbol));
    return true;
  }

  bool write_pairlist(SEXP cell, int depth) {
    for (; TYPEOF(cell) == LISTSXP; cell = CDR(cell)) {
      const bool has_tag = TAG(cell) != R_NilValue;
      put(flags_of(cell) | (has_tag ? kHasTag : 0));
      if (ATTRIB(cell) != R_NilValue && !write(ATTRIB(cell), depth + 1)) return false;
      if (has_tag && !write(TAG(cell), depth + 1)) return false;
      if (!write(CAR(cell), depth + 1)) return false;
    }
    if (cell != R_NilValue) return false;
    put(kNull);
    return true;
  }

  bool write_vector(SEXP vector, int depth) {
    const R_xlen_t length = Rf_xlength(vector);
    if (length > std::numeric_limits<int>::max()) return false;
    put(flags_of(vector));
    put(static_cast<int>(length));
    return write_elements(vector, length, depth) &&
           (ATTRIB(vector) == R_NilValue || write(ATTRIB(vector), depth + 1));
  }

  bool write_elements(SEXP vector, R_xlen_t length, int depth) {
    const auto count = static_cast<std::size_t>(length);
    switch (TYPEOF(vector)) {
      case LGLSXP:
        buffer_.append(LOGICAL_RO(vector), count * sizeof(int));
        return true;
      case INTSXP:
        buffer_.append(INTEGER_RO(vector), count * sizeof(int));
        return true;
      case REALSXP:
        buffer_.append(REAL_RO(vector), count * sizeof(double));
        return true;
      case CPLXSXP:
        buffer_.append(COMPLEX_RO(vector), count * sizeof(Rcomplex));
        return true;
      case RAWSXP:
        buffer_.append(RAW_RO(vector), count);
        return true;
      case STRSXP:
        if ((num_parts_ += static_cast<int>(std::min<R_xlen_t>(length, kMostParts))) > kMostParts) {
          return false;
        }
        for (R_xlen_t i = 0; i < length; ++i) write_string(STRING_ELT(vector, i));
        return true;
      default:
        for (R_xlen_t i = 0; i < length; ++i) {
          if (!write(VECTOR_ELT(vector, i), depth + 1)) return false;
        }
        return true;
    }
  }

  void write_string(SEXP string) {
    put(CHARSXP | ((LEVELS(string) & ~kNotWritten) << kLevelsShift));
    if (string == NA_STRING) {
      put(-1);
      return;
    }
    put(LENGTH(string));
    buffer_.append(CHAR(string), static_cast<std::size_t>(LENGTH(string)));
  }

  Buffer& buffer_;
  std::vector<SEXP> symbols_;  // written before, in the order of their first places
  int num_parts_ = 0;
};

// What stands in front of every value: version, and the encoding of strings without a mark,
// which goes with the locale. R writes it in front of a NULL, which takes four bytes.
const Buffer& format_header() {
  static std::string locale;
  static std::shared_ptr<const Buffer> header;
  const char* current = std::setlocale(LC_CTYPE, nullptr);
  if (!header || locale != current) {
    header = serialize_by_r(R_NilValue, Encoding::native);
    locale = current;
  }
  return *header;
}

}  // namespace

bool write_plain_value(SEXP value, Buffer& buffer) {
  const Bytes header = format_header().bytes();
  buffer.append(header.data(), header.size() - sizeof(int));
  return PlainWriter(buffer).write(value);
}

}  // namespace nodelay
