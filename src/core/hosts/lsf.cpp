// SPDX-License-Identifier: MIT
#include "hosts/lsf.h"

#include "hosts/text.h"

namespace nodelay {

CoreCount lsf_cores(const Machine& machine) {
  return count_in_variables(machine, {"LSB_DJOB_NUMPROC"});
}

HostList lsf_hosts(const Machine& machine) {
  const auto names = machine.variable("LSB_HOSTS");
  if (!names) return {};
  const auto words = split(*names, kBlanks);
  return {std::vector<std::string>(words.begin(), words.end()), {}};
}

}  // namespace nodelay
