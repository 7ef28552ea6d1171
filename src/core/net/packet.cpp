// SPDX-License-Identifier: MIT
#include "net/packet.h"

#include <sys/socket.h>

#include "base/system_call.h"
#include "net/descriptor_passing.h"
#include "wire/fork_message.h"

namespace nodelay {
namespace {

using Control = ControlSpace<kMostForkDescriptors>;

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
    attach_descriptors(message, control.bytes, descriptors);
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
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
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
