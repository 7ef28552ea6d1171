// SPDX-License-Identifier: MIT
// Reads bytes as tokens of nodelay's format of values, in parts cut at any place, in the order that
// the bytes themselves ask for.
#include <nodelay/error.h>

#include <array>

#include "wire/value_reader.h"

namespace {

using nodelay::Bytes;

class Pieces final : public nodelay::PartSource {
 public:
  Pieces(Bytes rest, std::size_t step) : rest_(rest), step_(step) {}

  std::optional<Bytes> next_part() override {
    if (rest_.empty()) return std::nullopt;
    const Bytes part = rest_.first(std::min(step_, rest_.size()));
    rest_ = rest_.subspan(part.size());
    return part;
  }

 private:
  Bytes rest_;
  std::size_t step_;
};

void read_tokens(nodelay::ValueReader& reader) {
  for (;;) {
    switch (reader.take_byte() % 6) {
      case 0:
        reader.take_head();
        break;
      case 1:
        reader.take_count(8);
        break;
      case 2: {
        std::array<std::byte, 300> elements;
        reader.take_elements(elements.data(), reader.take_byte());
        break;
      }
      case 3:
        reader.take_string();
        break;
      case 4:
        reader.take_symbol();
        break;
      default:
        reader.take_in_one_piece(static_cast<std::size_t>(reader.take_number()));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  Pieces pieces(bytes, data[0] / 2 + 1);
  nodelay::ValueReader in_pieces(Bytes(), &pieces);
  nodelay::ValueReader whole(bytes, nullptr);
  try {
    read_tokens((data[0] & 1) != 0 ? in_pieces : whole);
  } catch (const nodelay::Error&) {  // which is how all of them end
  }
  return 0;
}
