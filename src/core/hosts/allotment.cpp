// SPDX-License-Identifier: MIT
#include "hosts/allotment.h"

#include "hosts/text.h"

namespace nodelay {

bool HostList::add(const std::string& host, int num_workers) {
  // Far more than any job has; keeps a damaged file from filling the memory.
  constexpr std::size_t kMostWorkers = std::size_t{1} << 20;
  if (!hosts) hosts.emplace();
  const auto repeats = static_cast<std::size_t>(num_workers);
  if (num_workers < 0 || hosts->size() + repeats > kMostWorkers) return false;
  hosts->insert(hosts->end(), repeats, host);
  return true;
}

CoreCount count_in_variables(const Machine& machine, std::initializer_list<const char*> names) {
  CoreCount result;
  for (const char* name : names) {
    const auto text = machine.variable(name);
    if (!text) continue;
    result.cores = whole_number(*text);
    if (result.cores) return result;
    result.warnings.push_back("Environment variable " + std::string(name) + " = '" + *text +
                              "' is ignored: it is not a whole number.");
  }
  return result;
}

NamedFile file_in_variable(const Machine& machine, const std::string& name) {
  const auto path = machine.variable(name);
  if (!path) return {};
  NamedFile result{machine.file(*path), *path, {}};
  if (!result.content) {
    result.warnings.push_back("Environment variable " + name + " is ignored: there is no file '" +
                              *path + "' that can be read.");
  }
  return result;
}

}  // namespace nodelay
