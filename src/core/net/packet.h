// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "base/descriptor.h"
#include "wire/buffer.h"

namespace nodelay {

/// A message between two processes of this machine that arrives whole, with descriptors.
struct Packet {
  std::vector<std::byte> bytes;
  std::vector<Descriptor> descriptors;
};

/// What receive_packet() found.
enum class PacketNews { nothing, packet, closed };

/// Makes two connected, nonblocking, close-on-exec sockets that carry packets.
/// Throws Error(system).
DescriptorPair make_packet_pair();

/// Sends a packet without waiting; `descriptors`, at most kMostForkDescriptors, are borrowed.
/// Returns false where it cannot be sent: the peer is gone, or does not read.
bool send_packet(int socket, Bytes bytes, std::span<const int> descriptors);

/// Takes the next packet, without waiting. One that is longer than kLongestForkRequest, or has
/// lost descriptors on its way, counts as the end of the conversation.
PacketNews receive_packet(int socket, Packet& packet);

}  // namespace nodelay
