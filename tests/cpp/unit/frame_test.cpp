// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <nodelay/frame.h>

#include <cstring>

namespace nodelay {
namespace {

const FrameHeader kCall{FrameKind::call, kMaySpin, 0x0102030405060708, 0x1234, 0x0506};

TEST(Frame, AHeaderComesBackAsItWasWritten) {
  const auto decoded = decode_header(encode_header(kCall));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->kind, kCall.kind);
  EXPECT_EQ(decoded->flags, kCall.flags);
  EXPECT_EQ(decoded->request, kCall.request);
  EXPECT_EQ(decoded->body_bytes, kCall.body_bytes);
  EXPECT_EQ(decoded->shunned_cpu, kCall.shunned_cpu);
}

TEST(Frame, TheBytesAreThoseOfTheProtocolDocument) {
  const unsigned char expected[kHeaderBytes] = {0x4e, 0x44, 2, 1, 6,    5,    0, 0, 8, 7, 6, 5,
                                                4,    3,    2, 1, 0x34, 0x12, 0, 0, 0, 0, 0, 0};
  const auto bytes = encode_header(kCall);
  EXPECT_EQ(std::memcmp(bytes.data(), expected, kHeaderBytes), 0);
}

TEST(Frame, EveryChangedByteOfTheMagicIsRefused) {
  for (const std::size_t at : {0u, 1u}) {
    auto bytes = encode_header(kCall);
    bytes[at] ^= std::byte{0x40};
    EXPECT_FALSE(decode_header(bytes)) << "byte " << at;
  }
}

TEST(Frame, OnlyACallHasAShunnedCpu) {
  for (int kind = 1; kind <= 8; ++kind) {
    const auto bytes = encode_header({static_cast<FrameKind>(kind), 0, 0, 0, 1});
    EXPECT_EQ(decode_header(bytes).has_value(), kind == static_cast<int>(FrameKind::call))
        << "kind " << kind;
  }
}

TEST(Frame, AnUnknownKindIsRefused) {
  for (const int kind : {0, 9, 255}) {
    auto bytes = encode_header(kCall);
    bytes[2] = static_cast<std::byte>(kind);
    EXPECT_FALSE(decode_header(bytes)) << "kind " << kind;
  }
}

TEST(Frame, EveryKindIsKnownByItsNumber) {
  for (int kind = 1; kind <= 8; ++kind) {
    const auto decoded = decode_header(encode_header({static_cast<FrameKind>(kind), 0, 0, 0}));
    ASSERT_TRUE(decoded) << "kind " << kind;
    EXPECT_EQ(static_cast<int>(decoded->kind), kind);
  }
  EXPECT_EQ(static_cast<int>(FrameKind::ping), 7);
  EXPECT_EQ(static_cast<int>(FrameKind::pong), 8);
}

TEST(Frame, ABodyLongerThanTheLimitIsRefused) {
  FrameHeader header = kCall;
  header.body_bytes = kLongestBody;
  EXPECT_TRUE(decode_header(encode_header(header)));
  header.body_bytes = kLongestBody + 1;
  EXPECT_FALSE(decode_header(encode_header(header)));
  header.body_bytes = ~std::uint64_t{0};
  EXPECT_FALSE(decode_header(encode_header(header)));
}

TEST(Frame, AHelloComesBackAsItWasWrittenAndOnlyWhole) {
  const auto bytes = encode_hello({7, 4711});
  const auto decoded = decode_hello(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->protocol_version, 7u);
  EXPECT_EQ(decoded->pid, 4711u);
  for (std::size_t size = 0; size < kHelloBytes; ++size) {
    EXPECT_FALSE(decode_hello(std::span(bytes).first(size))) << size << " bytes";
  }
}

}  // namespace
}  // namespace nodelay
