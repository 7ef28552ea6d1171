// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "hosts/machine.h"

namespace nodelay {

/// A machine made of the files and environment variables given; its files are below a
/// temporary folder that goes with it.
class MadeUpMachine {
 public:
  using Texts = std::map<std::string, std::string>;

  MadeUpMachine(const Texts& files, const Texts& variables)
      : root_(std::filesystem::temp_directory_path() /
              ("nodelay-machine-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directories(root_);
    for (const auto& [path, content] : files) {
      const auto file = root_ / std::filesystem::path(path).relative_path();
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << content;
    }
    machine_ = {root_, [variables](const std::string& name) -> std::optional<std::string> {
                  const auto found = variables.find(name);
                  if (found == variables.end()) return std::nullopt;
                  return found->second;
                }};
  }
  MadeUpMachine(const MadeUpMachine&) = delete;
  MadeUpMachine& operator=(const MadeUpMachine&) = delete;
  ~MadeUpMachine() { std::filesystem::remove_all(root_); }

  const Machine& get() const { return machine_; }

 private:
  std::filesystem::path root_;
  Machine machine_;
};

}  // namespace nodelay
