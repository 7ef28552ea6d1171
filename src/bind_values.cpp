// SPDX-License-Identifier: MIT
#include <cstring>

#include "r/values/plain_reader.h"
#include "r/values/serialization.h"
#include "r/values/stand_ins.h"

using namespace nodelay;

[[cpp11::init]] void define_classes(DllInfo* dll) {
  define_stand_ins(dll);
}

// How many bytes `value` takes in version 3 of R's format; both encodings take the same.
[[cpp11::register]] double serialized_size(SEXP value) {
  return serialized_bytes_of(value);
}

// The bytes that travel for `value`; those of R's own serializer where `by_r`. For tests.
[[cpp11::register]] cpp11::raws serialized_bytes(SEXP value, bool by_r) {
  const auto buffer =
      by_r ? serialize_by_r(value, Encoding::native) : serialize(value, Encoding::native);
  cpp11::writable::raws bytes(static_cast<R_xlen_t>(buffer->size()));
  std::memcpy(RAW(bytes), buffer->data(), buffer->size());
  return bytes;
}

// A list of the value that `bytes` hold, where nodelay's own reader takes it; NULL where it is left
// to R. For tests.
[[cpp11::register]] SEXP plain_value_of(cpp11::raws bytes) {
  const auto content = plain_content(
      {reinterpret_cast<const std::byte*>(RAW(bytes)), static_cast<std::size_t>(bytes.size())});
  if (!content) return R_NilValue;
  return cpp11::unwind_protect([&] {
    SEXP value = read_plain_value(*content);
    if (value == nullptr) return R_NilValue;
    PROTECT(value);
    SEXP list = Rf_allocVector(VECSXP, 1);
    SET_VECTOR_ELT(list, 0, value);
    UNPROTECT(1);
    return list;
  });
}
