// SPDX-License-Identifier: MIT
#include "launch/output_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nodelay/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fixture/bytes.h"

namespace nodelay {
namespace {

namespace fs = std::filesystem;

void write_text(int descriptor, const std::string& text) {
  ASSERT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

std::string last_lines_of(const std::string& text) {
  const OutputLog log = OutputLog::kept_in_memory();
  write_text(log.standard_error(), text);
  return log.last_lines();
}

std::string numbered_lines(int from, int to) {
  std::string text;
  for (int line = from; line <= to; ++line) text += "line " + std::to_string(line) + "\n";
  return text;
}

TEST(OutputLog, AnEmptyLogHasNoLastLines) {
  EXPECT_EQ(OutputLog().last_lines(), "");
  EXPECT_EQ(last_lines_of(""), "");
  EXPECT_EQ(last_lines_of("\n\n\n"), "");
}

TEST(OutputLog, AShortLogIsWholeInItsLastLines) {
  EXPECT_EQ(last_lines_of("one"), "one");
  EXPECT_EQ(last_lines_of("one\n\ntwo\n\n"), "one\n\ntwo");
  EXPECT_EQ(last_lines_of(numbered_lines(1, 20)) + "\n", numbered_lines(1, 20));
}

TEST(OutputLog, OfALongLogTwentyLinesAreTheLast) {
  EXPECT_EQ(last_lines_of(numbered_lines(1, 21)) + "\n", numbered_lines(2, 21));
  EXPECT_EQ(last_lines_of(numbered_lines(1, 5000) + "no end"),
            numbered_lines(4982, 5000) + "no end");
}

TEST(OutputLog, LongLinesAreCutToFourKilobytes) {
  const std::string line(10'000, 'x');
  EXPECT_EQ(last_lines_of("first\n" + line + "\n"), std::string(4095, 'x'));
}

TEST(OutputLog, WhatIsNoUtf8BecomesQuestionMarks) {
  EXPECT_EQ(last_lines_of("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(last_lines_of("\xa4 \xc3( \xff\xfe \xe2\x82"), "? ?( ?? ??");
  EXPECT_EQ(last_lines_of(std::string("a\0b", 3)), "a?b");
}

TEST(OutputLog, AFileThatCannotBeReadHasNoLastLines) {
  EXPECT_EQ(last_lines_of_file(""), "");
  EXPECT_EQ(last_lines_of_file("/no/such/file"), "");
  EXPECT_EQ(last_lines_of_file("/"), "");
  EXPECT_NE(last_lines_of_file(__FILE__), "");
}

TEST(OutputLog, StandardOutputIsNotAmongTheLinesKeptInMemory) {
  const OutputLog log = OutputLog::kept_in_memory();
  write_text(log.standard_output(), "output\n");
  write_text(log.standard_error(), "error\n");
  EXPECT_EQ(log.last_lines(), "error");
  EXPECT_TRUE(log.is_in_memory());
}

TEST(OutputLog, TrimmingKeepsTheTailAndGivesMemoryBack) {
  const OutputLog log = OutputLog::kept_in_memory();
  const std::string chunk = patterned(1 << 20);
  for (int i = 0; i < 8; ++i) write_text(log.standard_error(), chunk);
  write_text(log.standard_error(), "\nlast line\n");
  trim_log(log.standard_error());
  struct stat status {};
  ASSERT_EQ(::fstat(log.standard_error(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 2 << 20) << "bytes of memory";
  std::string tail(1 << 20, '\0');
  ASSERT_EQ(::pread(log.standard_error(), tail.data(), tail.size(), status.st_size - (1 << 20)),
            1 << 20);
  EXPECT_TRUE(tail == (chunk + "\nlast line\n").substr(11)) << "the last megabyte has changed";
  EXPECT_TRUE(log.last_lines().ends_with("\nlast line"));
  write_text(log.standard_error(), "one more\n");
  EXPECT_TRUE(log.last_lines().ends_with("\nlast line\none more"));
}

TEST(OutputLog, ASmallLogIsNotTrimmed) {
  const OutputLog log = OutputLog::kept_in_memory();
  const std::string text = patterned(3 << 20);
  write_text(log.standard_error(), text);
  trim_log(log.standard_error());
  std::string kept(text.size(), '\0');
  ASSERT_EQ(::pread(log.standard_error(), kept.data(), kept.size(), 0), 3 << 20);
  EXPECT_TRUE(kept == text);
}

class OutputLogFile : public testing::Test {
 protected:
  OutputLogFile() { fs::create_directory(folder_); }
  ~OutputLogFile() override { fs::remove_all(folder_); }

  std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("nodelay-output-log-" + std::to_string(::getpid()));
  const std::string path_ = folder_ / "log of a worker";
};

TEST_F(OutputLogFile, BothOutputsGoToTheEndOfTheFile) {
  std::ofstream(path_) << "before\n";
  const OutputLog log = OutputLog::file(path_, false);
  write_text(log.standard_output(), "output\n");
  write_text(log.standard_error(), "error\n");
  EXPECT_EQ(content(), "before\noutput\nerror\n");
  EXPECT_EQ(log.last_lines(), "before\noutput\nerror");
  EXPECT_FALSE(log.is_in_memory());
}

TEST_F(OutputLogFile, IsNeverTrimmed) {
  const OutputLog log = OutputLog::file(path_, true);
  const std::string chunk = patterned(1 << 20);
  for (int i = 0; i < 8; ++i) write_text(log.standard_error(), chunk);
  trim_log(log.standard_error());
  std::string head(chunk.size(), '\0');
  ASSERT_EQ(::pread(log.standard_error(), head.data(), head.size(), 0),
            static_cast<ssize_t>(head.size()));
  EXPECT_EQ(head, chunk);
}

TEST_F(OutputLogFile, AFreshOneIsEmptiedFirst) {
  std::ofstream(path_) << "before\n";
  const OutputLog log = OutputLog::file(path_, true);
  EXPECT_EQ(content(), "");
}

TEST_F(OutputLogFile, ThatCannotBeOpenedIsAnErrorThatNamesIt) {
  const std::string path = folder_ / "missing" / "log";
  try {
    OutputLog::file(path, true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.errno_value(), ENOENT);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST(OutputLog, AnInheritedOneIsWhereThisProcessWrites) {
  const OutputLog log = OutputLog::inherited();
  struct stat ours {};
  struct stat theirs {};
  ASSERT_EQ(::fstat(STDERR_FILENO, &ours), 0);
  ASSERT_EQ(::fstat(log.standard_error(), &theirs), 0);
  EXPECT_EQ(ours.st_ino, theirs.st_ino);
  EXPECT_NE(log.standard_error(), STDERR_FILENO);
  EXPECT_EQ(::fcntl(log.standard_error(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

}  // namespace
}  // namespace nodelay
