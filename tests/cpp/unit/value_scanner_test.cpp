// SPDX-License-Identifier: MIT
#include "wire/value_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

namespace nodelay {
namespace {

using State = ValueScanner::State;

/// A value written by hand: integers, which the format encodes, and plain bytes.
using Parts = std::vector<std::variant<std::int32_t, std::string>>;

struct Sample {
  const char* name;
  Parts parts;
};

constexpr std::int32_t kHasAttributes = 1 << 9;
constexpr std::int32_t kHasTag = 1 << 10;
constexpr std::int32_t kNil = 254;

void append_integer(std::string& to, std::int32_t value, char format) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  const bool is_little_endian = std::endian::native == std::endian::little;
  if (format == 'X' && is_little_endian) std::reverse(std::begin(bytes), std::end(bytes));
  to.append(bytes, sizeof bytes);
}

void append(std::string& to, const Parts& parts, char format) {
  for (const auto& part : parts) {
    if (const auto* integer = std::get_if<std::int32_t>(&part)) {
      append_integer(to, *integer, format);
    } else {
      to += std::get<std::string>(part);
    }
  }
}

std::string serialized(const Parts& parts, char format = 'X', std::int32_t version = 3) {
  std::string bytes = {format, '\n'};
  append(bytes, {version, 0x040202, 0x030500}, format);
  if (version == 3) append(bytes, {5, "UTF-8"}, format);
  append(bytes, parts, format);
  return bytes;
}

Bytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void expect_end_at(const std::string& bytes, std::size_t end, const std::string& name) {
  ValueScanner scanner;
  EXPECT_EQ(scanner.feed(bytes_of(bytes)), end) << name;
  EXPECT_EQ(scanner.state(), State::complete) << name;
}

void expect_malformed(const std::string& bytes, const std::string& name) {
  ValueScanner scanner;
  scanner.feed(bytes_of(bytes));
  EXPECT_EQ(scanner.state(), State::malformed) << name;
  EXPECT_EQ(scanner.feed(bytes_of(bytes)), 0u) << name;
}

std::vector<Sample> samples() {
  const std::string eight(8, '\x01');
  return {
      {"nil", {kNil}},
      {"empty environment", {242}},
      {"base environment", {241}},
      {"global environment", {253}},
      {"base namespace", {250}},
      {"unbound value", {252}},
      {"missing argument", {251}},
      {"reference with its index in the flags", {(3 << 8) | 255}},
      {"reference with its index behind", {255, 1 << 24}},
      {"symbol", {1, 9, 1, "x"}},
      {"string", {9, 3, "abc"}},
      {"missing string", {9, -1}},
      {"string with attributes", {9 | kHasAttributes, 3, "abc", kNil}},
      {"persistent name", {247, 0, 2, 9, 1, "a", 9, 1, "b"}},
      {"package", {248, 0, 1, 9, 13, "package:stats"}},
      {"namespace", {249, 0, 2, 9, 5, "stats", 9, 5, "4.2.2"}},
      {"environment", {4, 1, 253, kNil, 19, 1, kNil, kNil}},
      {"pairlist", {2 | kHasAttributes | kHasTag, kNil, 1, 9, 1, "a", 242, 2, 241, kNil}},
      {"call", {6, 1, 9, 1, "f", 2, 253, kNil}},
      {"closure", {3 | kHasTag, 253, kNil, kNil}},
      {"promise", {5, 252, kNil}},
      {"dots", {17, 5, 252, kNil, kNil}},
      {"external pointer", {22 | kHasAttributes, kNil, 253, kNil}},
      {"weak reference", {23 | kHasAttributes, kNil}},
      {"weak reference without attributes", {23}},
      {"special", {7, 2, "if"}},
      {"builtin", {8 | kHasAttributes, 3, "sum", kNil}},
      {"logical vector", {10, 1, 1}},
      {"integer vector", {13, 2, 1, 2}},
      {"real vector", {14, 1, eight}},
      {"complex vector", {15, 1, eight, eight}},
      {"raw vector", {24, 3, "abc"}},
      {"empty vector", {14, 0}},
      {"integer vector with attributes", {13 | kHasAttributes, 1, 7, 2, kNil, kNil}},
      {"vector with a 64-bit length", {24, -1, 0, 3, "abc"}},
      {"character vector", {16, 2, 9, 1, "a", 9, -1}},
      {"list", {19, 3, kNil, 19, 0, 24, 1, "a"}},
      {"list with attributes", {19 | kHasAttributes, 1, kNil, 2, kNil, kNil}},
      {"list with a 64-bit length", {19, -1, 0, 1, kNil}},
      {"expression", {20, 1, 253}},
      {"S4 object", {25 | kHasAttributes, kNil}},
      {"compact sequence", {238, 2, kNil, kNil, 14, 1, eight, kNil}},
      {"bytecode without constants", {21, 0, 13, 1, 12, 0}},
      {"bytecode with attributes", {21 | kHasAttributes, 0, 13, 1, 12, 0, kNil}},
      {"bytecode with plain constants", {21, 0, 13, 1, 12, 2, 0, kNil, 14, 14, 1, eight}},
      {"bytecode within bytecode", {21, 0, 13, 1, 12, 1, 21, 13, 1, 12, 1, 0, kNil}},
      {"bytecode with a call", {21, 0, 13, 0, 1, 6, kNil, 0, 253, 2, kNil, 0, 253, 0, kNil}},
      {"bytecode with an attributed call", {21, 0, 13, 0, 1, 240, kNil, kNil, 0, 253, 0, kNil}},
      {"bytecode with an attributed list", {21, 0, 13, 0, 1, 239, kNil, kNil, 0, 253, 0, kNil}},
      {"bytecode with a shared attributed call",
       {21, 1, 13, 0, 1, 244, 0, 240, kNil, kNil, 243, 0, 0, kNil}},
      {"bytecode with shared calls", {21, 1, 13, 0, 2, 244, 0, 6, kNil, 0, 253, 0, kNil, 243, 0}},
  };
}

TEST(ValueScanner, EveryKindOfValueEndsAtItsLastByte) {
  for (const auto& [name, parts] : samples()) {
    for (const char format : {'X', 'B'}) {
      for (const int version : {2, 3}) {
        const auto bytes = serialized(parts, format, version);
        expect_end_at(bytes, bytes.size(), name);
      }
    }
  }
}

TEST(ValueScanner, BytesAfterTheValueAreNotTaken) {
  for (const auto& [name, parts] : samples()) {
    const auto bytes = serialized(parts);
    expect_end_at(bytes + "X\n and more", bytes.size(), name);
  }
}

TEST(ValueScanner, AValueCutAnywhereEndsAtItsLastByte) {
  for (const auto& [name, parts] : samples()) {
    const auto bytes = serialized(parts);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      ValueScanner scanner;
      EXPECT_EQ(scanner.feed(bytes_of(bytes).first(cut)), cut) << name;
      EXPECT_EQ(scanner.state(), State::going) << name << " up to byte " << cut;
      EXPECT_EQ(scanner.feed(bytes_of(bytes).subspan(cut)), bytes.size() - cut) << name;
      EXPECT_EQ(scanner.state(), State::complete) << name << " cut at byte " << cut;
    }
  }
}

TEST(ValueScanner, AValueFedByteByByteEndsAtItsLastByte) {
  for (const auto& [name, parts] : samples()) {
    const auto bytes = serialized(parts);
    ValueScanner scanner;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      EXPECT_EQ(scanner.state(), State::going) << name << " up to byte " << at;
      EXPECT_EQ(scanner.feed(bytes_of(bytes).subspan(at, 1)), 1u) << name;
    }
    EXPECT_EQ(scanner.state(), State::complete) << name;
  }
}

TEST(ValueScanner, ValuesInARowAreTakenOneByOne) {
  std::string stream;
  for (const auto& sample : samples()) stream += serialized(sample.parts, 'B', 2);
  ValueScanner scanner;
  Bytes rest = bytes_of(stream);
  for (const auto& [name, parts] : samples()) {
    const auto taken = scanner.feed(rest);
    EXPECT_EQ(taken, serialized(parts, 'B', 2).size()) << name;
    EXPECT_EQ(scanner.state(), State::complete) << name;
    EXPECT_EQ(scanner.feed(rest.subspan(taken)), 0u) << name << ": a finished scanner took bytes";
    rest = rest.subspan(taken);
    scanner.restart();
  }
  EXPECT_TRUE(rest.empty());
}

TEST(ValueScanner, RestartForgetsAnUnfinishedValue) {
  for (const auto& [name, parts] : samples()) {
    const auto bytes = serialized(parts);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      ValueScanner scanner;
      scanner.feed(bytes_of(bytes).first(cut));
      scanner.restart();
      EXPECT_EQ(scanner.feed(bytes_of(bytes)), bytes.size()) << name << " after byte " << cut;
      EXPECT_EQ(scanner.state(), State::complete) << name << " after byte " << cut;
    }
  }
}

TEST(ValueScanner, AnotherFormatOrVersionIsMalformed) {
  expect_malformed("A\n3\n", "ascii");
  expect_malformed("X\r", "a line end of Windows");
  expect_malformed("hello", "text");
  for (const int version : {0, 1, 4, -1}) {
    expect_malformed(serialized({kNil}, 'X', version), "version " + std::to_string(version));
  }
}

TEST(ValueScanner, TheNameOfTheEncodingHasAtMost63Bytes) {
  const auto with_name = [](std::int32_t claimed) {
    std::string bytes = "X\n";
    const std::string name(63, 'u');
    append(bytes, {3, 0x040202, 0x030500, claimed, name, kNil}, 'X');
    return bytes;
  };
  expect_end_at(with_name(63), with_name(63).size(), "63 bytes");
  expect_malformed(with_name(64), "64 bytes");
  expect_malformed(with_name(-1), "-1 bytes");
}

TEST(ValueScanner, AnUnknownTypeIsMalformed) {
  for (const int type : {0, 11, 12, 18, 26, 100, 237, 239, 240, 243, 244, 245, 246}) {
    expect_malformed(serialized({type}), "type " + std::to_string(type));
  }
}

TEST(ValueScanner, ANegativeLengthIsMalformed) {
  for (const int type : {10, 13, 14, 15, 16, 19, 20, 24, 9}) {
    expect_malformed(serialized({type, -2}), "type " + std::to_string(type));
  }
  for (const int type : {7, 8}) {
    expect_malformed(serialized({type, -1}), "type " + std::to_string(type));
  }
  for (const int type : {247, 248, 249}) {
    expect_malformed(serialized({type, 0, -1}), "type " + std::to_string(type));
  }
  expect_malformed(serialized({21, 0, 13, 0, -1}), "constants of bytecode");
}

TEST(ValueScanner, TheUpperHalfOfA64BitLengthIsAtMost65536) {
  expect_malformed(serialized({15, -1, 65537, 0}), "complex vector");
  expect_malformed(serialized({19, -1, -1, -1}), "list");
}

TEST(ValueScanner, AHugeClaimedLengthGoesOnAndAllocatesNothingForIt) {
  const std::string some(4096, '\0');
  for (const int type : {10, 13, 14, 15, 24}) {
    for (const Parts& parts : {Parts{type, 0x7fffffff}, Parts{type, -1, 65536, -1}}) {
      const auto bytes = serialized(parts) + some;
      ValueScanner scanner;
      EXPECT_EQ(scanner.feed(bytes_of(bytes)), bytes.size()) << "type " << type;
      EXPECT_EQ(scanner.state(), State::going) << "type " << type;
    }
  }
  for (const Parts& parts : {Parts{16, -1, 65536, -1, kNil}, Parts{19, -1, 65536, -1, kNil},
                             Parts{247, 0, 0x7fffffff, kNil}, Parts{9, 0x7fffffff},
                             Parts{21, 0x7fffffff, 13, 0, 0x7fffffff, 0, kNil}}) {
    const auto bytes = serialized(parts);
    ValueScanner scanner;
    EXPECT_EQ(scanner.feed(bytes_of(bytes)), bytes.size());
    EXPECT_EQ(scanner.state(), State::going);
  }
}

/// `opening` a million times, one nil, and `closing` a million times.
std::string nested(const Parts& opening, const Parts& closing) {
  constexpr int kDepth = 1'000'000;
  std::string open;
  std::string close;
  append(open, opening, 'X');
  append(close, closing, 'X');
  std::string bytes = serialized({});
  for (int i = 0; i < kDepth; ++i) bytes += open;
  append(bytes, {kNil}, 'X');
  for (int i = 0; i < kDepth; ++i) bytes += close;
  return bytes;
}

TEST(ValueScanner, AValueMayBeNestedAMillionDeep) {
  const auto last = nested({19, 1}, {});
  expect_end_at(last, last.size(), "lists, each the last element of the one around");
  const auto first = nested({19, 2}, {kNil});
  expect_end_at(first, first.size(), "lists, each the first of two elements");
  const auto attributed = nested({19 | kHasAttributes, 1}, {kNil});
  expect_end_at(attributed, attributed.size(), "lists with attributes");
  const auto heads = nested({2}, {kNil});
  expect_end_at(heads, heads.size(), "pairlists, each the first element of the one around");
  const auto calls = nested({21, 0, 13, 0, 1, 0}, {});
  expect_end_at(calls, calls.size(), "bytecode, each the last constant of the one around");
}

TEST(ValueScanner, APairlistMayHaveAMillionElements) {
  const auto bytes = nested({2 | kHasTag, 1, 9, 1, "a", 253}, {});
  expect_end_at(bytes, bytes.size(), "pairlist");
}

TEST(ValueScanner, AVectorOfMoreThan4GiBFedInBlocksEndsAtItsLastByte) {
  const std::string block(1 << 20, '\xff');
  const auto start = serialized({24, -1, 1, 5});  // 2^32 + 5 bytes
  ValueScanner scanner;
  scanner.feed(bytes_of(start));
  for (int i = 0; i < 1 << 12; ++i) {
    ASSERT_EQ(scanner.feed(bytes_of(block)), block.size());
    ASSERT_EQ(scanner.state(), State::going);
  }
  EXPECT_EQ(scanner.feed(bytes_of(block)), 5u);
  EXPECT_EQ(scanner.state(), State::complete);
}

TEST(ValueScanner, ValuesWrittenByREndAtTheirLastByte) {
  const std::filesystem::path folder =
      std::filesystem::path(NODELAY_SOURCE_DIR) / "tests/cpp/unit/value_scanner_corpus";
  int num_values = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".bin") continue;
    const auto name = entry.path().filename().string();
    // The corpus was written on a little-endian machine.
    const bool is_native = name.find("native") != std::string::npos;
    if (is_native && std::endian::native == std::endian::big) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    expect_end_at(bytes + "more", bytes.size(), name);
    ValueScanner scanner;
    scanner.feed(bytes_of(bytes).first(bytes.size() - 1));
    EXPECT_EQ(scanner.state(), State::going) << name;
    ++num_values;
  }
  EXPECT_GT(num_values, 40);
}

}  // namespace
}  // namespace nodelay
