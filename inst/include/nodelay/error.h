// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace nodelay {

/// What kind of failure an Error reports. Each kind has an R condition class
/// `nodelay_error_<kind>`; docs/errors.md tells what to do about it.
enum class ErrorKind {
  argument,      ///< the caller asked for something that makes no sense
  system,        ///< the operating system refused; see Error::errno_value()
  start_failed,  ///< a worker could not be started
  worker_lost,   ///< a worker's process or stream ended while it was needed
  timeout,       ///< no reply came within the time that was set
  protocol,      ///< the peer sent bytes that are not this protocol
  stopped,       ///< the node or cluster was stopped before
};

/// Returns the name that stands in the R condition class, such as "worker_lost".
const char* name_of(ErrorKind kind);

/// A request of the caller that could not be carried out. News about a peer
/// (closed, lost, timed out) is a value elsewhere and becomes an Error only
/// where the caller cannot go on without the peer.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message);

  /// A failed system call: `doing` says what was being done, in the gerund
  /// ("opening the listening socket"); the text of `errno_value` is added.
  Error(int errno_value, const std::string& doing);

  ErrorKind kind() const { return kind_; }

  /// The errno of the failed system call; 0 where none failed.
  int errno_value() const { return errno_value_; }

 private:
  ErrorKind kind_;
  int errno_value_ = 0;
};

}  // namespace nodelay
