// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/system_call.h"
#include "net/substitution.h"
#include "net/tcp.h"

namespace nodelay {
namespace {

bool is_connected_to(int descriptor, const sockaddr_in& address) {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  return ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
         size == sizeof peer && peer.sin_family == AF_INET && peer.sin_port == address.sin_port &&
         peer.sin_addr.s_addr == address.sin_addr.s_addr;
}

// -1 where there is none.
int find_socket_to(std::uint16_t port) {
  const sockaddr_in address = address_of(port, Reach::this_machine);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    if (is_connected_to(descriptor, address)) return descriptor;
  }
  return -1;
}

}  // namespace

Substitution::Substitution() : listener_(try_to_listen(0, Reach::this_machine)) {
  if (!listener_) throw Error(errno, "listening on a port of 127.0.0.1");
  port_ = port_of(listener_.get());
}

void Substitution::put(int descriptor) {
  const int place = find_socket_to(port_);
  if (place < 0) throw Error(ENOTCONN, "looking for a connection to a port of this process");
  system_call("putting a descriptor in another's place",
              [&] { return ::dup3(descriptor, place, O_CLOEXEC); });
}

}  // namespace nodelay
