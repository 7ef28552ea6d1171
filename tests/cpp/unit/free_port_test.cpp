// SPDX-License-Identifier: MIT
#include "net/free_port.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <set>

#include "base/descriptor.h"

namespace nodelay {
namespace {

struct Listener {
  Descriptor socket;
  std::uint16_t port;
};

Listener listen_on(in_addr_t interface) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(interface);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(socket.get(), generic, size), 0);
  EXPECT_EQ(::listen(socket.get(), 1), 0);
  EXPECT_EQ(::getsockname(socket.get(), generic, &size), 0);
  return {std::move(socket), ntohs(address.sin_port)};
}

TEST(FreePort, APortThatSomebodyListensOnIsPassedOver) {
  for (const in_addr_t interface : {INADDR_LOOPBACK, INADDR_ANY}) {
    const Listener listener = listen_on(interface);
    EXPECT_FALSE(find_free_port({listener.port}, PortOrder::as_given));
    EXPECT_FALSE(find_free_port({listener.port, listener.port}, PortOrder::random));
  }
}

TEST(FreePort, APortIsFreeOnceItsListenerIsGone) {
  Listener listener = listen_on(INADDR_LOOPBACK);
  listener.socket.close();
  EXPECT_EQ(find_free_port({listener.port}, PortOrder::random), listener.port);
}

TEST(FreePort, PortsAreTriedInTheOrderGiven) {
  const Listener taken = listen_on(INADDR_LOOPBACK);
  Listener first = listen_on(INADDR_LOOPBACK);
  Listener second = listen_on(INADDR_LOOPBACK);
  first.socket.close();
  second.socket.close();
  EXPECT_EQ(find_free_port({taken.port, first.port, second.port}, PortOrder::as_given), first.port);
  EXPECT_EQ(find_free_port({second.port, taken.port, first.port}, PortOrder::as_given),
            second.port);
}

TEST(FreePort, RandomOrderGivesNotAlwaysTheSame) {
  Listener first = listen_on(INADDR_LOOPBACK);
  Listener second = listen_on(INADDR_LOOPBACK);
  first.socket.close();
  second.socket.close();
  std::set<std::uint16_t> found;
  for (int i = 0; i < 64; ++i) {  // the same all along: once in 2^63
    found.insert(find_free_port({first.port, second.port}, PortOrder::random).value_or(0));
  }
  EXPECT_EQ(found, (std::set<std::uint16_t>{first.port, second.port}));
}

TEST(FreePort, WithoutATestAPortIsTakenForFree) {
  const Listener taken = listen_on(INADDR_LOOPBACK);
  EXPECT_EQ(find_free_port({taken.port}, PortOrder::as_given, PortTest::none), taken.port);
  EXPECT_EQ(find_free_port({taken.port}, PortOrder::random, PortTest::none), taken.port);
  EXPECT_FALSE(find_free_port({}, PortOrder::random, PortTest::none));
}

TEST(FreePort, NoPortsAreNone) {
  EXPECT_FALSE(find_free_port({}, PortOrder::random));
}

}  // namespace
}  // namespace nodelay
