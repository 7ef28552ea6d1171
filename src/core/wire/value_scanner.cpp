// SPDX-License-Identifier: MIT
#include "wire/value_scanner.h"

#include <algorithm>
#include <bit>

namespace nodelay {
namespace {

// Flags of an item (R Internals, "Serialization Formats").
constexpr std::uint32_t kTypeMask = 0xff;
constexpr std::uint32_t kHasAttributes = 1u << 9;
constexpr std::uint32_t kHasTag = 1u << 10;
constexpr int kReferenceShift = 8;

// R refuses longer names (R_CODESET_MAX) and longer vectors (serialize.c, ReadLENGTH), so that
// the bytes of no vector overflow 64 bits.
constexpr std::int32_t kLongestEncodingName = 63;
constexpr std::uint32_t kLargestLengthHigh = 65536;

constexpr bool kMachineIsBigEndian = std::endian::native == std::endian::big;
constexpr std::size_t kFormatBytes = 2;
constexpr std::size_t kIntegerBytes = 4;
constexpr std::int32_t kMissingString = -1;
constexpr std::int32_t kLongVector = -1;
constexpr std::uint8_t kElementsAreItems = 0;

}  // namespace

enum class ValueScanner::Type : std::int32_t {
  symbol = 1,
  pairlist = 2,
  closure = 3,
  environment = 4,
  promise = 5,
  call = 6,
  special = 7,
  builtin = 8,
  string = 9,
  logical = 10,
  integer = 13,
  real = 14,
  complex = 15,
  character = 16,
  dots = 17,
  list = 19,
  expression = 20,
  bytecode = 21,
  external_pointer = 22,
  weak_reference = 23,
  raw = 24,
  s4 = 25,
  altrep = 238,
  attributed_pairlist = 239,  // 239 to 240 and 243 to 244: among the constants of bytecode only
  attributed_call = 240,
  base_environment = 241,
  empty_environment = 242,
  shared_reference = 243,
  shared_definition = 244,
  persistent = 247,
  package = 248,
  name_space = 249,
  base_namespace = 250,
  missing_argument = 251,
  unbound_value = 252,
  global_environment = 253,
  nil = 254,
  reference = 255,
};

ValueScanner::ValueScanner() {
  restart();
}

void ValueScanner::restart() {
  state_ = State::going;
  bytes_to_skip_ = 0;
  num_gathered_ = 0;
  expected_.clear();
  expect(Word::item);
  expect(Word::version);
  expect(Word::format);
}

std::size_t ValueScanner::feed(Bytes bytes) {
  std::size_t taken = 0;
  while (state_ == State::going && taken < bytes.size()) {
    const Bytes rest = bytes.subspan(taken);
    taken += bytes_to_skip_ > 0 ? skip(rest) : gather(rest);
    const bool at_end = bytes_to_skip_ == 0 && expected_.empty();
    if (at_end && state_ == State::going) state_ = State::complete;
  }
  return taken;
}

std::size_t ValueScanner::skip(Bytes bytes) {
  const auto num_skipped = std::min<std::uint64_t>(bytes_to_skip_, bytes.size());
  bytes_to_skip_ -= num_skipped;
  return static_cast<std::size_t>(num_skipped);
}

std::size_t ValueScanner::gather(Bytes bytes) {
  const bool is_format = expected_.back().word == Word::format;
  const std::size_t num_wanted = (is_format ? kFormatBytes : kIntegerBytes) - num_gathered_;
  const std::size_t num_taken = std::min(num_wanted, bytes.size());
  std::copy_n(bytes.begin(), num_taken, gathered_.data() + num_gathered_);
  num_gathered_ += num_taken;
  if (num_taken == num_wanted) {
    num_gathered_ = 0;
    take_word();
  }
  return num_taken;
}

std::int32_t ValueScanner::gathered_integer() const {
  auto bytes = gathered_;
  if (big_endian_ != kMachineIsBigEndian) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<std::int32_t>(bytes);
}

void ValueScanner::expect(Word word, std::uint64_t times) {
  if (times > 0) expected_.push_back({word, times});
}

void ValueScanner::expect_length(Word word, std::uint8_t element_bytes) {
  element_bytes_ = element_bytes;
  expect(word);
}

void ValueScanner::expect_bytecode() {
  expect(Word::constant_count);
  expect(Word::item);  // the code itself, an integer vector
}

void ValueScanner::take_word() {
  const Word word = expected_.back().word;
  // A level ends before its last word is looked at, not after: so neither the tail of a pairlist
  // nor any other last item nests deeper.
  if (--expected_.back().times == 0) expected_.pop_back();
  switch (word) {
    case Word::format:
      return take_format();
    case Word::version:
      return take_version(gathered_integer());
    case Word::item:
      return take_item(static_cast<std::uint32_t>(gathered_integer()));
    case Word::constant_count:
      return take_constant_count(gathered_integer());
    case Word::constant:
      return take_constant(static_cast<Type>(gathered_integer()));
    case Word::language:
      return take_language(static_cast<Type>(gathered_integer()));
    default:
      return take_length(word, gathered_integer());
  }
}

void ValueScanner::take_format() {
  const auto letter = std::to_integer<char>(gathered_[0]);
  const auto end = std::to_integer<char>(gathered_[1]);
  if ((letter != 'X' && letter != 'B') || end != '\n') return refuse();
  big_endian_ = letter == 'X' || kMachineIsBigEndian;
}

void ValueScanner::take_version(std::int32_t version) {
  if (version != 2 && version != 3) return refuse();
  if (version == 3) expect_length(Word::encoding_length, 1);
  bytes_to_skip_ = 2 * kIntegerBytes;  // the R that wrote it and the oldest that can read it
}

void ValueScanner::take_item(std::uint32_t flags) {
  const auto type = static_cast<Type>(flags & kTypeMask);
  const std::uint64_t num_attributes = (flags & kHasAttributes) != 0 ? 1 : 0;
  const std::uint64_t num_tags = (flags & kHasTag) != 0 ? 1 : 0;
  switch (type) {
    case Type::nil:
    case Type::empty_environment:
    case Type::base_environment:
    case Type::global_environment:
    case Type::base_namespace:
    case Type::unbound_value:
    case Type::missing_argument:
      return;
    case Type::reference:  // the index stands in the flags where it fits there
      bytes_to_skip_ = flags >> kReferenceShift == 0 ? kIntegerBytes : 0;
      return;
    case Type::symbol:  // its name
      return expect(Word::item);
    case Type::altrep:  // class, state, attributes
      return expect(Word::item, 3);
    case Type::environment:  // whether it is locked; enclosure, frame, hash table, attributes
      bytes_to_skip_ = kIntegerBytes;
      return expect(Word::item, 4);
    case Type::persistent:
    case Type::name_space:
    case Type::package:  // a zero where names could stand, and the strings that name it
      bytes_to_skip_ = kIntegerBytes;
      return expect_length(Word::length, kElementsAreItems);
    case Type::pairlist:
    case Type::call:
    case Type::closure:
    case Type::promise:
    case Type::dots:  // attributes, tag, car, cdr
      return expect(Word::item, num_attributes + num_tags + 2);
    default:
      expect(Word::item, num_attributes);
      return take_attributed(type);
  }
}

void ValueScanner::take_attributed(Type type) {
  switch (type) {
    case Type::s4:
    case Type::weak_reference:
      return;
    case Type::external_pointer:  // what it protects, tag
      return expect(Word::item, 2);
    case Type::special:
    case Type::builtin:
      return expect_length(Word::length, 1);
    case Type::string:
      return expect_length(Word::string_length, 1);
    case Type::raw:
      return expect_length(Word::vector_length, 1);
    case Type::logical:
    case Type::integer:
      return expect_length(Word::vector_length, 4);
    case Type::real:
      return expect_length(Word::vector_length, 8);
    case Type::complex:
      return expect_length(Word::vector_length, 16);
    case Type::character:
    case Type::list:
    case Type::expression:
      return expect_length(Word::vector_length, kElementsAreItems);
    case Type::bytecode:
      bytes_to_skip_ = kIntegerBytes;  // how many nodes of its constants are shared
      return expect_bytecode();
    default:
      return refuse();
  }
}

void ValueScanner::take_length(Word word, std::int32_t length) {
  const auto bits = static_cast<std::uint32_t>(length);
  switch (word) {
    case Word::encoding_length:
      return length > kLongestEncodingName ? refuse() : take_elements(length);
    case Word::string_length:
      return take_elements(length == kMissingString ? 0 : length);
    case Word::vector_length:
      return length == kLongVector ? expect(Word::length_high) : take_elements(length);
    case Word::length_high:
      length_high_ = bits;
      return bits > kLargestLengthHigh ? refuse() : expect(Word::length_low);
    case Word::length_low:
      return take_elements(static_cast<std::int64_t>(length_high_ << 32 | bits));
    default:
      return take_elements(length);
  }
}

void ValueScanner::take_elements(std::int64_t count) {
  if (count < 0) return refuse();
  const auto num_elements = static_cast<std::uint64_t>(count);
  if (element_bytes_ == kElementsAreItems) return expect(Word::item, num_elements);
  bytes_to_skip_ = num_elements * element_bytes_;
}

void ValueScanner::take_constant_count(std::int32_t count) {
  if (count < 0) return refuse();
  expect(Word::constant, static_cast<std::uint64_t>(count));
}

void ValueScanner::take_constant(Type type) {
  if (type == Type::bytecode) return expect_bytecode();
  take_language(type);
}

void ValueScanner::take_language(Type type) {
  switch (type) {
    case Type::shared_reference:  // which node
      bytes_to_skip_ = kIntegerBytes;
      return;
    case Type::shared_definition:  // the node's number in front of it
      bytes_to_skip_ = kIntegerBytes;
      return expect(Word::language);
    case Type::call:
    case Type::pairlist:
    case Type::attributed_call:
    case Type::attributed_pairlist: {
      const bool has_attributes =
          type == Type::attributed_call || type == Type::attributed_pairlist;
      expect(Word::language, 2);                   // car, cdr
      expect(Word::item, has_attributes ? 2 : 1);  // attributes, tag
      return;
    }
    default:  // no such node: an item, which has its own flags
      return expect(Word::item);
  }
}

}  // namespace nodelay
