// SPDX-License-Identifier: MIT
#include "net/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "fixture/bytes.h"
#include "net/stream.h"

namespace nodelay {
namespace {

std::string text_of(const Mapping& mapping) {
  return {static_cast<const char*>(mapping.data()), mapping.num_bytes()};
}

// Sealed memory with one text, which lies at offset 0.
SharedMemory memory_with(const std::string& text) {
  auto memory = SharedMemory::create();
  EXPECT_EQ(memory->append(std::as_bytes(std::span(text))), 0u);
  EXPECT_TRUE(memory->seal());
  return std::move(*memory);
}

TEST(SharedMemory, WhatWasAppendedIsFoundAtItsOffset) {
  auto memory = SharedMemory::create();
  ASSERT_TRUE(memory);
  const std::string texts[] = {"first", patterned(1'000'000), "third"};
  std::size_t offsets[3];
  for (int i = 0; i < 3; ++i) {
    const auto offset = memory->append(std::as_bytes(std::span(texts[i])));
    ASSERT_TRUE(offset);
    offsets[i] = *offset;
    EXPECT_EQ(*offset % static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), 0u);
  }
  ASSERT_TRUE(memory->seal());
  for (int i = 0; i < 3; ++i) {
    const auto mapping = memory->map(offsets[i], texts[i].size());
    ASSERT_TRUE(mapping);
    EXPECT_EQ(text_of(*mapping), texts[i]);
  }
}

TEST(SharedMemory, OnlyWhatIsThereCanBeMapped) {
  const SharedMemory memory = memory_with("some text");
  EXPECT_TRUE(memory.map(0, 9));
  EXPECT_FALSE(memory.map(0, 10));
  EXPECT_FALSE(memory.map(0, 0));
  EXPECT_FALSE(memory.map(1 << 20, 1));
  EXPECT_FALSE(memory.map(~std::size_t{0}, 1));
  EXPECT_FALSE(memory.map(0, ~std::size_t{0}));
}

TEST(SharedMemory, WritingToAMappingIsSeenByNoOther) {
  const SharedMemory memory = memory_with("some text");
  const auto one = memory.map(0, 9);
  const auto other = memory.map(0, 9);
  std::memcpy(one->data(), "SOME", 4);
  EXPECT_EQ(text_of(*one), "SOME text");
  EXPECT_EQ(text_of(*other), "some text");
}

TEST(SharedMemory, NothingCanBeWrittenOnceItIsSealed) {
  SharedMemory memory = memory_with("some text");
  const std::string more = "more";
  EXPECT_FALSE(memory.append(std::as_bytes(std::span(more))));
  EXPECT_NE(::ftruncate(memory.descriptor(), 0), 0);
  EXPECT_EQ(memory.size(), 9u);
}

TEST(SharedMemory, MemoryThatCouldStillChangeIsNotAdopted) {
  Descriptor open(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_FALSE(SharedMemory::adopt(std::move(open)));
  EXPECT_FALSE(SharedMemory::adopt(make_stream_pair().first));
  EXPECT_FALSE(SharedMemory::adopt(Descriptor()));
}

TEST(SharedMemory, PastTheLimitOnFilesThereIsNoneAndNoSignal) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small{10'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  auto memory = SharedMemory::create();
  const std::string text = patterned(20'000);
  EXPECT_FALSE(memory->append(std::as_bytes(std::span(text))));
  EXPECT_EQ(memory->size(), 0u);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

// Two ends of a stream that hands memory over.
class StreamWithMemory : public testing::Test {
 protected:
  void post(const std::string& body, const std::string& memory) {
    Payload payload(buffer_of(body));
    if (!memory.empty()) {
      payload.memory = std::make_shared<const SharedMemory>(memory_with(memory));
    }
    from_.post({FrameHeader{FrameKind::call, 0, 1, 0}, std::move(payload)});
  }

  // The body of the next message and what lies in its memory, parted by a slash.
  std::string receive() {
    std::optional<Bytes> message;
    while (!(message = to_.next())) {
      if (to_.is_malformed() || to_.fill() == Stream::Input::closed) return "closed";
    }
    const std::string body = text_of(message->subspan(kHeaderBytes));
    const auto memory = SharedMemory::adopt(to_.take_memory());
    return body + "/" + (memory ? text_of(*memory->map(0, memory->size())) : "");
  }

  static std::string text_of(Bytes bytes) { return nodelay::text_of(bytes); }
  static std::string text_of(const Mapping& mapping) {
    return {static_cast<const char*>(mapping.data()), mapping.num_bytes()};
  }

  DescriptorPair pair_ = make_stream_pair();
  Stream from_{std::move(pair_.first), std::make_unique<FrameSplitter>()};
  Stream to_{std::move(pair_.second), std::make_unique<FrameSplitter>()};
};

TEST_F(StreamWithMemory, EachMessageGetsItsOwn) {
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    post("body " + number, i % 3 == 0 ? "" : "memory " + number);
  }
  EXPECT_EQ(from_.flush(), Stream::Output::all_sent);
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(receive(), "body " + number + "/" + (i % 3 == 0 ? "" : "memory " + number));
  }
}

TEST_F(StreamWithMemory, MemoryThatNobodyTakesIsClosed) {
  post("a", "not taken");
  post("b", "taken");
  EXPECT_EQ(from_.flush(), Stream::Output::all_sent);
  while (!to_.next()) to_.fill();
  EXPECT_EQ(receive(), "b/taken");
}

TEST_F(StreamWithMemory, AMessageWhoseMemoryIsMissingEndsTheStream) {
  from_.post({FrameHeader{FrameKind::call, kHasMemory, 1, 0}, Payload(buffer_of("a"))});
  EXPECT_EQ(from_.flush(), Stream::Output::all_sent);
  EXPECT_EQ(receive(), "closed");
  EXPECT_TRUE(to_.is_malformed());
}

TEST_F(StreamWithMemory, OnlyLocalStreamsShareMemory) {
  EXPECT_TRUE(from_.can_share_memory());
  EXPECT_TRUE(to_.can_share_memory());
}

}  // namespace
}  // namespace nodelay
