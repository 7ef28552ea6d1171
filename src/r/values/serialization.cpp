// SPDX-License-Identifier: MIT
#include "r/values/serialization.h"

#include <nodelay/error.h>

#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "r/values/plain_reader.h"
#include "r/values/plain_writer.h"
#include "r/values/stand_ins.h"

namespace nodelay {
namespace {

constexpr int kSerializationVersion = 3;

// Of most of the values that are waited for.
constexpr std::size_t kTypicalBytes = 8192;

// Called from R's C code: no C++ exception may leave it.
void put_bytes(R_outpstream_t stream, void* bytes, int num_bytes) {
  bool is_out_of_memory = false;
  try {
    static_cast<Buffer*>(stream->data)->append(bytes, static_cast<std::size_t>(num_bytes));
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
  *static_cast<double*>(stream->data) += num_bytes;
}

void count_char(R_outpstream_t stream, int) {
  count_bytes(stream, nullptr, 1);
}

void get_bytes(R_inpstream_t stream, void* to, int num_bytes) {
  Bytes& left = *static_cast<Bytes*>(stream->data);
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

// By nodelay's own writer; null where the value is left to R. The buffer is the one that was used
// last, where nobody has that any more and it is no large one.
std::shared_ptr<const Buffer> serialize_plain_value(SEXP value) {
  static std::shared_ptr<Buffer> spare;
  if (spare.use_count() != 1) {
    spare = std::make_shared<Buffer>();
    spare->reserve_tail(kTypicalBytes);
  }
  const std::shared_ptr<Buffer> buffer = spare;
  buffer->clear();
  const bool is_written = write_plain_value(value, *buffer);
  if (buffer->capacity() > kLargestSpare) spare.reset();
  return is_written ? buffer : nullptr;
}

}  // namespace

std::shared_ptr<const Buffer> serialize(SEXP value, Encoding encoding) {
  if (encoding == Encoding::native) {
    if (auto buffer = serialize_plain_value(value)) return buffer;
  }
  return serialize_by_r(value, encoding);
}

std::shared_ptr<const Buffer> serialize_by_r(SEXP value, Encoding encoding) {
  auto buffer = std::make_shared<Buffer>();
  cpp11::unwind_protect([&] {
    R_outpstream_st stream;
    const auto format = encoding == Encoding::xdr ? R_pstream_xdr_format : R_pstream_binary_format;
    R_InitOutPStream(&stream, reinterpret_cast<R_pstream_data_t>(buffer.get()), format,
                     kSerializationVersion, put_char, put_bytes, nullptr, R_NilValue);
    R_Serialize(value, &stream);
  });
  return buffer;
}

Payload make_payload(SEXP value, Encoding encoding, Reader reader) {
  if (reader == Reader::base_r) return serialize(value, encoding);
  StandIns stand_ins(reader == Reader::nodelay_beside);
  if (stand_ins.needs_none(value)) return serialize(value, encoding);
  const cpp11::sexp stand_in = stand_ins.stand_in(value);
  auto body = serialize(stand_in, encoding);
  return {std::move(body), stand_ins.take_memory()};
}

SEXP unserialize(Bytes bytes, Descriptor memory) {
  std::optional<SharedMemory> shared;
  if (memory) {
    shared = SharedMemory::adopt(std::move(memory));
    if (!shared) throw Error(ErrorKind::protocol, "The shared memory of a message is not sealed.");
  }
  const StandInReading reading(shared ? &*shared : nullptr);
  const std::optional<Bytes> plain = plain_content(bytes);
  return cpp11::unwind_protect([&] {
    if (SEXP value = plain ? read_plain_value(*plain) : nullptr) return value;
    R_inpstream_st stream;
    R_InitInPStream(&stream, reinterpret_cast<R_pstream_data_t>(&bytes), R_pstream_any_format,
                    get_char, get_bytes, nullptr, R_NilValue);
    return R_Unserialize(&stream);
  });
}

double serialized_bytes_of(SEXP value) {
  double num_bytes = 0;
  cpp11::unwind_protect([&] {
    R_outpstream_st stream;
    R_InitOutPStream(&stream, reinterpret_cast<R_pstream_data_t>(&num_bytes),
                     R_pstream_binary_format, kSerializationVersion, count_char, count_bytes,
                     nullptr, R_NilValue);
    R_Serialize(value, &stream);
  });
  return num_bytes;
}

}  // namespace nodelay
