// SPDX-License-Identifier: MIT
#include "r/values/payloads.h"

#include <nodelay/error.h>

#include <optional>
#include <utility>

#include "r/base/protection.h"
#include "r/values/decoder.h"
#include "r/values/encoder.h"

namespace nodelay {
namespace {

// Of most of the values that are waited for.
constexpr std::size_t kTypicalBytes = 8192;

// An empty buffer for `write` to fill: the one that was used last, where nobody has that any more
// and it is no large one. `write` is run as R code has to be.
template <typename Write>
std::shared_ptr<const Buffer> written_by(Write write) {
  static std::shared_ptr<Buffer> spare;
  if (spare.use_count() != 1) {
    spare = std::make_shared<Buffer>();
    spare->reserve_tail(kTypicalBytes);
  }
  const std::shared_ptr<Buffer> buffer = spare;
  buffer->clear();
  protected_from_jumps([&] {
    write(*buffer);
    return R_NilValue;
  });
  if (buffer->capacity() > kLargestSpare) spare.reset();
  return buffer;
}

// Lends the tables that were used last. Reading and writing can run R code, which may read and
// write in turn: whoever comes then gets others.
template <typename Tables>
class Loan {
 public:
  Loan() : tables_(spare() ? std::move(spare()) : std::make_unique<Tables>()) {}
  ~Loan() { spare() = std::move(tables_); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  Tables& operator*() const { return *tables_; }

 private:
  static std::unique_ptr<Tables>& spare() {
    static std::unique_ptr<Tables> spare;
    return spare;
  }

  std::unique_ptr<Tables> tables_;
};

// The shared memory of one message, made when it is first needed.
class MessageMemory final : public SharedSink {
 public:
  std::optional<std::size_t> append(Bytes bytes) override {
    if (!memory_) memory_ = SharedMemory::create();
    return memory_ ? memory_->append(bytes) : std::nullopt;
  }

  // Sealed; null where nothing was put there.
  std::shared_ptr<const SharedMemory> take() {
    if (!memory_ || memory_->size() == 0) return nullptr;
    if (!memory_->seal()) throw Error(ErrorKind::system, "sealing shared memory failed");
    return std::make_shared<const SharedMemory>(std::move(*memory_));
  }

 private:
  std::optional<SharedMemory> memory_;
};

std::optional<SharedMemory> adopt(Descriptor descriptor) {
  if (!descriptor) return std::nullopt;
  auto memory = SharedMemory::adopt(std::move(descriptor));
  if (!memory) throw Error(ErrorKind::protocol, "The shared memory of a message is not sealed.");
  return memory;
}

// A value that has come whole.
struct Received {
  ValueReader reader;
  const std::optional<SharedMemory>& memory;

  SEXP read_by(Decoder& decoder) {
    SEXP value = decoder.read(reader, memory ? &*memory : nullptr);
    if (!reader.is_at_end()) throw Error(ErrorKind::protocol, "A value is longer than it says.");
    return value;
  }
};

// Runs `read(decoder)` as R code has to be run.
template <typename Read>
SEXP decode(Read read) {
  const Loan<ReaderTables> tables;
  std::optional<Decoder> decoder;  // outside of what an R error may jump out of
  return protected_from_jumps([&] {
    decoder.emplace(*tables);
    try {
      SEXP value = read(*decoder);
      decoder->finish();
      return value;
    } catch (...) {
      decoder->finish();
      throw;
    }
  });
}

}  // namespace

std::shared_ptr<const Buffer> serialize(SEXP value, Encoding encoding) {
  return written_by([&](Buffer& buffer) { write_by_r(value, encoding, buffer); });
}

Payload make_payload(SEXP value, Encoding encoding, Reader reader) {
  if (reader == Reader::base_r) return serialize(value, encoding);
  References known;
  return make_payload(value, reader, known);
}

Payload make_payload(SEXP value, Reader reader, References& known) {
  const Loan<WriterTables> tables;
  MessageMemory memory;
  std::optional<ValueWriter> writer;  // these two outside of what an R error may jump out of
  std::optional<Encoder> encoder;
  auto body = written_by([&](Buffer& buffer) {
    writer.emplace(buffer, nullptr, *tables);
    encoder.emplace(*writer, known, reader == Reader::nodelay_beside ? &memory : nullptr);
    encoder->write(value);
  });
  return {std::move(body), memory.take()};
}

SEXP unserialize(Bytes bytes, Descriptor memory) {
  if (bytes.empty() || bytes.front() != kValueMagic) {
    return protected_from_jumps([&] { return read_by_r(bytes); });
  }
  const auto adopted = adopt(std::move(memory));
  Received received{{bytes, nullptr}, adopted};
  return decode([&](Decoder& decoder) { return received.read_by(decoder); });
}

KeptValue::KeptValue(Bytes bytes, Descriptor memory) : memory_(adopt(std::move(memory))) {
  bytes_.append(bytes.data(), bytes.size());
}

SEXP read_kept(const KeptValue& kept) {
  Received received{{kept.bytes(), nullptr}, kept.memory()};
  return decode([&](Decoder& decoder) { return received.read_by(decoder); });
}

SEXP unserialize_with(const KeptValue& kept, Bytes bytes, Descriptor memory) {
  const auto adopted = adopt(std::move(memory));
  Received first{{kept.bytes(), nullptr}, kept.memory()};
  Received second{{bytes, nullptr}, adopted};
  return decode([&](Decoder& decoder) {
    SEXP both = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(both, 0, first.read_by(decoder));
    SET_VECTOR_ELT(both, 1, second.read_by(decoder));
    UNPROTECT(1);
    return both;
  });
}

}  // namespace nodelay
