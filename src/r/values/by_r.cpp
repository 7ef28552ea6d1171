// SPDX-License-Identifier: MIT
#include "r/values/by_r.h"

#include <array>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace nodelay {
namespace {

constexpr int kVersion = 3;

// Of R's format, from "R Internals", section "Serialization Formats", and src/main/serialize.c.
constexpr int kUnboundItem = 252;
constexpr int kPersistentItem = 247;
constexpr int kHasTag = 1 << 10;
constexpr int kIsAscii = 64 << 12;
constexpr std::size_t kNumHeaderIntegers = 3;

// What R's serializer hands to the functions below. R knows of pointers to it only.
struct Output {
  Buffer* buffer;
  const Numbering* numbering;
};

// Called from R's C code: no C++ exception may leave it.
void put_bytes(R_outpstream_t stream, void* bytes, int num_bytes) {
  bool is_out_of_memory = false;
  try {
    auto* output = reinterpret_cast<Output*>(stream->data);
    output->buffer->append(bytes, static_cast<std::size_t>(num_bytes));
  } catch (const std::bad_alloc&) {
    is_out_of_memory = true;
  }
  if (is_out_of_memory) Rf_error("out of memory while serializing a value for a worker");
}

void put_char(R_outpstream_t stream, int character) {
  char byte = static_cast<char>(character);
  put_bytes(stream, &byte, 1);
}

void count_bytes(R_outpstream_t stream, void*, int num_bytes) {
  *reinterpret_cast<double*>(stream->data) += num_bytes;
}

void count_char(R_outpstream_t stream, int) {
  count_bytes(stream, nullptr, 1);
}

SEXP number_text(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "%d", number);
  return Rf_mkString(text);
}

SEXP name_by_number(SEXP value, SEXP pointer) {
  const auto* numbering = static_cast<const Numbering*>(R_ExternalPtrAddr(pointer));
  const int number = (*numbering)(value);
  if (number < 0) Rf_error("out of memory while serializing a value for a worker");
  return number_text(number);
}

void get_bytes(R_inpstream_t stream, void* to, int num_bytes) {
  Bytes& left = *reinterpret_cast<Bytes*>(stream->data);
  const auto wanted = static_cast<std::size_t>(num_bytes);
  if (left.size() < wanted) Rf_error("a serialized value ends too early");
  if (wanted == sizeof(int)) {  // by far the most frequent
    std::memcpy(to, left.data(), sizeof(int));
  } else {
    std::memcpy(to, left.data(), wanted);
  }
  left = left.subspan(wanted);
}

int get_char(R_inpstream_t stream) {
  unsigned char byte = 0;
  get_bytes(stream, &byte, 1);
  return byte;
}

SEXP find_numbered(SEXP name, SEXP numbered) {
  const long number =
      Rf_xlength(name) == 1 ? std::strtol(CHAR(STRING_ELT(name, 0)), nullptr, 10) : -1;
  if (TYPEOF(numbered) != VECSXP || number < 0 || number >= Rf_xlength(numbered)) {
    Rf_error("a serialized value refers to something that did not come before");
  }
  return VECTOR_ELT(numbered, number);
}

// R's format put together by hand. All of it fits: an error may jump out of what reads it, so
// nothing here needs a destructor.
class Assembly {
 public:
  explicit Assembly(std::string_view codeset) {
    put("B\n", 2);
    for (const int number : {kVersion, R_VERSION, R_Version(3, 5, 0)}) put(number);
    put(static_cast<int>(codeset.size()));
    put(codeset.data(), codeset.size());
  }

  void put(int number) { put(&number, sizeof number); }

  void put(const void* bytes, std::size_t num_bytes) {
    if (num_bytes > bytes_.size() - size_) Rf_error("no room to assemble a value");
    if (num_bytes > 0) std::memcpy(&bytes_[size_], bytes, num_bytes);
    size_ += num_bytes;
  }

  // What stands at `place` of the list that the value is read with.
  void put_numbered(char place) {
    for (const int number : {kPersistentItem, 0, 1, static_cast<int>(CHARSXP) | kIsAscii, 1}) {
      put(number);
    }
    put(&place, 1);
  }

  Bytes bytes() const { return {bytes_.data(), size_}; }

 private:
  std::array<std::byte, 512> bytes_;
  std::size_t size_ = 0;
};

}  // namespace

void write_by_r(SEXP value, Encoding encoding, Buffer& buffer, const Numbering* numbering) {
  Output output{&buffer, numbering};
  SEXP pointer = R_NilValue;
  if (numbering != nullptr) {
    pointer = R_MakeExternalPtr(const_cast<Numbering*>(numbering), R_NilValue, R_NilValue);
  }
  PROTECT(pointer);
  R_outpstream_st stream;
  const auto format = encoding == Encoding::xdr ? R_pstream_xdr_format : R_pstream_binary_format;
  R_InitOutPStream(&stream, reinterpret_cast<R_pstream_data_t>(&output), format, kVersion, put_char,
                   put_bytes, numbering != nullptr ? name_by_number : nullptr, pointer);
  R_Serialize(value, &stream);
  UNPROTECT(1);
}

SEXP read_by_r(Bytes bytes, SEXP numbered) {
  R_inpstream_st stream;
  R_InitInPStream(&stream, reinterpret_cast<R_pstream_data_t>(&bytes), R_pstream_any_format,
                  get_char, get_bytes, find_numbered, numbered);
  return R_Unserialize(&stream);
}

#if R_VERSION >= R_Version(4, 6, 0)

void bind_delayed(SEXP symbol, SEXP expression, SEXP place, SEXP environment) {
  R_MakeDelayedBinding(symbol, expression, place, environment);
}

void bind_forced(SEXP symbol, SEXP expression, SEXP value, SEXP environment) {
  R_MakeForcedBinding(symbol, expression, value, environment);
}

#else

namespace {

// Before R 4.6 its interface makes no promises; its reader does. `place` is NULL where the promise
// has its value.
SEXP make_promise(SEXP expression, SEXP value, SEXP place) {
  const bool is_forced = place == R_NilValue;
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(parts, 0, place);
  SET_VECTOR_ELT(parts, 1, value);
  SET_VECTOR_ELT(parts, 2, expression);
  Assembly assembly("UTF-8");
  assembly.put(static_cast<int>(PROMSXP) | (is_forced ? 0 : kHasTag));
  if (is_forced) {
    assembly.put_numbered('1');
  } else {
    assembly.put_numbered('0');
    assembly.put(kUnboundItem);
  }
  assembly.put_numbered('2');
  SEXP promise = read_by_r(assembly.bytes(), parts);
  UNPROTECT(1);
  return promise;
}

void bind_promise(SEXP symbol, SEXP promise, SEXP environment) {
  PROTECT(promise);
  Rf_defineVar(symbol, promise, environment);
  UNPROTECT(1);
}

}  // namespace

void bind_delayed(SEXP symbol, SEXP expression, SEXP place, SEXP environment) {
  bind_promise(symbol, make_promise(expression, R_NilValue, place), environment);
}

void bind_forced(SEXP symbol, SEXP expression, SEXP value, SEXP environment) {
  bind_promise(symbol, make_promise(expression, value, R_NilValue), environment);
}

#endif

SEXP string_from(std::string_view codeset, std::string_view text) {
  // A vector of one string of any length.
  constexpr int kNumIntegers = 4;
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, static_cast<R_xlen_t>(512 + text.size())));
  const Assembly header(codeset.substr(0, 63));
  auto* to = reinterpret_cast<std::byte*>(RAW(bytes));
  std::size_t size = header.bytes().size();
  std::memcpy(to, header.bytes().data(), size);
  const int numbers[kNumIntegers] = {STRSXP, 1, CHARSXP, static_cast<int>(text.size())};
  std::memcpy(to + size, numbers, sizeof numbers);
  size += sizeof numbers;
  if (!text.empty()) std::memcpy(to + size, text.data(), text.size());
  size += text.size();
  SEXP vector = read_by_r({to, size});
  UNPROTECT(1);
  return STRING_ELT(vector, 0);
}

std::string_view native_codeset() {
  static std::string locale;
  static std::string codeset;
  const char* current = std::setlocale(LC_CTYPE, nullptr);
  if (locale == current) return codeset;
  static Buffer null;  // over an R error, too
  null.clear();
  write_by_r(R_NilValue, Encoding::native, null);
  // "B\n", three numbers, then the length of the name and the name.
  std::size_t at = 2 + kNumHeaderIntegers * sizeof(int);
  int length = 0;
  std::memcpy(&length, null.data() + at, sizeof length);
  at += sizeof length;
  codeset.assign(reinterpret_cast<const char*>(null.data() + at), static_cast<std::size_t>(length));
  locale = current;
  return codeset;
}

double serialized_bytes_of(SEXP value) {
  double num_bytes = 0;
  R_outpstream_st stream;
  R_InitOutPStream(&stream, reinterpret_cast<R_pstream_data_t>(&num_bytes), R_pstream_binary_format,
                   kVersion, count_char, count_bytes, nullptr, R_NilValue);
  R_Serialize(value, &stream);
  return num_bytes;
}

}  // namespace nodelay
