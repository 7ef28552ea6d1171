// SPDX-License-Identifier: MIT
#include <nodelay/frame.h>

#include "wire/integers.h"

namespace nodelay {
namespace {

// Offsets of the fields, as in the diagram of docs/protocol.md.
constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kKindAt = 2;
constexpr std::size_t kFlagsAt = 3;
constexpr std::size_t kShunnedCpuAt = 4;
constexpr std::size_t kRequestAt = 8;
constexpr std::size_t kBodyBytesAt = 16;

bool is_known(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(FrameKind::hello) &&
         kind <= static_cast<std::uint8_t>(FrameKind::function);
}

}  // namespace

HeaderBytes encode_header(const FrameHeader& header) {
  HeaderBytes bytes{};
  put(&bytes[kMagicAt], kFrameMagic);
  put(&bytes[kKindAt], static_cast<std::uint8_t>(header.kind));
  put(&bytes[kFlagsAt], header.flags);
  put(&bytes[kShunnedCpuAt], header.shunned_cpu);
  put(&bytes[kRequestAt], header.request);
  put(&bytes[kBodyBytesAt], header.body_bytes);
  return bytes;
}

std::optional<FrameHeader> decode_header(std::span<const std::byte, kHeaderBytes> bytes) {
  if (get<std::uint16_t>(&bytes[kMagicAt]) != kFrameMagic) return std::nullopt;
  const auto kind = get<std::uint8_t>(&bytes[kKindAt]);
  if (!is_known(kind)) return std::nullopt;
  FrameHeader header;
  header.kind = static_cast<FrameKind>(kind);
  header.flags = get<std::uint8_t>(&bytes[kFlagsAt]);
  header.shunned_cpu = get<std::uint32_t>(&bytes[kShunnedCpuAt]);
  if (header.shunned_cpu != 0 && header.kind != FrameKind::call) return std::nullopt;
  header.request = get<std::uint64_t>(&bytes[kRequestAt]);
  header.body_bytes = get<std::uint64_t>(&bytes[kBodyBytesAt]);
  if (header.body_bytes > kLongestBody) return std::nullopt;
  return header;
}

std::array<std::byte, kHelloBytes> encode_hello(const HelloBody& hello) {
  std::array<std::byte, kHelloBytes> bytes{};
  put(&bytes[0], hello.protocol_version);
  put(&bytes[4], hello.pid);
  return bytes;
}

std::optional<HelloBody> decode_hello(std::span<const std::byte> bytes) {
  if (bytes.size() != kHelloBytes) return std::nullopt;
  return HelloBody{get<std::uint32_t>(&bytes[0]), get<std::uint32_t>(&bytes[4])};
}

}  // namespace nodelay
