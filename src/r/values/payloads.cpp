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

// The buffer that was used last, where nobody has that any more and it is no large one.
std::shared_ptr<Buffer> take_spare_buffer() {
  static std::shared_ptr<Buffer> spare;
  if (spare.use_count() != 1 || spare->capacity() > kLargestSpare) {
    spare = std::make_shared<Buffer>();
    spare->reserve_tail(kTypicalBytes);
  }
  spare->clear();
  return spare;
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

class ReceivedMemory final : public SharedSource {
 public:
  explicit ReceivedMemory(Descriptor descriptor) {
    if (!descriptor) return;
    memory_ = SharedMemory::adopt(std::move(descriptor));
    if (memory_) return;
    throw Error(ErrorKind::protocol, "The shared memory of a message is not sealed.");
  }

  const SharedMemory* memory() const override { return memory_ ? &*memory_ : nullptr; }

 private:
  std::optional<SharedMemory> memory_;
};

}  // namespace

std::shared_ptr<const Buffer> serialize(SEXP value, Encoding encoding) {
  const std::shared_ptr<Buffer> buffer = take_spare_buffer();
  protected_from_jumps([&] {
    write_by_r(value, encoding, *buffer);
    return R_NilValue;
  });
  return buffer;
}

Payload make_payload(SEXP value, Encoding encoding, Reader reader) {
  if (reader == Reader::base_r) return serialize(value, encoding);
  const std::shared_ptr<Buffer> buffer = take_spare_buffer();
  const Loan<WriterTables> tables;
  ValueWriter writer(*buffer, nullptr, *tables);
  References references;
  MessageMemory memory;
  Encoder encoder(writer, references, reader == Reader::nodelay_beside ? &memory : nullptr);
  protected_from_jumps([&] {
    encoder.write(value);
    return R_NilValue;
  });
  return {buffer, memory.take()};
}

SEXP unserialize(Bytes bytes, Descriptor memory) {
  if (bytes.empty() || bytes.front() != kValueMagic) {
    return protected_from_jumps([&] { return read_by_r(bytes); });
  }
  const ReceivedMemory received(std::move(memory));
  const Loan<ReaderTables> tables;
  ValueReader reader(bytes, nullptr);
  std::optional<Decoder> decoder;
  return protected_from_jumps([&] {
    decoder.emplace(*tables, received);
    try {
      SEXP value = decoder->read(reader);
      if (!reader.is_at_end()) throw Error(ErrorKind::protocol, "A value is longer than it says.");
      decoder->finish();
      return value;
    } catch (...) {
      decoder->finish();
      throw;
    }
  });
}

}  // namespace nodelay
