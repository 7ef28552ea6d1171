// SPDX-License-Identifier: MIT
#include "launch/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace nodelay {
namespace {

namespace fs = std::filesystem;

class TemporaryFolderTest : public testing::Test {
 protected:
  TemporaryFolderTest() { fs::create_directory(root_); }
  ~TemporaryFolderTest() override { fs::remove_all(root_); }

  // A folder with something in it.
  fs::path make(const std::string& name) {
    const fs::path path = root_ / name;
    fs::create_directories(path / "inner");
    std::ofstream(path / "inner" / "file") << "text";
    return path;
  }

  const fs::path root_ =
      fs::temp_directory_path() / ("nodelay-temporary-folder-" + std::to_string(::getpid()));
};

TEST_F(TemporaryFolderTest, IsRemovedWithAllThatIsInIt) {
  const fs::path path = make("RtmpA1b2C3");
  { const TemporaryFolder folder(path); }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryFolderTest, ThatIsGoneAlreadyIsNoTrouble) {
  const TemporaryFolder folder(root_ / "RtmpGone");
  const TemporaryFolder none;
}

TEST_F(TemporaryFolderTest, OfAnotherNameIsLeftAlone) {
  const fs::path path = make("home");
  { const TemporaryFolder folder(path); }
  EXPECT_TRUE(fs::exists(path / "inner" / "file"));
}

TEST_F(TemporaryFolderTest, ThatIsALinkIsLeftAloneWithWhatItLeadsTo) {
  const fs::path target = make("RtmpTarget");
  const fs::path link = root_ / "RtmpLink";
  fs::create_directory_symlink(target, link);
  { const TemporaryFolder folder(link); }
  EXPECT_TRUE(fs::exists(link / "inner" / "file"));
}

TEST_F(TemporaryFolderTest, ALinkInItIsRemovedAndNotWhatItLeadsTo) {
  const fs::path target = make("kept");
  const fs::path path = make("RtmpWithLink");
  fs::create_directory_symlink(target, path / "link");
  { const TemporaryFolder folder(path); }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(target / "inner" / "file"));
}

TEST_F(TemporaryFolderTest, ThatIsAFileOrRelativeIsLeftAlone) {
  const fs::path file = root_ / "RtmpFile";
  std::ofstream(file) << "text";
  { const TemporaryFolder folder(file); }
  EXPECT_TRUE(fs::exists(file));
  { const TemporaryFolder folder("Rtmp"); }
}

TEST_F(TemporaryFolderTest, MovesToItsNewOwnerAndTheOldOneOfThatIsRemoved) {
  const fs::path first = make("RtmpFirst");
  const fs::path second = make("RtmpSecond");
  TemporaryFolder folder(first);
  TemporaryFolder other(second);
  folder = std::move(other);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(fs::exists(second));
  folder = {};
  EXPECT_FALSE(fs::exists(second));
}

TEST_F(TemporaryFolderTest, IsLeftAloneByAFork) {
  const fs::path path = make("RtmpForked");
  TemporaryFolder folder(path);
  const pid_t fork = ::fork();
  if (fork == 0) {
    folder = {};
    ::_exit(0);
  }
  EXPECT_EQ(::waitpid(fork, nullptr, 0), fork);
  EXPECT_TRUE(fs::exists(path));
}

}  // namespace
}  // namespace nodelay
