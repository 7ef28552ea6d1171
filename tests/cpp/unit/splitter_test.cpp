// SPDX-License-Identifier: MIT
#include "net/splitter.h"

#include <gtest/gtest.h>
#include <nodelay/frame.h>

#include "fixture/bytes.h"

namespace nodelay {
namespace {

using State = Splitter::State;

std::string frame(std::size_t body_bytes) {
  const auto header = encode_header({FrameKind::call, 0, 1, body_bytes});
  return text_of(header) + patterned(body_bytes);
}

// R's NULL, serialized in version 2, and a raw vector of three bytes.
const std::string kNull("X\n\0\0\0\2\0\4\2\2\0\2\3\0\0\0\0\xfe", 18);
const std::string kRaw("X\n\0\0\0\2\0\4\2\2\0\2\3\0\0\0\0\x18\0\0\0\3abc", 25);

// Feeds `message`, with another behind it, cut anywhere; `splitter` must find its end.
void expect_end(Splitter& splitter, const std::string& message) {
  const std::string unread = message + message;
  for (std::size_t size = 0; size < message.size(); ++size) {
    ASSERT_EQ(splitter.look(bytes_of(unread).first(size)), State::partial) << size << " bytes";
    EXPECT_GE(splitter.missing_bytes(), 1u);
    EXPECT_LE(splitter.missing_bytes(), message.size() - size);
  }
  ASSERT_EQ(splitter.look(bytes_of(unread)), State::complete);
  EXPECT_EQ(splitter.message_bytes(), message.size());
  splitter.next();
}

TEST(FrameSplitter, AFrameCutAnywhereEndsAtItsLastByte) {
  FrameSplitter splitter;
  for (const std::size_t body_bytes : {0u, 1u, 24u, 100u}) expect_end(splitter, frame(body_bytes));
}

TEST(FrameSplitter, OnceTheHeaderIsThereAllThatIsMissingIsKnown) {
  FrameSplitter splitter;
  const auto message = frame(1000);
  ASSERT_EQ(splitter.look(bytes_of(message).first(kHeaderBytes + 1)), State::partial);
  EXPECT_EQ(splitter.missing_bytes(), 999u);
}

TEST(FrameSplitter, BytesThatAreNoHeaderAreMalformed) {
  FrameSplitter splitter;
  EXPECT_EQ(splitter.look(bytes_of(std::string(kHeaderBytes, 'x'))), State::malformed);
}

TEST(ValueSplitter, AValueCutAnywhereEndsAtItsLastByte) {
  ValueSplitter splitter;
  for (const auto& value : {kNull, kRaw, kNull}) expect_end(splitter, value);
}

TEST(ValueSplitter, BytesThatAreNoValueAreMalformed) {
  ValueSplitter splitter;
  EXPECT_EQ(splitter.look(bytes_of("Error in file(con)")), State::malformed);
}

}  // namespace
}  // namespace nodelay
