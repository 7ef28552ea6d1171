// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace nodelay {

/// All that a program started now would take over from this process or find beside it, as text to
/// compare: working directory, file mode mask, rights, CPUs, priority, control group and limits
/// (but that of open files), and the state of the start-up files that R reads there and at home.
std::string inherited_state();

}  // namespace nodelay
