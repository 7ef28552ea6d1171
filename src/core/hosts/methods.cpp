// SPDX-License-Identifier: MIT
#include "hosts/methods.h"

#include <map>

#include "hosts/affinity.h"
#include "hosts/cgroups.h"
#include "hosts/lsf.h"
#include "hosts/package_checks.h"
#include "hosts/pbs.h"
#include "hosts/pjm.h"
#include "hosts/sge.h"
#include "hosts/slurm.h"
#include "hosts/usable_cpus.h"

namespace nodelay {
namespace {

template <std::optional<int> (*Count)(const Machine&)>
CoreCount counted(const Machine& machine) {
  return {Count(machine), {}};
}

template <std::optional<double> (*Quota)(const Machine&)>
CoreCount rounded(const Machine& machine) {
  const auto quota = Quota(machine);
  if (!quota) return {};
  return {whole_cpus(*quota), {}};
}

// The program nproc counts the affinity mask.
CoreCount nproc(const Machine& /*machine*/) {
  return {affinity_cpus(), {}};
}

using CoresOf = CoreCount (*)(const Machine&);
using HostsOf = HostList (*)(const Machine&);

}  // namespace

std::optional<CoreCount> cores_by_method(const std::string& method, const Machine& machine) {
  static const std::map<std::string, CoresOf> known = {
      {"/proc/self/status", counted<allowed_cpus>},
      {"cgroups.cpuset", counted<cgroup_v1_cpuset>},
      {"cgroups.cpuquota", rounded<cgroup_v1_quota>},
      {"cgroups2.cpuset.cpus", counted<cgroup_v2_cpuset>},
      {"cgroups2.cpuset.cpus.effective", counted<cgroup_v2_effective_cpuset>},
      {"cgroups2.cpu.max", rounded<cgroup_v2_quota>},
      {"nproc", nproc},
      {"BiocParallel", biocparallel_cores},
      {"_R_CHECK_LIMIT_CORES_", check_limit_cores},
      {"Bioconductor", bioconductor_cores},
      {"LSF", lsf_cores},
      {"PJM", pjm_cores},
      {"PBS", pbs_cores},
      {"SGE", sge_cores},
      {"Slurm", slurm_cores},
  };
  const auto found = known.find(method);
  if (found == known.end()) return std::nullopt;
  return found->second(machine);
}

std::optional<HostList> hosts_by_method(const std::string& method, const Machine& machine) {
  static const std::map<std::string, HostsOf> known = {
      {"LSF", lsf_hosts}, {"PJM", pjm_hosts},     {"PBS", pbs_hosts},
      {"SGE", sge_hosts}, {"Slurm", slurm_hosts},
  };
  const auto found = known.find(method);
  if (found == known.end()) return std::nullopt;
  return found->second(machine);
}

}  // namespace nodelay
