// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "base/descriptor.h"

namespace nodelay {

/// Where a worker's output goes, and the way to its last lines after its death.
/// Empty value: nowhere.
class OutputLog {
 public:
  OutputLog() = default;

  /// Standard output is discarded; standard error goes to memory of which
  /// trim_log() keeps the last part. There is no file. Throws Error(system).
  static OutputLog kept_in_memory();

  /// Both go to the end of the file `path`, which is emptied first where
  /// `is_fresh`. Throws Error(system) where it cannot be opened.
  static OutputLog file(const std::string& path, bool is_fresh);

  /// Both go where this process's own output goes; last lines are not known.
  static OutputLog inherited();

  int standard_output() const { return standard_output_.get(); }
  int standard_error() const { return standard_error_.get(); }

  /// The worker has descriptors of its own now: lets go of what last_lines() does not need.
  void close_standard_output() { standard_output_.close(); }

  /// True where the worker's standard error is memory and should be trimmed.
  bool is_in_memory() const { return is_in_memory_; }

  /// The last lines, at most twenty and 4 kB, without a newline at the end; empty where
  /// there are none or they cannot be read back.
  std::string last_lines() const;

 private:
  Descriptor standard_output_;
  Descriptor standard_error_;
  bool is_in_memory_ = false;
};

/// Gives back the memory of all but the last part of a log that has grown past a
/// few megabytes. `descriptor` is the standard error of a worker whose log is kept in
/// memory; main process and worker may both call this at any time. Touches no other file.
void trim_log(int descriptor);

/// The last lines of a file; empty where it cannot be read.
std::string last_lines_of_file(const std::string& path);

}  // namespace nodelay
