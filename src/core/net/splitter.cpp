// SPDX-License-Identifier: MIT
#include "net/splitter.h"

#include <nodelay/frame.h>

namespace nodelay {

Splitter::State FrameSplitter::look(Bytes unread) {
  if (message_bytes_ == 0) {
    if (unread.size() < kHeaderBytes) {
      missing_bytes_ = kHeaderBytes - unread.size();
      return State::partial;
    }
    const auto header = decode_header(unread.first<kHeaderBytes>());
    if (!header) return State::malformed;
    has_memory_ = (header->flags & kHasMemory) != 0;
    message_bytes_ = kHeaderBytes + static_cast<std::size_t>(header->body_bytes);
  }
  if (unread.size() >= message_bytes_) return State::complete;
  missing_bytes_ = message_bytes_ - unread.size();
  return State::partial;
}

Splitter::State ValueSplitter::look(Bytes unread) {
  scanned_bytes_ += scanner_.feed(unread.subspan(scanned_bytes_));
  switch (scanner_.state()) {
    case ValueScanner::State::complete:
      return State::complete;
    case ValueScanner::State::malformed:
      return State::malformed;
    case ValueScanner::State::going:
      break;
  }
  return State::partial;
}

void ValueSplitter::next() {
  scanner_.restart();
  scanned_bytes_ = 0;
}

}  // namespace nodelay
