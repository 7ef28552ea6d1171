// SPDX-License-Identifier: MIT
#include "launch/front_end.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "launch/environment.h"

namespace nodelay {
namespace {

constexpr std::string_view kPackagesOption = "--default-packages=";

std::string own_value(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Whether the front ends would add nothing to what the plan hands on of this process's environment.
bool is_environment_complete(const SpawnPlan& plan, const std::string& home) {
  const auto keeps = [&plan](const char* name) {
    return !own_value(name).empty() && value_in(plan.environment, name) == own_value(name);
  };
  const std::string libraries = own_value("LD_LIBRARY_PATH");
  return keeps("R_SHARE_DIR") && keeps("R_INCLUDE_DIR") && keeps("R_DOC_DIR") &&
         keeps("LD_LIBRARY_PATH") && libraries.starts_with(home + "/lib") &&
         value_in(plan.environment, "R_ARCH").value_or("").empty() &&
         !value_in(plan.environment, "RHOME");
}

// As R's script hands on an expression, which it would otherwise split at blanks.
std::string escaped(const std::string& code) {
  std::string text;
  for (const char character : code) {
    if (character == ' ') {
      text += "~+~";
    } else if (character == '\n') {
      text += "~n~";
    } else {
      text += character;
    }
  }
  return text;
}

// What the script would do to these characters depends on the shell that runs it.
bool is_plain_code(const std::string& code) {
  return !code.empty() && code.front() != '-' && code.find_first_of("\\*?[\t") == std::string::npos;
}

// The argument vector of R itself; nothing where that cannot be told.
std::optional<std::vector<std::string>> direct_argv(const SpawnPlan& plan,
                                                    const std::string& program,
                                                    std::string& packages) {
  std::vector<std::string> argv{program, "--no-echo", "--no-restore"};
  for (std::size_t i = 1; i < plan.argv.size(); ++i) {
    const std::string& word = plan.argv[i];
    if (word.starts_with(kPackagesOption)) {
      packages = word.substr(kPackagesOption.size());
    } else if (word == "-e" && i + 1 < plan.argv.size() && is_plain_code(plan.argv[i + 1])) {
      argv.push_back(word);
      argv.push_back(escaped(plan.argv[++i]));
    } else {
      return std::nullopt;
    }
  }
  return argv;
}

// A shell corrects it where the main process has changed its working directory.
void correct_working_directory(std::vector<std::string>& environment) {
  const auto here = value_in(environment, "PWD");
  std::error_code failed;
  if (!here || std::filesystem::equivalent(*here, ".", failed)) return;
  const std::filesystem::path current = std::filesystem::current_path(failed);
  std::erase_if(environment, [](const std::string& each) { return each.starts_with("PWD="); });
  if (!failed) environment.push_back("PWD=" + current.string());
}

}  // namespace

SpawnPlan without_front_ends(SpawnPlan plan) {
  const std::string home = own_value("R_HOME");
  const std::string program = home + "/bin/exec/R";
  const bool is_own_rscript = !plan.argv.empty() && plan.argv[0] == home + "/bin/Rscript";
  if (home.empty() || !is_own_rscript || ::access(program.c_str(), X_OK) != 0) return plan;
  if (!is_environment_complete(plan, home)) return plan;
  std::string packages;
  auto argv = direct_argv(plan, program, packages);
  if (!argv) return plan;
  plan.argv = std::move(*argv);
  std::erase_if(plan.environment, [&packages](const std::string& variable) {
    return variable.starts_with("R_HOME=") ||
           (!packages.empty() && variable.starts_with("R_DEFAULT_PACKAGES="));
  });
  plan.environment.push_back("R_HOME=" + home);
  correct_working_directory(plan.environment);
  if (!packages.empty()) plan.environment.push_back("R_DEFAULT_PACKAGES=" + packages);
  return plan;
}

}  // namespace nodelay
