// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nodelay {

/// The version of the protocol in docs/protocol.md; both ends must speak the same.
inline constexpr std::uint32_t kProtocolVersion = 2;

/// "ND", the first two bytes of every frame: tells a lost place at once.
inline constexpr std::uint16_t kFrameMagic = 0x444e;

/// Bytes of every frame's header.
inline constexpr std::size_t kHeaderBytes = 24;

/// The longest body that a header may claim: 2^42 bytes (4 TiB), more than any
/// machine that R runs on could hold, so that a lost place is not taken for a length.
inline constexpr std::uint64_t kLongestBody = std::uint64_t{1} << 42;

/// What a frame is for. The numbers are the protocol's.
enum class FrameKind : std::uint8_t {
  hello = 1,     ///< both ways, first: who is there (HelloBody)
  call = 2,      ///< main to worker: a serialized call
  result = 3,    ///< worker to main: the serialized outcome of the call with this id
  event = 4,     ///< worker to main: a value that the running call sends before it ends
  cancel = 5,    ///< main to worker: stop the call with this id; its result is not wanted
  bye = 6,       ///< main to worker: end
  ping = 7,      ///< main to worker: is somebody there?
  pong = 8,      ///< worker to main: the answer to the ping with this id
  function = 9,  ///< main to worker: what the plain calls that follow call
};

/// Flags of a call frame.
inline constexpr std::uint8_t kMaySpin = 1;  ///< the worker may spin for the next call
inline constexpr std::uint8_t kPlain = 2;    ///< only arguments, for the function that came last

/// Flag of a function frame: one copy of it serves all calls; otherwise each gets its own.
inline constexpr std::uint8_t kOneForAll = 4;

/// Flag of a call, function, result or event frame: shared memory goes beside the body.
inline constexpr std::uint8_t kHasMemory = 16;

/// Flag of a result frame: the worker moves to another CPU now, so the next may take longer.
inline constexpr std::uint8_t kMoves = 32;

/// The fixed part in front of every body. `request` numbers calls from 1, and pings, for
/// themselves, from 1; 0 where a frame belongs to none. `shunned_cpu` is for calls alone: the
/// CPU, counted from 1, that the main process wants to have to itself; 0: none.
struct FrameHeader {
  FrameKind kind = FrameKind::hello;
  std::uint8_t flags = 0;
  std::uint64_t request = 0;
  std::uint64_t body_bytes = 0;
  std::uint32_t shunned_cpu = 0;
};

using HeaderBytes = std::array<std::byte, kHeaderBytes>;

/// Writes a header as the 24 bytes of docs/protocol.md.
HeaderBytes encode_header(const FrameHeader& header);

/// Reads a header from exactly kHeaderBytes bytes. Returns nothing where they are
/// not a header: wrong magic, unknown kind, reserved bytes in use, or a body longer
/// than kLongestBody. Allocates nothing.
std::optional<FrameHeader> decode_header(std::span<const std::byte, kHeaderBytes> bytes);

/// The body of a hello frame, 8 bytes.
struct HelloBody {
  std::uint32_t protocol_version = kProtocolVersion;
  std::uint32_t pid = 0;  ///< process id of the sender, on its own machine
};

inline constexpr std::size_t kHelloBytes = 8;

std::array<std::byte, kHelloBytes> encode_hello(const HelloBody& hello);

/// Reads a hello body; nothing where its length is not kHelloBytes.
std::optional<HelloBody> decode_hello(std::span<const std::byte> bytes);

}  // namespace nodelay
