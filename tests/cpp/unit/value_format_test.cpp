// SPDX-License-Identifier: MIT
// ValueWriter and ValueReader, which are mirror images.
#include <gtest/gtest.h>
#include <nodelay/error.h>

#include <string>
#include <vector>

#include "fixture/bytes.h"
#include "wire/value_reader.h"
#include "wire/value_writer.h"

namespace nodelay {
namespace {

class Parts final : public PartSink, public PartSource {
 public:
  void take(Buffer& part) override {
    parts.push_back(text_of(part.bytes()));
    part.clear();
  }

  std::optional<Bytes> next_part() override {
    if (num_read == parts.size()) return std::nullopt;
    return bytes_of(parts[num_read++]);
  }

  std::vector<std::string> parts;
  std::size_t num_read = 0;
};

// A value written whole, and read again.
class ValueFormat : public testing::Test {
 protected:
  ValueReader reader() { return {buffer.bytes(), nullptr}; }

  Buffer buffer;
  WriterTables tables;
  ValueWriter writer{buffer, nullptr, tables};
};

TEST_F(ValueFormat, EveryItemAndItsFlagsComeBack) {
  for (unsigned item = 0; item <= kLastItem; ++item) {
    writer.put_item(static_cast<Item>(item), item % 2 == 0 ? kHasAttributes : 0U);
  }
  writer.put_item(Item::object, kHasAttributes | kIsS4);
  auto read = reader();
  for (unsigned item = 0; item <= kLastItem; ++item) {
    const auto head = read.take_head();
    EXPECT_EQ(head.item, static_cast<Item>(item));
    EXPECT_EQ(head.has_attributes, item % 2 == 0);
    EXPECT_FALSE(head.is_s4);
  }
  EXPECT_TRUE(read.take_head().is_s4);
  EXPECT_TRUE(read.is_at_end());
}

TEST_F(ValueFormat, NumbersOfEveryLengthComeBack) {
  std::vector<std::uint64_t> numbers = {0, UINT64_MAX};
  for (int bits = 1; bits < 64; ++bits) {
    numbers.push_back(std::uint64_t{1} << bits);
    numbers.push_back((std::uint64_t{1} << bits) - 1);
  }
  for (const auto number : numbers) writer.put_number(number);
  auto read = reader();
  for (const auto number : numbers) EXPECT_EQ(read.take_number(), number);
}

TEST_F(ValueFormat, AStringIsWrittenOnceAndNamedByItsPlaceFromThenOn) {
  const char* one = "one";
  const char* two = "two";
  EXPECT_FALSE(writer.put_known_string(one));
  writer.put_new_string(one, StringEncoding::utf8);
  EXPECT_FALSE(writer.put_known_string(two));
  writer.put_new_string(two, StringEncoding::latin1);
  EXPECT_TRUE(writer.put_known_string(one));
  writer.put_missing_string();
  auto read = reader();
  const auto first = read.take_string();
  EXPECT_EQ(first.kind, ValueReader::Text::Kind::fresh);
  EXPECT_EQ(first.text, "one");
  EXPECT_EQ(first.encoding, StringEncoding::utf8);
  EXPECT_EQ(read.take_string().encoding, StringEncoding::latin1);
  const auto again = read.take_string();
  EXPECT_EQ(again.kind, ValueReader::Text::Kind::again);
  EXPECT_EQ(again.place, 0u);
  EXPECT_EQ(read.take_string().kind, ValueReader::Text::Kind::missing);
}

TEST_F(ValueFormat, WhatOneValueHasWrittenTheNextOneWritesAnew) {
  const char* one = "one";
  writer.put_known_string(one);
  writer.put_known_symbol(one);
  ValueWriter next(buffer, nullptr, tables);
  EXPECT_FALSE(next.put_known_string(one));
  EXPECT_FALSE(next.put_known_symbol(one));
}

// Whatever the writer has forgotten, it never names a place that means something else by now.
TEST_F(ValueFormat, OfVeryManyStringsEachComesBack) {
  constexpr std::size_t kNumStrings = 3 * kRecentStrings;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kNumStrings; ++i) texts.push_back("text " + std::to_string(i));
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kNumStrings; ++i) {
    order.push_back(i);
    order.push_back(i * 7919 % (i + 1));
    order.push_back(i > 100 ? i - 100 : 0);
  }
  for (const auto i : order) {
    if (!writer.put_known_string(&texts[i])) {
      writer.put_new_string(texts[i], StringEncoding::native);
    }
  }
  std::vector<std::string> recent(kRecentStrings);
  std::size_t num_fresh = 0;
  auto read = reader();
  for (const auto i : order) {
    const auto text = read.take_string();
    if (text.kind == ValueReader::Text::Kind::fresh) {
      recent[num_fresh++ % kRecentStrings] = text.text;
      EXPECT_EQ(text.text, texts[i]);
    } else {
      EXPECT_EQ(recent[text.place], texts[i]);
    }
  }
  EXPECT_LT(num_fresh, order.size());
}

TEST_F(ValueFormat, AValueInPartsComesBackWhereverItWasCut) {
  Parts parts;
  Buffer part;
  ValueWriter in_parts(part, &parts, tables);
  const std::string bytes = patterned(3 * kPartBytes + 17);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 300; ++i) texts.push_back(patterned(i * i, static_cast<unsigned>(i)));
  in_parts.put_elements(bytes.data(), bytes.size());
  for (const auto& text : texts) in_parts.put_new_string(text, StringEncoding::bytes);
  in_parts.put_number(7);
  in_parts.end_part();
  EXPECT_GT(parts.parts.size(), 50u);
  for (const auto& each : parts.parts) EXPECT_LE(each.size(), kPartBytes + kLongestNumber);

  ValueReader read(Bytes(), &parts);
  std::string back(bytes.size(), '\0');
  read.take_elements(back.data(), back.size());
  EXPECT_EQ(back, bytes);
  for (const auto& text : texts) EXPECT_EQ(read.take_string().text, text);
  EXPECT_EQ(read.take_number(), 7u);
}

TEST_F(ValueFormat, BytesThatEndTooEarlyAreRefusedAtEveryPlace) {
  writer.put_item(Item::strings);
  writer.put_number(1000);
  writer.put_new_string("some text", StringEncoding::native);
  writer.put_elements("12345678", 8);
  for (std::size_t length = 0; length < buffer.size(); ++length) {
    ValueReader read(buffer.bytes().first(length), nullptr);
    EXPECT_THROW(
        {
          read.take_head();
          read.take_number();
          read.take_string();
          std::string elements(8, '\0');
          read.take_elements(elements.data(), elements.size());
        },
        Error)
        << length;
  }
}

TEST_F(ValueFormat, ALengthThatCannotBeIsRefusedBeforeMemoryIsTakenForIt) {
  writer.put_number(9);
  writer.put_elements("12345678", 8);
  EXPECT_THROW(reader().take_count(1), Error);
  Buffer huge;
  ValueWriter(huge, nullptr, tables).put_number(std::uint64_t{1} << 60);
  Parts none;
  EXPECT_THROW(ValueReader(huge.bytes(), &none).take_count(1), Error);
}

TEST_F(ValueFormat, UnknownItemsAndEndlessNumbersAreRefused) {
  writer.put_byte(kLastItem + 1);
  EXPECT_THROW(reader().take_head(), Error);
  Buffer flags;
  ValueWriter(flags, nullptr, tables).put_byte(0x80);
  EXPECT_THROW(ValueReader(flags.bytes(), nullptr).take_head(), Error);
  const std::string endless(12, '\xff');
  EXPECT_THROW(ValueReader(bytes_of(endless), nullptr).take_number(), Error);
}

}  // namespace
}  // namespace nodelay
