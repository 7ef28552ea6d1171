// SPDX-License-Identifier: MIT
#include "r/values/plain_writer.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "r/values/plain_format.h"

namespace nodelay {
namespace {

class PlainWriter {
 public:
  explicit PlainWriter(Buffer& buffer) : buffer_(buffer) {}

  bool write(SEXP value, int depth = 0) {
    if (++num_parts_ > kMostPlainParts || depth > kDeepestPlainPart || ALTREP(value)) return false;
    switch (TYPEOF(value)) {
      case NILSXP:
        put(kNullItem);
        return true;
      case ENVSXP:
        return write_environment(value);
      case SYMSXP:
        return write_symbol(value);
      case LISTSXP:
      case LANGSXP:
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
    const int number = value == R_GlobalEnv  ? kGlobalEnvironmentItem
                       : value == R_BaseEnv  ? kBaseEnvironmentItem
                       : value == R_EmptyEnv ? kEmptyEnvironmentItem
                                             : 0;
    if (number != 0) put(number);
    return number != 0;
  }

  bool write_symbol(SEXP symbol) {
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i] != symbol) continue;
      put((static_cast<int>(i + 1) << kReferenceShift) | kReferenceItem);
      return true;
    }
    if (symbol == R_MissingArg) {
      put(kMissingArgumentItem);
      return true;
    }
    if (symbol == R_UnboundValue) return false;
    symbols_.push_back(symbol);
    put(SYMSXP);
    write_string(PRINTNAME(symbol));
    return true;
  }

  // A pairlist or, in the same form, a call.
  bool write_pairlist(SEXP first, int depth) {
    SEXP cell = first;
    for (; cell == first || TYPEOF(cell) == LISTSXP; cell = CDR(cell)) {
      const bool has_tag = TAG(cell) != R_NilValue;
      put(flags_of(cell) | (has_tag ? kHasTag : 0));
      if (ATTRIB(cell) != R_NilValue && !write(ATTRIB(cell), depth + 1)) return false;
      if (has_tag && !write(TAG(cell), depth + 1)) return false;
      if (!write(CAR(cell), depth + 1)) return false;
    }
    if (cell != R_NilValue) return false;
    put(kNullItem);
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
        if ((num_parts_ += static_cast<int>(std::min<R_xlen_t>(length, kMostPlainParts))) >
            kMostPlainParts) {
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
    put(CHARSXP | ((LEVELS(string) & ~kNotWrittenLevels) << kLevelsShift));
    if (string == NA_STRING) {
      put(kMissingStringLength);
      return;
    }
    put(LENGTH(string));
    buffer_.append(CHAR(string), static_cast<std::size_t>(LENGTH(string)));
  }

  Buffer& buffer_;
  std::vector<SEXP> symbols_;  // written before, in the order of their first places
  int num_parts_ = 0;
};

}  // namespace

bool write_plain_value(SEXP value, Buffer& buffer) {
  const Bytes header = plain_format_header();
  buffer.append(header.data(), header.size());
  return PlainWriter(buffer).write(value);
}

}  // namespace nodelay
