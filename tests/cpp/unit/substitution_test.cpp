// SPDX-License-Identifier: MIT
#include "net/substitution.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nodelay/error.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/tcp.h"

namespace nodelay {
namespace {

Descriptor connect_to(std::uint16_t port) {
  Descriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(port, Reach::this_machine);
  EXPECT_EQ(
      ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return connection;
}

char received_by(int descriptor) {
  char byte = 0;
  return ::recv(descriptor, &byte, 1, MSG_DONTWAIT) == 1 ? byte : '-';
}

TEST(Substitution, TheNumberOfTheConnectedSocketBecomesADuplicate) {
  DescriptorPair pair = make_stream_pair();
  Substitution substitution;
  Descriptor connection = connect_to(substitution.port());
  substitution.put(pair.first.get());
  ASSERT_EQ(::send(pair.second.get(), "x", 1, 0), 1);
  EXPECT_EQ(received_by(connection.get()), 'x');
}

TEST(Substitution, ClosingThatNumberLeavesTheOriginalOpen) {
  DescriptorPair pair = make_stream_pair();
  Substitution substitution;
  Descriptor connection = connect_to(substitution.port());
  substitution.put(pair.first.get());
  connection.close();
  ASSERT_EQ(::send(pair.second.get(), "x", 1, 0), 1);
  EXPECT_EQ(received_by(pair.first.get()), 'x');
}

TEST(Substitution, ProgramsThatAreStartedDoNotInheritIt) {
  DescriptorPair pair = make_stream_pair();
  Substitution substitution;
  const Descriptor connection = connect_to(substitution.port());
  substitution.put(pair.first.get());
  EXPECT_NE(::fcntl(connection.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Substitution, AStrangersConnectionIsNotMistakenForIt) {
  DescriptorPair pair = make_stream_pair();
  Substitution substitution;
  const pid_t stranger = ::fork();
  ASSERT_GE(stranger, 0);
  if (stranger == 0) {
    const Descriptor connection = connect_to(substitution.port());
    ::_exit(connection ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(stranger, &status, 0), stranger);
  ASSERT_EQ(status, 0);
  EXPECT_THROW(substitution.put(pair.first.get()), Error);
  const Descriptor connection = connect_to(substitution.port());
  substitution.put(pair.first.get());
  ASSERT_EQ(::send(pair.second.get(), "x", 1, 0), 1);
  EXPECT_EQ(received_by(connection.get()), 'x');
}

TEST(Substitution, SeveralAtATimeKeepApart) {
  DescriptorPair first = make_stream_pair();
  DescriptorPair second = make_stream_pair();
  Substitution first_substitution;
  Substitution second_substitution;
  const Descriptor to_first = connect_to(first_substitution.port());
  const Descriptor to_second = connect_to(second_substitution.port());
  second_substitution.put(second.first.get());
  first_substitution.put(first.first.get());
  ASSERT_EQ(::send(first.second.get(), "1", 1, 0), 1);
  ASSERT_EQ(::send(second.second.get(), "2", 1, 0), 1);
  EXPECT_EQ(received_by(to_first.get()), '1');
  EXPECT_EQ(received_by(to_second.get()), '2');
}

TEST(Substitution, WithoutAConnectionItIsAnError) {
  DescriptorPair pair = make_stream_pair();
  Substitution substitution;
  EXPECT_THROW(substitution.put(pair.first.get()), Error);
}

}  // namespace
}  // namespace nodelay
