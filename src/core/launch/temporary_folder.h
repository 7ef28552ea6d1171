// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>

namespace nodelay {

/// Owns the temporary folder of a worker on this machine. A worker that ends by itself
/// removes it; one that was killed leaves that to its main process. Destroy this after the
/// worker's process. Empty value: no folder.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;

  /// `path` is what R's tempdir() returned on the worker.
  explicit TemporaryFolder(std::string path);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;

  /// Removes the folder with all that is in it where it is still there. Leaves alone what
  /// cannot be a temporary folder of R's (a name that does not begin with "Rtmp", a link,
  /// another user's), and does nothing in a fork of the process that made this.
  ~TemporaryFolder();

 private:
  void remove();

  std::string path_;  // empty: none
  pid_t owner_ = 0;
};

}  // namespace nodelay
