// SPDX-License-Identifier: MIT
#include "wire/fork_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nodelay/error.h>

#include "fixture/bytes.h"

namespace nodelay {
namespace {

using testing::ElementsAre;

const ForkRequest kRequest{{0, 1, 258}, {"A=1", "B=", "C=two words"}};

TEST(ForkMessage, ARequestComesBackAsItWasWritten) {
  const auto decoded = decode_fork_request(encode_fork_request(kRequest));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->descriptors, kRequest.descriptors);
  EXPECT_EQ(decoded->variables, kRequest.variables);
}

TEST(ForkMessage, ARequestMayHaveNothingInIt) {
  const auto bytes = encode_fork_request({});
  EXPECT_EQ(bytes.size(), 4u);
  EXPECT_TRUE(decode_fork_request(bytes));
}

TEST(ForkMessage, TheBytesAreThoseOfTheProtocolDocument) {
  const auto request = encode_fork_request({{258}, {"A=1"}});
  EXPECT_EQ(text_of(request), std::string("NF\1\0\2\1\0\0A=1\0", 12));
  const auto answer = encode_fork_answer({258, 11});
  EXPECT_EQ(text_of(answer), std::string("NF\0\0\2\1\0\0\13\0\0\0", 12));
}

TEST(ForkMessage, ARequestThatIsCutIsRefusedButBetweenVariables) {
  const auto bytes = encode_fork_request(kRequest);
  const std::size_t variables_at = 4 + 4 * kRequest.descriptors.size();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const bool ends_variable = size > variables_at && bytes[size - 1] == std::byte{0};
    const auto decoded = decode_fork_request(std::span(bytes).first(size));
    EXPECT_EQ(decoded.has_value(), ends_variable || size == variables_at) << "at " << size;
  }
}

TEST(ForkMessage, WhatIsNoVariableIsRefused) {
  for (const char* text : {"A", "=1", ""}) {
    EXPECT_FALSE(decode_fork_request(encode_fork_request({{}, {text}}))) << text;
  }
}

TEST(ForkMessage, MoreDescriptorsThanAreAllowedAreRefused) {
  ForkRequest request;
  request.descriptors.assign(kMostForkDescriptors, 1);
  auto bytes = encode_fork_request(request);
  EXPECT_TRUE(decode_fork_request(bytes));
  request.descriptors.push_back(1);
  EXPECT_THROW(encode_fork_request(request), Error);
  bytes[2] = static_cast<std::byte>(kMostForkDescriptors + 1);
  bytes.resize(bytes.size() + 4);
  EXPECT_FALSE(decode_fork_request(bytes));
}

TEST(ForkMessage, ANegativeDescriptorIsRefused) {
  EXPECT_FALSE(decode_fork_request(encode_fork_request({{-1}, {}})));
}

TEST(ForkMessage, ARequestLongerThanTheLimitIsRefused) {
  const std::string longest = "A=" + std::string(kLongestForkRequest - 4 - 3, 'x');
  EXPECT_TRUE(decode_fork_request(encode_fork_request({{}, {longest}})));
  EXPECT_THROW(encode_fork_request({{}, {longest + "x"}}), Error);
  auto bytes = encode_fork_request({{}, {longest}});
  bytes.insert(bytes.end() - 1, std::byte{'x'});
  EXPECT_FALSE(decode_fork_request(bytes));
}

TEST(ForkMessage, AnAnswerComesBackAsItWasWritten) {
  for (const ForkAnswer& answer : {ForkAnswer{4711, 0}, ForkAnswer{-1, 11}, ForkAnswer{1, 95}}) {
    const auto decoded = decode_fork_answer(encode_fork_answer(answer));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->pid, answer.pid);
    EXPECT_EQ(decoded->errno_value, answer.errno_value);
  }
}

TEST(ForkMessage, AnAnswerThatMakesNoSenseIsRefused) {
  EXPECT_FALSE(decode_fork_answer(encode_fork_answer({0, 0})));
  EXPECT_FALSE(decode_fork_answer(encode_fork_answer({-1, 0})));
  EXPECT_FALSE(decode_fork_answer(encode_fork_answer({1, -1})));
  const auto bytes = encode_fork_answer({1, 0});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_fork_answer(std::span(bytes).first(size)));
  }
  for (const std::size_t at : {0u, 1u, 2u, 3u}) {
    auto changed = bytes;
    changed[at] ^= std::byte{0x40};
    EXPECT_FALSE(decode_fork_answer(changed)) << "byte " << at;
  }
}

}  // namespace
}  // namespace nodelay
