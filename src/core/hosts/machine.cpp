// SPDX-License-Identifier: MIT
#include "hosts/machine.h"

#include <array>
#include <cstdlib>
#include <fstream>

#include "hosts/text.h"

namespace nodelay {

std::optional<std::string> Machine::variable(const std::string& name) const {
  const auto value = environment(name);
  if (!value) return std::nullopt;
  const std::string_view text = trimmed(*value);
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> Machine::file(const std::filesystem::path& path) const {
  std::ifstream stream(root / path.relative_path(), std::ios::binary);
  if (!stream.is_open()) return std::nullopt;
  std::string content;
  std::array<char, 4096> piece{};
  do {
    stream.read(piece.data(), piece.size());
    content.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  } while (stream);
  if (stream.bad()) return std::nullopt;  // a folder
  return content;
}

std::string Machine::host_name() const {
  return std::string(trimmed(file("/proc/sys/kernel/hostname").value_or("")));
}

Machine this_machine() {
  return {"/", [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            if (value == nullptr) return std::nullopt;
            return value;
          }};
}

}  // namespace nodelay
