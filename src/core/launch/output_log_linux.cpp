// SPDX-License-Identifier: MIT
#include "launch/output_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/open_files.h"
#include "base/system_call.h"

namespace nodelay {
namespace {

constexpr char kLogName[] = "nodelay-worker-log";
constexpr std::size_t kTailBytes = 4096;
constexpr int kTailLines = 20;
constexpr off_t kTrimAbove = off_t{4} * 1024 * 1024;  // bytes in memory before a log is trimmed
constexpr off_t kKeptByTrim = off_t{1024} * 1024;     // bytes

Descriptor open_path(const std::string& path, int flags) {
  return moved_out_of_the_way(
      Descriptor(system_call(("opening '" + path + "' for a worker's output").c_str(),
                             [&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); })));
}

Descriptor copy_of(int descriptor) {
  return moved_out_of_the_way(
      Descriptor(system_call("copying a descriptor for a worker's output",
                             [&] { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3); })));
}

// Never a file of the user's.
bool is_log_in_memory(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const std::string expected = std::string("/memfd:") + kLogName;
  std::string target(expected.size(), '\0');
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  return size == static_cast<ssize_t>(expected.size()) && target == expected;
}

// The length of the UTF-8 character that `text` begins with (RFC 3629); 0: it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80                    ? 1
                           : first >= 0xc2 && first < 0xe0 ? 2
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xf0 && first < 0xf5 ? 4
                                                           : 0;
  if (first == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  return size;
}

// What is no character, such as half of one at the cut, becomes a question mark.
std::string as_characters(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t size = character_bytes(bytes);
    text += size == 0 ? "?" : bytes.substr(0, size);
    bytes.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return text;
}

// Where the last kTailLines lines begin.
std::size_t start_of_last_lines(const std::string& text) {
  std::size_t at = text.size();
  for (int line = 0; line < kTailLines && at != 0; ++line) {
    const std::size_t newline = text.rfind('\n', at - 1);
    if (newline == std::string::npos) return 0;
    at = newline;
  }
  return at < text.size() && text[at] == '\n' ? at + 1 : at;
}

std::string last_lines_from(int log) {
  struct stat status {};
  if (log < 0 || ::fstat(log, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  std::string tail(std::min(size, kTailBytes), '\0');
  const auto from = static_cast<off_t>(size - tail.size());
  const ssize_t got =
      retry_interrupted([&] { return ::pread(log, tail.data(), tail.size(), from); });
  if (got <= 0) return {};
  tail.resize(static_cast<std::size_t>(got));
  while (!tail.empty() && tail.back() == '\n') tail.pop_back();
  return as_characters(std::string_view(tail).substr(start_of_last_lines(tail)));
}

}  // namespace

OutputLog OutputLog::kept_in_memory() {
  OutputLog log;
  log.standard_output_ = open_path("/dev/null", O_WRONLY);
  log.standard_error_ = moved_out_of_the_way(Descriptor(system_call(
      "making the log of a worker", [] { return ::memfd_create(kLogName, MFD_CLOEXEC); })));
  system_call("making the log of a worker",
              [&] { return ::fcntl(log.standard_error_.get(), F_SETFL, O_APPEND); });
  log.is_in_memory_ = true;
  return log;
}

OutputLog OutputLog::file(const std::string& path, bool is_fresh) {
  OutputLog log;
  log.standard_output_ =
      open_path(path, O_RDWR | O_CREAT | O_APPEND | O_NOCTTY | (is_fresh ? O_TRUNC : 0));
  log.standard_error_ = copy_of(log.standard_output_.get());
  return log;
}

OutputLog OutputLog::inherited() {
  OutputLog log;
  log.standard_output_ = copy_of(STDOUT_FILENO);
  log.standard_error_ = copy_of(STDERR_FILENO);
  return log;
}

std::string OutputLog::last_lines() const {
  return last_lines_from(standard_error_.get());
}

std::string last_lines_of_file(const std::string& path) {
  const Descriptor log(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  return last_lines_from(log.get());
}

void trim_log(int descriptor) {
  if (!is_log_in_memory(descriptor)) return;
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size <= kKeptByTrim) return;
  if (status.st_blocks * 512 <= kTrimAbove) return;
  // Where the kernel cannot, the log merely stays large.
  (void)::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                    status.st_size - kKeptByTrim);
}

}  // namespace nodelay
