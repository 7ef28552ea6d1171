// SPDX-License-Identifier: MIT
#include "wire/value_reader.h"

#include <nodelay/error.h>

#include <algorithm>
#include <cstring>

namespace nodelay {
namespace {

// More elements than any vector of R's can have: 2^52.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 52;

// Memory is taken in steps of this size for what a length claims and has not come yet.
constexpr std::size_t kLargestStep = std::size_t{1} << 20;

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorKind::protocol, what);
}

}  // namespace

void ValueReader::take_part() {
  do {
    const auto part = source_ != nullptr ? source_->next_part() : std::nullopt;
    if (!part) refuse("A value ends too early.");
    next_ = part->data();
    end_ = next_ + part->size();
  } while (next_ == end_);
}

ValueReader::Head ValueReader::take_head() {
  const std::uint8_t byte = take_byte();
  const std::uint8_t item = byte & kItemMask;
  if (item > kLastItem || (byte & ~(kItemMask | kHasAttributes | kIsS4)) != 0) {
    refuse("A value has an item of an unknown kind.");
  }
  return {static_cast<Item>(item), (byte & kHasAttributes) != 0, (byte & kIsS4) != 0};
}

std::uint64_t ValueReader::take_long_number() {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = take_byte();
    number |= (byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  refuse("A value has a number that is too long.");
}

std::uint64_t ValueReader::take_count(std::uint64_t least_bytes, std::uint64_t most_in_a_byte) {
  const std::uint64_t count = take_number();
  const bool is_all_here = source_ == nullptr;
  if (count > kMostElements || (is_all_here && count * least_bytes > num_left() * most_in_a_byte)) {
    refuse("A value claims to be longer than it is.");
  }
  return count;
}

void ValueReader::take_elements(void* to, std::size_t num_bytes) {
  auto* next_to = static_cast<std::byte*>(to);
  while (num_bytes > 0) {
    if (next_ == end_) take_part();
    const std::size_t step = std::min(num_bytes, num_left());
    std::memcpy(next_to, next_, step);
    next_ += step;
    next_to += step;
    num_bytes -= step;
  }
}

Bytes ValueReader::take_in_one_piece(std::size_t num_bytes) {
  if (num_bytes <= num_left()) {
    const Bytes piece(next_, num_bytes);
    next_ += num_bytes;
    return piece;
  }
  pieces_.clear();
  while (pieces_.size() < num_bytes) {
    const std::size_t step = std::min(num_bytes - pieces_.size(), kLargestStep);
    take_elements(pieces_.reserve_tail(step), step);
    pieces_.commit(step);
  }
  return pieces_.bytes();
}

ValueReader::Text ValueReader::take_text(std::uint64_t num_recent) {
  const std::uint64_t code = take_number();
  if (code == 0) return {Text::Kind::missing, 0, {}, StringEncoding::native};
  if (code <= num_recent) return {Text::Kind::again, code - 1, {}, StringEncoding::native};
  const std::uint64_t length = (code - num_recent - 1) >> 2;
  if (length > INT32_MAX) refuse("A value has a string that is too long.");
  const auto encoding = static_cast<StringEncoding>((code - num_recent - 1) & 3);
  const Bytes bytes = take_in_one_piece(static_cast<std::size_t>(length));
  return {
      Text::Kind::fresh, 0, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, encoding};
}

}  // namespace nodelay
