// SPDX-License-Identifier: MIT
#include "wire/buffer.h"

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <utility>

#include "fixture/bytes.h"

namespace nodelay {
namespace {

Buffer filled(std::string_view text) {
  Buffer buffer;
  buffer.append(text.data(), text.size());
  return buffer;
}

TEST(Buffer, WhatIsAppendedStandsThereInOrder) {
  Buffer buffer;
  std::string expected;
  for (unsigned i = 0; i < 200; ++i) {
    const auto piece = patterned(i * 37, i);
    buffer.append(piece.data(), piece.size());
    expected += piece;
  }
  EXPECT_EQ(text_of(buffer.bytes()), expected);
  EXPECT_GE(buffer.capacity(), buffer.size());
}

TEST(Buffer, AnEmptyOneHasNoMemory) {
  const Buffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(Buffer, AppendingNothingTakesNoMemory) {
  Buffer buffer;
  buffer.append(nullptr, 0);
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(Buffer, OnlyWhatIsCommittedCounts) {
  Buffer buffer = filled("ab");
  std::byte* tail = buffer.reserve_tail(100);
  EXPECT_EQ(tail, buffer.data() + 2);
  EXPECT_EQ(buffer.size(), 2u);
  tail[0] = std::byte{'c'};
  buffer.commit(1);
  EXPECT_EQ(text_of(buffer.bytes()), "abc");
}

TEST(Buffer, RoomThatIsThereIsUsedWithoutMoving) {
  Buffer buffer;
  const std::byte* start = buffer.reserve_tail(5000);
  const auto text = patterned(5000);
  buffer.append(text.data(), text.size());
  EXPECT_EQ(buffer.data(), start);
}

TEST(Buffer, DroppingTheFrontMovesTheRestThere) {
  Buffer buffer = filled("abcdef");
  buffer.drop_front(0);
  EXPECT_EQ(text_of(buffer.bytes()), "abcdef");
  buffer.drop_front(4);
  EXPECT_EQ(text_of(buffer.bytes()), "ef");
  buffer.drop_front(2);
  EXPECT_TRUE(buffer.empty());
}

TEST(Buffer, DroppingMoreThanThereIsLeavesNothing) {
  Buffer buffer = filled("abc");
  buffer.drop_front(1000);
  EXPECT_TRUE(buffer.empty());
}

TEST(Buffer, ClearKeepsTheMemoryAndResetGivesItBack) {
  Buffer buffer = filled("abc");
  const auto capacity = buffer.capacity();
  buffer.clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.capacity(), capacity);
  buffer.reset();
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(Buffer, MovingLeavesAnEmptyOneBehind) {
  Buffer first = filled("abc");
  Buffer second(std::move(first));
  EXPECT_EQ(text_of(second.bytes()), "abc");
  EXPECT_EQ(first.capacity(), 0u);  // NOLINT(bugprone-use-after-move): that is the question
  Buffer third = filled("old");
  third = std::move(second);
  EXPECT_EQ(text_of(third.bytes()), "abc");
  EXPECT_EQ(second.capacity(), 0u);  // NOLINT(bugprone-use-after-move)
}

TEST(Buffer, ARequestThatCannotBeMetLeavesTheContent) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  Buffer buffer = filled("abc");
  EXPECT_THROW(buffer.reserve_tail(kMost), std::bad_alloc);
  EXPECT_EQ(text_of(buffer.bytes()), "abc");
}

}  // namespace
}  // namespace nodelay
