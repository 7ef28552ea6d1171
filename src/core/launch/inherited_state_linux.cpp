// SPDX-License-Identifier: MIT
#include "launch/inherited_state.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace nodelay {
namespace {

namespace fs = std::filesystem;

// Lines of /proc/self/status (proc(5)) that a child inherits.
constexpr std::array<std::string_view, 13> kInheritedLines{
    "Umask:",  "Uid:",    "Gid:",     "Groups:",     "CapInh:",       "CapPrm:",      "CapEff:",
    "CapBnd:", "CapAmb:", "Seccomp:", "NoNewPrivs:", "Cpus_allowed:", "Mems_allowed:"};

bool is_inherited(const std::string& line) {
  for (const std::string_view name : kInheritedLines) {
    if (line.starts_with(name)) return true;
  }
  return false;
}

// The limit of open files is put right in each worker.
bool is_limit(const std::string& line) {
  return !line.starts_with("Max open files");
}

bool is_any(const std::string& /*line*/) {
  return true;
}

std::string lines_of(const char* path, bool (*is_wanted)(const std::string&)) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (is_wanted(line)) text += line + "\n";
  }
  return text;
}

std::string state_of_file(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "none\n";
  return std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " +
         std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec) + "\n";
}

}  // namespace

std::string inherited_state() {
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  std::string state = here.string() + "\n";
  const char* home = std::getenv("HOME");
  for (const char* name : {".Rprofile", ".Renviron"}) {
    state += state_of_file(here / name);
    if (home != nullptr) state += state_of_file(fs::path(home) / name);
  }
  state += std::to_string(::getpriority(PRIO_PROCESS, 0)) + "\n";
  state += lines_of("/proc/self/status", is_inherited);
  state += lines_of("/proc/self/limits", is_limit);
  state += lines_of("/proc/self/cgroup", is_any);
  state += lines_of("/proc/self/oom_score_adj", is_any);
  return state;
}

}  // namespace nodelay
