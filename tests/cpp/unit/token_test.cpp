// SPDX-License-Identifier: MIT
#include "net/token.h"

#include <gtest/gtest.h>

#include <set>

namespace nodelay {
namespace {

TEST(Token, NoTwoHalvesAreAlike) {
  std::set<std::string> halves;
  for (int i = 0; i < 100; ++i) {
    const Token token = Token::random();
    EXPECT_EQ(token.worker_half.size(), kTokenHalfBytes);
    EXPECT_EQ(token.main_half.size(), kTokenHalfBytes);
    halves.insert({token.worker_half, token.main_half});
  }
  EXPECT_EQ(halves.size(), 200u);
}

TEST(Token, ItsTextComesBackAsTheSameHalves) {
  const Token token = Token::random();
  const auto parsed = Token::parse(token.text());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->worker_half, token.worker_half);
  EXPECT_EQ(parsed->main_half, token.main_half);
}

TEST(Token, ATextOfAnotherLengthOrAlphabetIsRefused) {
  const std::string text = Token::random().text();
  EXPECT_FALSE(Token::parse(""));
  EXPECT_FALSE(Token::parse(text.substr(1)));
  EXPECT_FALSE(Token::parse(text + "0"));
  for (const char wrong : {'g', 'A', ' ', '\0', '\xff'}) {
    for (const std::size_t at : {std::size_t{0}, kTokenHalfBytes, text.size() - 1}) {
      std::string changed = text;
      changed[at] = wrong;
      EXPECT_FALSE(Token::parse(changed)) << "byte " << at;
    }
  }
}

TEST(Token, SecretsAreEqualOnlyInEveryByte) {
  const std::string secret = Token::random().worker_half;
  EXPECT_TRUE(equal_secrets(secret, secret));
  EXPECT_TRUE(equal_secrets("", ""));
  EXPECT_FALSE(equal_secrets(secret, ""));
  EXPECT_FALSE(equal_secrets(secret, secret.substr(1)));
  for (std::size_t at = 0; at < secret.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = secret;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      EXPECT_FALSE(equal_secrets(secret, changed)) << "byte " << at << ", bit " << bit;
    }
  }
}

}  // namespace
}  // namespace nodelay
