// SPDX-License-Identifier: MIT
#include "launch/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

namespace nodelay {
namespace {

namespace fs = std::filesystem;

bool is_own_folder(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

bool is_temporary_folder(const fs::path& path) {
  return path.is_absolute() && path.filename().string().starts_with("Rtmp") && is_own_folder(path);
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)), owner_(::getpid()) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), owner_(other.owner_) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    owner_ = other.owner_;
  }
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  remove();
}

void TemporaryFolder::remove() {
  if (path_.empty() || owner_ != ::getpid()) return;
  std::error_code ignored;  // nobody is there to be told, and the next boot clears /tmp
  if (is_temporary_folder(path_)) fs::remove_all(path_, ignored);
  path_.clear();
}

}  // namespace nodelay
