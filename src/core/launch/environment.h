// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nodelay {

/// This process's environment as "NAME=value" strings, without the variables named in
/// `unset` and those of kVariablePrefix, and with those of `set` (name and value) added or
/// replaced. A variable in both is set.
std::vector<std::string> changed_environment(
    const std::vector<std::pair<std::string, std::string>>& set,
    const std::vector<std::string>& unset);

/// The value of variable `name` in such an environment; nothing where it is not set there.
std::optional<std::string> value_in(const std::vector<std::string>& environment,
                                    const std::string& name);

}  // namespace nodelay
