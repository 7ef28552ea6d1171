// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

namespace nodelay {

/// How many CPUs a list in the kernel's format names, such as "0-3,8" (cpuset(7)). A CPU
/// that is named twice counts once. Nothing where `text` is no such list, or an empty one.
std::optional<int> count_cpus(std::string_view text);

}  // namespace nodelay
