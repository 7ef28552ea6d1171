// SPDX-License-Identifier: MIT
#include "hosts/usable_cpus.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace nodelay {
namespace {

// "max 100000" or "150000 100000": microseconds of CPU in each period.
std::optional<double> quota_v2(const std::filesystem::path& folder) {
  std::ifstream file(folder / "cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> quota_v1(const std::filesystem::path& folder) {
  double quota = 0;
  double period = 0;
  std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
  std::ifstream(folder / "cpu.cfs_period_us") >> period;
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

struct Group {
  std::string mount;
  std::string path;
};

// The group that limits this process's CPU, from /proc/self/cgroup (cgroups(7)):
// lines of "id:controllers:path"; "0::path" is version 2.
std::optional<Group> own_group() {
  std::ifstream file("/proc/self/cgroup");
  std::optional<Group> unified;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string id, controllers, path;
    std::getline(fields, id, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    if (id == "0" && controllers.empty()) unified = Group{"/sys/fs/cgroup", path};
    if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      return Group{"/sys/fs/cgroup/" + controllers, path};
    }
  }
  return unified;
}

int affinity_cpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  // More CPUs than cpu_set_t has room for.
  return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

double cpu_quota(const std::string& mount, const std::string& group) {
  const std::filesystem::path root(mount);
  std::filesystem::path relative = std::filesystem::path(group).relative_path();
  double least = 0;
  for (;;) {
    const std::filesystem::path folder = root / relative;
    auto quota = quota_v2(folder);
    if (!quota) quota = quota_v1(folder);
    if (quota && (least == 0 || *quota < least)) least = *quota;
    if (relative.empty()) return least;
    relative = relative.parent_path();
  }
}

int usable_cpus() {
  int cpus = affinity_cpus();
  if (const auto group = own_group()) {
    const double quota = cpu_quota(group->mount, group->path);
    if (quota > 0) cpus = std::min(cpus, std::max(1, static_cast<int>(std::lround(quota))));
  }
  return std::max(1, cpus);
}

}  // namespace nodelay
