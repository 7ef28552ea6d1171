// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/buffer.h"

namespace nodelay {

/// Finds where one value in R's serialization format ends, without building it.
/// Base-R workers send such values with no frame around them. The scanner may be
/// fed in pieces cut anywhere: it keeps its place between them. It knows versions
/// 2 and 3 in the XDR ("X\n") and native ("B\n") encodings; see R's serialize.c
/// and "Serialization Formats" in the manual R Internals. It allocates a few bytes
/// for each level of nesting, never for a length that the input claims.
class ValueScanner {
 public:
  enum class State {
    going,      ///< the value goes on past the bytes seen so far
    complete,   ///< the value has ended
    malformed,  ///< the bytes are no serialized value
  };

  ValueScanner();

  /// Looks at the bytes that follow those of the calls before. Returns how many of
  /// them belong to the value: all of them while it is going, fewer where it ends
  /// or breaks among them. A finished or broken scanner takes none. Throws
  /// std::bad_alloc where the nesting outgrows the memory; restart() is then due.
  std::size_t feed(Bytes bytes);

  State state() const { return state_; }

  /// Makes ready for the next value.
  void restart();

 private:
  /// A value is words of four bytes, and between them runs of bytes that need no
  /// look. What a word says:
  enum class Word : std::uint8_t {
    format,           ///< "X\n" or "B\n"; the one word of two bytes
    version,          ///< which version of the format
    encoding_length,  ///< bytes of the name of the writer's encoding
    item,             ///< type and flags of an item
    length,           ///< how many elements follow
    string_length,    ///< the same; -1: a missing string, which has none
    vector_length,    ///< the same; -1: the next two words say how many
    length_high,      ///< upper half of such a length
    length_low,       ///< lower half
    constant_count,   ///< how many constants bytecode has
    constant,         ///< type of one of them
    language,         ///< type of a node of a call or pairlist among them
  };

  /// R's numbers of the types of items.
  enum class Type : std::int32_t;

  /// What is still to come at one level of nesting.
  struct Expected {
    Word word;
    std::uint64_t times;  ///< how many such words, at least 1
  };

  std::size_t skip(Bytes bytes);
  std::size_t gather(Bytes bytes);
  std::int32_t gathered_integer() const;

  /// Puts words in front of all that is expected already: what comes last goes first.
  void expect(Word word, std::uint64_t times = 1);
  void expect_length(Word word, std::uint8_t element_bytes);
  void expect_bytecode();

  void take_word();
  void take_format();
  void take_version(std::int32_t version);
  void take_item(std::uint32_t flags);
  void take_attributed(Type type);
  void take_length(Word word, std::int32_t length);
  void take_elements(std::int64_t count);
  void take_constant_count(std::int32_t count);
  void take_constant(Type type);
  void take_language(Type type);
  void refuse() { state_ = State::malformed; }

  State state_ = State::going;
  std::vector<Expected> expected_;       ///< the next word on top; empty where the value ends
  std::uint64_t bytes_to_skip_ = 0;      ///< in front of that word
  std::array<std::byte, 4> gathered_{};  ///< that word, as far as it was fed
  std::size_t num_gathered_ = 0;
  bool big_endian_ = true;
  std::uint8_t element_bytes_ = 0;  ///< of the length that comes next; 0: elements are items
  std::uint64_t length_high_ = 0;
};

}  // namespace nodelay
