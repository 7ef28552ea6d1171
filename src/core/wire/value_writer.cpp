// SPDX-License-Identifier: MIT
#include "wire/value_writer.h"

#include <algorithm>
#include <cstring>

namespace nodelay {

ValueWriter::ValueWriter(Buffer& part, PartSink* sink, WriterTables& tables)
    : part_(part), sink_(sink), tables_(tables) {
  tables_.strings.clear();
  tables_.symbols.clear();
}

void ValueWriter::put_elements(const void* elements, std::size_t num_bytes) {
  const auto* from = static_cast<const std::byte*>(elements);
  if (sink_ == nullptr || num_bytes <= kLongestUncut) {
    if (num_bytes == 0) return;
    std::memcpy(make_room(num_bytes), from, num_bytes);
    part_.commit(num_bytes);
    return;
  }
  while (num_bytes > 0) {
    if (part_.size() >= kPartBytes) end_part();
    const std::size_t step = std::min(num_bytes, kPartBytes - part_.size());
    part_.append(from, step);
    from += step;
    num_bytes -= step;
  }
}

void ValueWriter::put_new_text(std::uint64_t base, std::string_view text, StringEncoding encoding) {
  const std::uint64_t length = text.size();
  if (text.size() <= kLongestUncut) make_room(kLongestNumber + text.size());  // in one part
  put_number(base + (length << 2 | static_cast<std::uint64_t>(encoding)));
  put_elements(text.data(), text.size());
}

}  // namespace nodelay
