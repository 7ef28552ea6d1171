// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nodelay {

/// Who reads a command line.
enum class Shell {
  posix,    ///< sh and its kin
  windows,  ///< cmd.exe, and the C runtime that splits its lines into words
  none,     ///< nobody: words are left as they are
};

/// One word in quotes, whatever is in it, so that `shell` reads it back unharmed. On
/// Windows `%NAME%` cannot be kept from being replaced by a variable of that name.
std::string quoted(std::string_view word, Shell shell);

/// One word as a POSIX shell reads it back: unchanged where that is safe, in single
/// quotes otherwise.
std::string shell_quoted(std::string_view word);

/// A command as it could be typed into a POSIX shell; what a shell is given is typed as it is.
std::string shell_command(const std::vector<std::string>& argv);

/// An R expression for a string, without a blank, backslash or any character that a
/// shell could change: `"plain"`, else `rawToChar(as.raw(c(97,34)))`. It therefore
/// survives R's own front end, a shell script, too.
std::string r_string(std::string_view text);

}  // namespace nodelay
