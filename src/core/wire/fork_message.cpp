// SPDX-License-Identifier: MIT
#include "wire/fork_message.h"

#include <nodelay/error.h>

#include <cerrno>

#include "wire/integers.h"

namespace nodelay {
namespace {

// Offsets of the fields, as in the diagrams of docs/protocol.md.
constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kNumDescriptorsAt = 2;
constexpr std::size_t kNumbersAt = 4;
constexpr std::size_t kPidAt = 4;
constexpr std::size_t kErrnoAt = 8;

// Strings, each with a zero behind it; nothing where the last one has none or one is no variable.
std::optional<std::vector<std::string>> split_variables(std::span<const std::byte> bytes) {
  std::vector<std::string> variables;
  std::string variable;
  for (const std::byte byte : bytes) {
    if (byte != std::byte{0}) {
      variable += std::to_integer<char>(byte);
      continue;
    }
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) return std::nullopt;
    variables.push_back(std::move(variable));
    variable.clear();
  }
  if (!variable.empty()) return std::nullopt;
  return variables;
}

}  // namespace

std::vector<std::byte> encode_fork_request(const ForkRequest& request) {
  const std::size_t num_descriptors = request.descriptors.size();
  std::size_t size = kNumbersAt + 4 * num_descriptors;
  for (const std::string& variable : request.variables) size += variable.size() + 1;
  if (num_descriptors > kMostForkDescriptors || size > kLongestForkRequest) {
    throw Error(EMSGSIZE, "asking a template for a worker");
  }
  std::vector<std::byte> bytes(size);
  put(&bytes[kMagicAt], kForkMagic);
  put(&bytes[kNumDescriptorsAt], static_cast<std::uint16_t>(num_descriptors));
  std::byte* to = bytes.data() + kNumbersAt;
  for (const int number : request.descriptors) {
    put(to, static_cast<std::int32_t>(number));
    to += 4;
  }
  for (const std::string& variable : request.variables) {
    for (const char character : variable) *to++ = static_cast<std::byte>(character);
    *to++ = std::byte{0};
  }
  return bytes;
}

std::optional<ForkRequest> decode_fork_request(std::span<const std::byte> bytes) {
  if (bytes.size() < kNumbersAt || bytes.size() > kLongestForkRequest) return std::nullopt;
  if (get<std::uint16_t>(&bytes[kMagicAt]) != kForkMagic) return std::nullopt;
  const std::size_t num_descriptors = get<std::uint16_t>(&bytes[kNumDescriptorsAt]);
  if (num_descriptors > kMostForkDescriptors) return std::nullopt;
  const std::size_t variables_at = kNumbersAt + 4 * num_descriptors;
  if (bytes.size() < variables_at) return std::nullopt;
  ForkRequest request;
  for (std::size_t at = kNumbersAt; at < variables_at; at += 4) {
    const auto number = get<std::int32_t>(&bytes[at]);
    if (number < 0) return std::nullopt;
    request.descriptors.push_back(number);
  }
  auto variables = split_variables(bytes.subspan(variables_at));
  if (!variables) return std::nullopt;
  request.variables = std::move(*variables);
  return request;
}

std::vector<std::byte> encode_fork_answer(const ForkAnswer& answer) {
  std::vector<std::byte> bytes(kForkAnswerBytes);
  put(&bytes[kMagicAt], kForkMagic);
  put(&bytes[kPidAt], answer.pid);
  put(&bytes[kErrnoAt], answer.errno_value);
  return bytes;
}

std::optional<ForkAnswer> decode_fork_answer(std::span<const std::byte> bytes) {
  if (bytes.size() != kForkAnswerBytes) return std::nullopt;
  if (get<std::uint16_t>(&bytes[kMagicAt]) != kForkMagic) return std::nullopt;
  if (get<std::uint16_t>(&bytes[kNumDescriptorsAt]) != 0) return std::nullopt;
  const ForkAnswer answer{get<std::int32_t>(&bytes[kPidAt]), get<std::int32_t>(&bytes[kErrnoAt])};
  if (answer.errno_value < 0 || (answer.errno_value == 0 && answer.pid <= 0)) return std::nullopt;
  return answer;
}

}  // namespace nodelay
