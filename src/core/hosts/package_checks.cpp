// SPDX-License-Identifier: MIT
#include "hosts/package_checks.h"

#include <algorithm>
#include <array>

namespace nodelay {
namespace {

constexpr int kCheckCores = 2;         // CRAN Repository Policy
constexpr int kBioconductorCores = 4;  // the build system's own limit

// As R reads logical values.
bool is_one_of(const std::optional<std::string>& text,
               const std::array<const char*, 4>& spellings) {
  return text && std::find(spellings.begin(), spellings.end(), *text) != spellings.end();
}

bool is_true(const std::optional<std::string>& text) {
  return is_one_of(text, {"T", "TRUE", "true", "True"});
}

bool is_false(const std::optional<std::string>& text) {
  return is_one_of(text, {"F", "FALSE", "false", "False"});
}

// R CMD check sets the first for all that it runs, R CMD build the second.
bool is_package_check(const Machine& machine) {
  return machine.variable("_R_CHECK_PACKAGE_NAME_") || machine.variable("R_BUILD_TEMPLIB");
}

}  // namespace

CoreCount check_limit_cores(const Machine& machine) {
  const auto limit = machine.variable("_R_CHECK_LIMIT_CORES_");
  const bool is_limited = limit ? !is_false(limit)
                                : is_package_check(machine) &&
                                      !is_false(machine.variable("R_PARALLELLY_R_CMD_CHECK_NICE"));
  if (!is_limited) return {};
  return {kCheckCores, {}};
}

CoreCount bioconductor_cores(const Machine& machine) {
  // BBS_HOME is its older name.
  if (!is_true(machine.variable("IS_BIOC_BUILD_MACHINE")) &&
      !is_true(machine.variable("BBS_HOME"))) {
    return {};
  }
  return {kBioconductorCores, {}};
}

CoreCount biocparallel_cores(const Machine& machine) {
  return count_in_variables(machine, {"BIOCPARALLEL_WORKER_NUMBER"});
}

}  // namespace nodelay
