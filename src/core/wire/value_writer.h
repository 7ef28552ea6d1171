// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/buffer.h"
#include "wire/recent.h"
#include "wire/value_format.h"

namespace nodelay {

/// Takes the parts of a value while that is being written.
class PartSink {
 public:
  virtual ~PartSink() = default;

  /// Takes the content of `part` and leaves it empty. May throw whatever sending can.
  virtual void take(Buffer& part) = 0;
};

/// What a writer needs beside its bytes: 140 kB that are worth keeping from one value to the next.
struct WriterTables {
  RecentKeys<kRecentStrings> strings;
  RecentKeys<kRecentSymbols> symbols;
};

/// Writes the tokens of docs/protocol.md, "Values", one after the other: first bytes of items,
/// numbers, elements, strings. Knows nothing of what may follow what. A pure value with no
/// socket: full parts go to a sink. Throws std::bad_alloc, and what the sink throws.
class ValueWriter {
 public:
  /// Writes to the end of `part`. Without a sink, all of it. Clears the tables; all three outlive
  /// this.
  ValueWriter(Buffer& part, PartSink* sink, WriterTables& tables);

  void put_item(Item item, unsigned flags = 0) {
    put_byte(static_cast<std::uint8_t>(static_cast<unsigned>(item) | flags));
  }

  void put_byte(std::uint8_t byte) {
    *make_room(1) = static_cast<std::byte>(byte);
    part_.commit(1);
  }

  /// Seven bits a byte, the lowest first; the highest bit says that more follow.
  void put_number(std::uint64_t number) {
    std::byte* to = make_room(kLongestNumber);
    std::size_t length = 0;
    for (; number >= 0x80; number >>= 7) to[length++] = static_cast<std::byte>(number | 0x80);
    to[length++] = static_cast<std::byte>(number);
    part_.commit(length);
  }

  /// Bytes of any number, which parts may cut.
  void put_elements(const void* elements, std::size_t num_bytes);

  /// A string that is missing.
  void put_missing_string() { put_byte(0); }

  /// A string that was written a short while ago: returns true, and has written that it comes
  /// again. Otherwise put_new_string() must follow. `key` is the same for the same text in the same
  /// encoding, and for no other while this value is written.
  bool put_known_string(const void* key) { return put_known(tables_.strings.find_or_add(key)); }
  void put_new_string(std::string_view text, StringEncoding encoding) {
    put_new_text(kRecentStrings + 1, text, encoding);
  }

  /// The same for symbols, which have a table of their own.
  bool put_known_symbol(const void* key) { return put_known(tables_.symbols.find_or_add(key)); }
  void put_new_symbol(std::string_view text, StringEncoding encoding) {
    put_new_text(kRecentSymbols + 1, text, encoding);
  }

  /// In place of a symbol where there is none.
  void put_no_symbol() { put_byte(0); }

  /// Hands what has been written to the sink, where there is one.
  void end_part() {
    if (sink_ != nullptr && !part_.empty()) sink_->take(part_);
  }

 private:
  std::byte* make_room(std::size_t num_bytes) {
    if (sink_ != nullptr && part_.size() + num_bytes > kPartBytes) end_part();
    return part_.reserve_tail(num_bytes);
  }

  bool put_known(std::optional<std::uint64_t> place) {
    if (place) put_number(*place + 1);
    return place.has_value();
  }

  void put_new_text(std::uint64_t base, std::string_view text, StringEncoding encoding);

  Buffer& part_;
  PartSink* sink_;
  WriterTables& tables_;
};

}  // namespace nodelay
