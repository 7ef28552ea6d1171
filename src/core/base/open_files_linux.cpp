// SPDX-License-Identifier: MIT
#include "base/open_files.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

#include "base/system_call.h"

namespace nodelay {
namespace {

constexpr std::size_t kKnownToSelect = 1024;  // FD_SETSIZE, select(2)
constexpr std::size_t kFew = 512;             // they fit in between what R has open

rlimit limit_now() {
  rlimit limit{};
  system_call("asking for the limit of open files",
              [&] { return ::getrlimit(RLIMIT_NOFILE, &limit); });
  return limit;
}

}  // namespace

std::size_t num_open_descriptors() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd", ignored), fs::directory_iterator()));
}

std::size_t most_open_descriptors() {
  return limit_now().rlim_max;
}

Descriptor moved_out_of_the_way(Descriptor descriptor) {
  constexpr int kFirst = kKnownToSelect;
  if (descriptor.get() < 0 || descriptor.get() >= kFirst) return descriptor;
  Descriptor moved(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kFirst));
  return moved ? std::move(moved) : std::move(descriptor);
}

void OpenFilesLimit::make_room_for(std::size_t num_descriptors) {
  const std::size_t num_needed = num_open_descriptors() + num_descriptors;
  if (num_needed <= kFew) return;
  rlimit limit = limit_now();
  const rlim_t wanted = std::min<rlim_t>(kKnownToSelect + num_needed, limit.rlim_max);
  if (limit.rlim_cur >= wanted) return;
  if (!original_) original_ = limit.rlim_cur;
  limit.rlim_cur = wanted;
  system_call("raising the limit of open files",
              [&] { return ::setrlimit(RLIMIT_NOFILE, &limit); });
}

}  // namespace nodelay
