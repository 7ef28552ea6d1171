// SPDX-License-Identifier: MIT
#include "net/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/system_call.h"

namespace nodelay {
namespace {

constexpr int kSilenceSeconds = 60;
constexpr int kProbeSeconds = 20;
constexpr int kNumProbes = 3;

void set_option(int descriptor, int level, int option, int value) {
  system_call("setting a socket option",
              [&] { return ::setsockopt(descriptor, level, option, &value, sizeof value); });
}

}  // namespace

void set_no_delay(int descriptor) {
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
}

void set_keepalive(int descriptor) {
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kSilenceSeconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kNumProbes);
}

}  // namespace nodelay
