// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nodelay {

/// One word as a POSIX shell reads it back: unchanged where that is safe, in single
/// quotes otherwise.
std::string shell_quoted(std::string_view word);

/// A command as it could be typed into a POSIX shell.
std::string shell_command(const std::vector<std::string>& argv);

/// An R expression for a string, without a blank, backslash or any character that a
/// shell could change: `"plain"`, else `rawToChar(as.raw(c(97,34)))`. It therefore
/// survives R's own front end, a shell script, too.
std::string r_string(std::string_view text);

/// The last expression of a worker with nodelay's loop; `library` is the folder
/// that nodelay is installed in.
std::string native_worker_code(std::string_view library);

/// The last expression of a worker that has base R only: it connects to the loopback
/// `port`, proves with the token in the environment variable NODELAY_TOKEN that it is
/// the expected one and that the other side is its main process, and runs
/// parallel:::workLoop(). `timeout`: seconds of silence after which it ends;
/// `uses_xdr`: it answers in the XDR encoding.
std::string base_worker_code(std::uint16_t port, int timeout, bool uses_xdr);

}  // namespace nodelay
