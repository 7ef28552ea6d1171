// SPDX-License-Identifier: MIT
#include "hosts/sge.h"

#include <algorithm>
#include <cctype>

#include "hosts/text.h"

namespace nodelay {
namespace {

// The name of a host, without its domain and in small letters.
std::string short_name(std::string_view host) {
  std::string name(host.substr(0, host.find('.')));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace

CoreCount sge_cores(const Machine& machine) {
  const auto hosts = sge_hosts(machine).hosts;
  if (hosts) {
    const std::string own = short_name(machine.host_name());
    const auto slots = std::count_if(hosts->begin(), hosts->end(),
                                     [&](const auto& host) { return short_name(host) == own; });
    if (slots > 0) return {static_cast<int>(slots), {}};
  }
  return count_in_variables(machine, {"NSLOTS"});
}

HostList sge_hosts(const Machine& machine) {
  const NamedFile file = file_in_variable(machine, "PE_HOSTFILE");
  if (!file.content) return {std::nullopt, file.warnings};
  HostList list{std::vector<std::string>(), {}};
  for (const std::string_view line : lines_of(*file.content)) {
    const auto fields = split(line, kBlanks);
    const auto slots = fields.size() < 2 ? std::nullopt : whole_number(fields[1]);
    if (!slots || !list.add(std::string(fields[0]), *slots)) {
      list.warnings.push_back("A line of PE_HOSTFILE ('" + file.path +
                              "') is ignored, which is not \"host slots ...\": '" +
                              std::string(line) + "'.");
    }
  }
  const auto expected = count_in_variables(machine, {"NSLOTS"}).cores;
  if (expected && *expected > static_cast<int>(list.hosts->size())) {
    list.warnings.push_back("PE_HOSTFILE ('" + file.path + "') has " +
                            std::to_string(list.hosts->size()) + " slots, but NSLOTS is " +
                            std::to_string(*expected) + ".");
  }
  return list;
}

}  // namespace nodelay
