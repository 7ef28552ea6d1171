// SPDX-License-Identifier: MIT
#include "launch/environment.h"

#include <unistd.h>

#include <unordered_set>

#include "launch/worker_variables.h"

namespace nodelay {

std::vector<std::string> changed_environment(
    const std::vector<std::pair<std::string, std::string>>& set,
    const std::vector<std::string>& unset) {
  std::unordered_set<std::string> dropped(unset.begin(), unset.end());
  for (const auto& [name, value] : set) dropped.insert(name);
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.starts_with(kVariablePrefix)) continue;  // this process is a worker itself
    if (!dropped.contains(text.substr(0, text.find('=')))) environment.push_back(text);
  }
  for (const auto& [name, value] : set) {
    environment.push_back(name);
    environment.back().append("=").append(value);
  }
  return environment;
}

std::optional<std::string> value_in(const std::vector<std::string>& environment,
                                    const std::string& name) {
  const std::string start = name + "=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(start)) return variable.substr(start.size());
  }
  return std::nullopt;
}

}  // namespace nodelay
