// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nodelay {

/// What a main process asks of a template: a worker. One packet; see docs/protocol.md.
struct ForkRequest {
  std::vector<int> descriptors;        ///< the worker's numbers of those that are sent along
  std::vector<std::string> variables;  ///< "NAME=value", to set in the worker's environment
};

/// What a template answers: the worker, or at its own start itself.
struct ForkAnswer {
  std::int32_t pid = 0;
  std::int32_t errno_value = 0;  ///< why there is no worker, or never will be; 0: there is
};

inline constexpr std::uint16_t kForkMagic = 0x464e;  // "NF"
inline constexpr std::size_t kMostForkDescriptors = 8;
inline constexpr std::size_t kLongestForkRequest = 4096;  // bytes: some short variables
inline constexpr std::size_t kForkAnswerBytes = 12;

/// Throws Error(system) where the request has too many descriptors or is too long.
std::vector<std::byte> encode_fork_request(const ForkRequest& request);

/// Nothing where the bytes are no such packet.
std::optional<ForkRequest> decode_fork_request(std::span<const std::byte> bytes);

std::vector<std::byte> encode_fork_answer(const ForkAnswer& answer);

/// Nothing where the bytes are no such packet.
std::optional<ForkAnswer> decode_fork_answer(std::span<const std::byte> bytes);

}  // namespace nodelay
