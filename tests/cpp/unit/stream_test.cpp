// SPDX-License-Identifier: MIT
#include "net/stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "fixture/bytes.h"
#include "fixture/waiting.h"

namespace nodelay {
namespace {

// A stream of frames, and the test at the other end of it.
class StreamTest : public testing::Test {
 protected:
  void arrive(std::string_view bytes) {
    ASSERT_EQ(::send(other_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  static std::string frame(std::string_view body) {
    return text_of(encode_header({FrameKind::call, 0, 1, body.size()})) + std::string(body);
  }

  static Message message(std::string_view body) {
    return {FrameHeader{FrameKind::call, 0, 1, 0}, buffer_of(body)};
  }

  DescriptorPair pair_ = make_stream_pair();
  Descriptor other_ = std::move(pair_.second);
  Stream stream_{std::move(pair_.first), std::make_unique<FrameSplitter>()};
};

TEST_F(StreamTest, TheHeaderSaysHowLongTheBodyIs) {
  stream_.post(message("abc"));
  stream_.post({FrameHeader{FrameKind::bye, 0, 0, 77}, {}});
  EXPECT_TRUE(stream_.has_output());
  EXPECT_EQ(stream_.flush(), Stream::Output::all_sent);
  EXPECT_FALSE(stream_.has_output());
  stream_.close();
  EXPECT_EQ(read_to_end(other_.get()),
            frame("abc") + text_of(encode_header({FrameKind::bye, 0, 0, 0})));
}

TEST_F(StreamTest, AMessageWithoutHeaderIsSentAsItIs) {
  stream_.post({std::nullopt, buffer_of("bare")});
  stream_.post({std::nullopt, {}});
  EXPECT_EQ(stream_.flush(), Stream::Output::all_sent);
  stream_.close();
  EXPECT_EQ(read_to_end(other_.get()), "bare");
}

TEST_F(StreamTest, OneBodyMayGoOutManyTimes) {
  const auto body = buffer_of("shared");
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    stream_.post({FrameHeader{FrameKind::call, 0, 1, 0}, body});
    expected += frame("shared");
  }
  EXPECT_EQ(stream_.flush(), Stream::Output::all_sent);
  EXPECT_EQ(body.use_count(), 1) << "what was sent is not kept";
  stream_.close();
  EXPECT_EQ(read_to_end(other_.get()), expected);
}

TEST_F(StreamTest, AFullStreamSaysSoAndGoesOnWhereItStopped) {
  const auto body = patterned(3'000'000);
  stream_.post(message(body));
  EXPECT_EQ(stream_.flush(), Stream::Output::blocked);
  std::string got;
  char bytes[65536];
  while (stream_.has_output()) {
    for (ssize_t size; (size = ::recv(other_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0;) {
      got.append(bytes, static_cast<std::size_t>(size));
    }
    ASSERT_NE(stream_.flush(), Stream::Output::closed);
  }
  stream_.close();
  EXPECT_TRUE(got + read_to_end(other_.get()) == frame(body));
}

TEST_F(StreamTest, WritingToAClosedStreamIsNewsAndNoSignal) {
  other_.close();
  stream_.post(message("abc"));
  EXPECT_EQ(stream_.flush(), Stream::Output::closed);
}

TEST_F(StreamTest, WhereNothingCameThereIsNothing) {
  EXPECT_EQ(stream_.fill(), Stream::Input::nothing);
  EXPECT_FALSE(stream_.next());
}

TEST_F(StreamTest, SeveralMessagesComeFromOneRead) {
  arrive(frame("a") + frame("") + frame("bc"));
  EXPECT_EQ(stream_.fill(), Stream::Input::some);
  for (const auto* body : {"a", "", "bc"}) {
    const auto got = stream_.next();
    ASSERT_TRUE(got);
    EXPECT_EQ(text_of(*got), frame(body));
  }
  EXPECT_FALSE(stream_.next());
}

TEST_F(StreamTest, WhatWasReadBeforeTheEndIsStillThereAfterIt) {
  arrive(frame("last words"));
  other_.close();
  EXPECT_EQ(stream_.fill(), Stream::Input::some);
  EXPECT_EQ(stream_.fill(), Stream::Input::closed);
  stream_.close();
  const auto got = stream_.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(text_of(*got), frame("last words"));
}

TEST_F(StreamTest, MalformedInputEndsTheReading) {
  arrive(frame("good") + std::string(kHeaderBytes, 'x') + frame("never read"));
  EXPECT_EQ(stream_.fill(), Stream::Input::some);
  EXPECT_TRUE(stream_.next());
  EXPECT_FALSE(stream_.is_malformed());
  EXPECT_FALSE(stream_.next());
  EXPECT_TRUE(stream_.is_malformed());
  EXPECT_FALSE(stream_.next());
}

TEST_F(StreamTest, AHugeClaimedLengthWaitsForItsBytesAndTakesNoSuchMemory) {
  arrive(text_of(encode_header({FrameKind::call, 0, 1, kLongestBody})) + "and some");
  EXPECT_EQ(stream_.fill(), Stream::Input::some);
  EXPECT_FALSE(stream_.next());
  EXPECT_EQ(stream_.fill(), Stream::Input::nothing);
  EXPECT_FALSE(stream_.is_malformed());
}

TEST(Stream, BareValuesAreSplitWithoutFrames) {
  const std::string null("X\n\0\0\0\2\0\4\2\2\0\2\3\0\0\0\0\xfe", 18);
  DescriptorPair pair = make_stream_pair();
  Stream stream(std::move(pair.first), std::make_unique<ValueSplitter>());
  const auto bytes = null + null + "X";
  ASSERT_EQ(::send(pair.second.get(), bytes.data(), bytes.size(), 0), 37);
  EXPECT_EQ(stream.fill(), Stream::Input::some);
  for (int i = 0; i < 2; ++i) {
    const auto value = stream.next();
    ASSERT_TRUE(value);
    EXPECT_EQ(text_of(*value), null);
  }
  EXPECT_FALSE(stream.next());
  EXPECT_FALSE(stream.is_malformed());
}

}  // namespace
}  // namespace nodelay
