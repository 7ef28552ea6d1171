// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system_call.h"
#include "net/shared_memory.h"

namespace nodelay {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// A write past the limit on the size of files would not only fail but raise SIGXFSZ.
bool is_within_file_limit(std::size_t num_bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  return limit.rlim_cur == RLIM_INFINITY || num_bytes <= limit.rlim_cur;
}

}  // namespace

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, num_bytes_);
}

std::optional<SharedMemory> SharedMemory::create() {
  Descriptor descriptor(::memfd_create("nodelay", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor) return std::nullopt;
  return SharedMemory(std::move(descriptor));
}

std::optional<SharedMemory> SharedMemory::adopt(Descriptor descriptor) {
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  struct stat status {};
  if (seals < 0 || (seals & kSeals) != kSeals || ::fstat(descriptor.get(), &status) != 0) {
    return std::nullopt;
  }
  return SharedMemory(std::move(descriptor), static_cast<std::size_t>(status.st_size));
}

std::optional<std::size_t> SharedMemory::append(Bytes bytes) {
  const std::size_t offset = (size_ + page_bytes() - 1) / page_bytes() * page_bytes();
  if (!is_within_file_limit(offset + bytes.size())) return std::nullopt;
  // Written and not copied into a mapping: whole new pages need not be zeroed before.
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t step = retry_interrupted([&] {
      return ::pwrite(descriptor_.get(), bytes.data() + written, bytes.size() - written,
                      static_cast<off_t>(offset + written));
    });
    if (step <= 0) {
      retry_interrupted([&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(size_)); });
      return std::nullopt;
    }
    written += static_cast<std::size_t>(step);
  }
  size_ = offset + bytes.size();
  return offset;
}

bool SharedMemory::seal() {
  return ::fcntl(descriptor_.get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) == 0;
}

bool SharedMemory::read(std::size_t offset, std::size_t num_bytes, void* to) const {
  if (offset > size_ || num_bytes > size_ - offset) return false;
  for (std::size_t done = 0; done < num_bytes;) {
    const ssize_t step = retry_interrupted([&] {
      return ::pread(descriptor_.get(), static_cast<std::byte*>(to) + done, num_bytes - done,
                     static_cast<off_t>(offset + done));
    });
    if (step <= 0) return false;
    done += static_cast<std::size_t>(step);
  }
  return true;
}

std::optional<Mapping> SharedMemory::map(std::size_t offset, std::size_t num_bytes) const {
  if (num_bytes == 0 || offset > size_ || num_bytes > size_ - offset) return std::nullopt;
  void* data = ::mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor_.get(),
                      static_cast<off_t>(offset));
  if (data == MAP_FAILED) return std::nullopt;
  return std::optional<Mapping>(std::in_place, data, num_bytes);
}

}  // namespace nodelay
