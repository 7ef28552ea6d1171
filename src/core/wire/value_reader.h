// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/buffer.h"
#include "wire/value_format.h"

namespace nodelay {

/// Gives the parts of a value while that is being read.
class PartSource {
 public:
  virtual ~PartSource() = default;

  /// The next part, valid until the next call; nothing where the value has no more. May wait, and
  /// throw whatever receiving can.
  virtual std::optional<Bytes> next_part() = 0;
};

/// Reads what ValueWriter has written, token by token. Nothing that it returns has been believed
/// but for its form: whoever builds a value looks at lengths and order. Every function throws
/// Error(protocol) where the bytes end too early or are no such token, and what the source throws.
class ValueReader {
 public:
  struct Head {
    Item item;
    bool has_attributes;
    bool is_s4;
  };

  /// A string or symbol.
  struct Text {
    enum class Kind { missing, again, fresh };
    Kind kind;
    std::uint64_t place = 0;                           ///< of `again`: where it is among the recent
    std::string_view text;                             ///< of `fresh`: valid until the next call
    StringEncoding encoding = StringEncoding::native;  ///< of `fresh`
  };

  /// `source` may be null: then `first` is all there is. Borrows both.
  ValueReader(Bytes first, PartSource* source)
      : next_(first.data()), end_(first.data() + first.size()), source_(source) {}

  Head take_head();

  std::uint8_t take_byte() {
    if (next_ == end_) take_part();
    return std::to_integer<std::uint8_t>(*next_++);
  }

  std::uint64_t take_number() {
    if (next_ != end_ && std::to_integer<std::uint8_t>(*next_) < 0x80) {
      return std::to_integer<std::uint64_t>(*next_++);
    }
    return take_long_number();
  }

  /// A number that counts what follows, of which each takes `least_bytes` at least, or so many
  /// share a byte at most: refused where no memory could hold that many, or it is plain that they
  /// do not follow.
  std::uint64_t take_count(std::uint64_t least_bytes, std::uint64_t most_in_a_byte = 1);

  /// Copies `num_bytes` to `to`.
  void take_elements(void* to, std::size_t num_bytes);

  Text take_string() { return take_text(kRecentStrings); }
  Text take_symbol() { return take_text(kRecentSymbols); }

  /// True where nothing is left, and there is no source that could have more.
  bool is_at_end() const { return next_ == end_; }

  /// What follows as it lies in this part: for bytes that another reader takes.
  Bytes take_in_one_piece(std::size_t num_bytes);

 private:
  std::size_t num_left() const { return static_cast<std::size_t>(end_ - next_); }
  std::uint64_t take_long_number();
  Text take_text(std::uint64_t num_recent);
  void take_part();

  const std::byte* next_;
  const std::byte* end_;
  PartSource* source_;
  Buffer pieces_;  // what parts have cut, in one piece
};

}  // namespace nodelay
