// SPDX-License-Identifier: MIT
#include "hosts/cgroups.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "hosts/cpu_list.h"
#include "hosts/text.h"

namespace nodelay {
namespace {

using Path = std::filesystem::path;

// -- Where the process's groups are ---------------------------------------------------------------

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ",");
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Blanks and backslashes stand in /proc/mounts as three octal digits, such as \040.
Path unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    const bool is_escaped =
        text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 3, byte, 8).ptr == &text[i + 1] + 3;
    result += is_escaped ? static_cast<char>(byte) : text[i];
    if (is_escaped) i += 3;
  }
  return result;
}

// Where the hierarchy of a controller is mounted; "" stands for version 2. Lines of
// "device folder type options number number"; others are damaged (WSL writes blanks as
// they are) and are passed over.
std::optional<Path> find_mount(const Machine& machine, std::string_view controller) {
  const auto mounts = machine.file("/proc/self/mounts");
  if (!mounts) return std::nullopt;
  for (const std::string_view line : lines_of(*mounts)) {
    const auto fields = split(line, " ");
    if (fields.size() != 6) continue;
    const bool is_sought = controller.empty()
                               ? fields[2] == "cgroup2"
                               : fields[2] == "cgroup" && has_word(fields[3], controller);
    if (is_sought) return unescaped(fields[1]);
  }
  return std::nullopt;
}

// The process's group in the hierarchy of a controller, relative to where that is mounted.
// Lines of "id:controllers:path"; version 2 is "0::path".
std::optional<Path> find_group(const Machine& machine, std::string_view controller) {
  const auto groups = machine.file("/proc/self/cgroup");
  if (!groups) return std::nullopt;
  for (const std::string_view line : lines_of(*groups)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool is_sought =
        controller.empty() ? controllers.empty() : has_word(controllers, controller);
    // Normalised: a group outside of the process's namespace begins with "/..".
    if (is_sought) return Path(line.substr(second + 1)).lexically_normal().relative_path();
  }
  return std::nullopt;
}

// The folders of the process's group and its parents, up to the mount. In a container the
// group may be mounted where its parents' root would be: folders need not exist.
std::vector<Path> group_folders(const Machine& machine, std::string_view controller) {
  const auto mount = find_mount(machine, controller);
  auto group = find_group(machine, controller);
  if (!mount || !group) return {};
  std::vector<Path> folders;
  for (; !group->empty(); *group = group->parent_path()) folders.push_back(*mount / *group);
  folders.push_back(*mount);
  return folders;
}

// -- What they say --------------------------------------------------------------------------------

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end || !(value > 0)) return std::nullopt;
  return value;
}

// "150000 100000": microseconds of CPU in each period; "max 100000" is no limit.
std::optional<double> quota_v2(const Machine& machine, const Path& folder) {
  const auto content = machine.file(folder / "cpu.max");
  if (!content) return std::nullopt;
  const auto fields = split(*content, kBlanks);
  if (fields.size() != 2) return std::nullopt;
  const auto quota = positive_number(fields[0]);
  const auto period = positive_number(fields[1]);
  if (!quota || !period) return std::nullopt;
  return *quota / *period;
}

// A quota of -1 is no limit.
std::optional<double> quota_v1(const Machine& machine, const Path& folder) {
  const auto quota_text = machine.file(folder / "cpu.cfs_quota_us");
  const auto period_text = machine.file(folder / "cpu.cfs_period_us");
  if (!quota_text || !period_text) return std::nullopt;
  const auto quota = positive_number(trimmed(*quota_text));
  const auto period = positive_number(trimmed(*period_text));
  if (!quota || !period) return std::nullopt;
  return *quota / *period;
}

template <typename Quota>
std::optional<double> least_quota(const Machine& machine, std::string_view controller,
                                  Quota quota_of) {
  std::optional<double> least;
  for (const Path& folder : group_folders(machine, controller)) {
    const auto quota = quota_of(machine, folder);
    if (quota && (!least || *quota < *least)) least = quota;
  }
  return least;
}

// An empty list means that of the parent.
std::optional<int> nearest_cpuset(const Machine& machine, std::string_view controller,
                                  const char* name) {
  for (const Path& folder : group_folders(machine, controller)) {
    const auto content = machine.file(folder / name);
    if (content && !trimmed(*content).empty()) return count_cpus(*content);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> cgroup_v1_cpuset(const Machine& machine) {
  return nearest_cpuset(machine, "cpuset", "cpuset.cpus");
}

std::optional<double> cgroup_v1_quota(const Machine& machine) {
  return least_quota(machine, "cpu", quota_v1);
}

std::optional<int> cgroup_v2_cpuset(const Machine& machine) {
  return nearest_cpuset(machine, "", "cpuset.cpus");
}

std::optional<int> cgroup_v2_effective_cpuset(const Machine& machine) {
  return nearest_cpuset(machine, "", "cpuset.cpus.effective");
}

std::optional<double> cgroup_v2_quota(const Machine& machine) {
  return least_quota(machine, "", quota_v2);
}

int whole_cpus(double quota) {
  constexpr double kMost = 1 << 20;  // more CPUs than any machine has
  return std::max(1, static_cast<int>(std::lround(std::min(quota, kMost))));
}

}  // namespace nodelay
