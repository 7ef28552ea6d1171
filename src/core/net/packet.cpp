// SPDX-License-Identifier: MIT
#include "net/packet.h"

#include <sys/socket.h>

#include <array>
#include <cstring>

#include "base/system_call.h"
#include "wire/fork_message.h"

namespace nodelay {
namespace {

// Room for the descriptors of one packet (cmsg(3)).
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostForkDescriptors * sizeof(int))> bytes{};
};

std::vector<Descriptor> take_descriptors(msghdr& message) {
  std::vector<Descriptor> descriptors;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t num_bytes = part->cmsg_len - CMSG_LEN(0);
    for (std::size_t at = 0; at + sizeof(int) <= num_bytes; at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + at, sizeof number);
      descriptors.emplace_back(number);
    }
  }
  return descriptors;
}

}  // namespace

DescriptorPair make_packet_pair() {
  int ends[2] = {-1, -1};
  system_call("making a socket pair", [&] {
    return ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
  });
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool send_packet(int socket, Bytes bytes, std::span<const int> descriptors) {
  Control control;
  iovec body{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    if (descriptors.size() > kMostForkDescriptors) return false;
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  return retry_interrupted([&] { return ::sendmsg(socket, &message, MSG_NOSIGNAL); }) >= 0;
}

PacketNews receive_packet(int socket, Packet& packet) {
  Control control;
  packet.bytes.resize(kLongestForkRequest);
  packet.descriptors.clear();
  iovec body{packet.bytes.data(), packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t got =
      retry_interrupted([&] { return ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC); });
  if (got < 0 && errno == EAGAIN) return PacketNews::nothing;
  if (got <= 0) return PacketNews::closed;
  packet.bytes.resize(static_cast<std::size_t>(got));
  packet.descriptors = take_descriptors(message);
  const bool is_cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  return is_cut ? PacketNews::closed : PacketNews::packet;
}

}  // namespace nodelay
