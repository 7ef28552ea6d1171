// SPDX-License-Identifier: MIT
#include <cstring>

#include "r/base/conditions.h"
#include "r/values/payloads.h"
#include "r/values/shared_vectors.h"

using namespace nodelay;

[[cpp11::init]] void define_classes(DllInfo* dll) {
  define_shared_vectors(dll);
}

// How many bytes `value` takes in version 3 of R's format; both encodings take the same.
[[cpp11::register]] double serialized_size(SEXP value) {
  double num_bytes = 0;
  cpp11::unwind_protect([&] { num_bytes = serialized_bytes_of(value); });
  return num_bytes;
}

// The bytes that travel for `value`. For tests.
[[cpp11::register]] cpp11::raws encoded_value(SEXP value) {
  return entry([&]() -> cpp11::raws {
    const Payload payload = make_payload(value, Encoding::native, Reader::nodelay);
    cpp11::writable::raws bytes(static_cast<R_xlen_t>(payload.body->size()));
    std::memcpy(RAW(bytes), payload.body->data(), payload.body->size());
    return bytes;
  });
}

// The value that such bytes hold. For tests.
[[cpp11::register]] SEXP decoded_value(cpp11::raws bytes) {
  return entry([&] {
    return unserialize(
        {reinterpret_cast<const std::byte*>(RAW(bytes)), static_cast<std::size_t>(bytes.size())});
  });
}
