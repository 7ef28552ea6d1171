// SPDX-License-Identifier: MIT
// Measures the least that a call can cost: two processes send each other messages of given
// sizes over the core's stream pair, waiting as the core does, and look at none of them.
//
//   floor REQUEST_BYTES REPLY_BYTES MILLISECONDS
//
// Prints the nanoseconds of each round trip, one a line, for about MILLISECONDS.

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/descriptor.h"
#include "base/system_call.h"
#include "net/poll.h"
#include "net/spin.h"

namespace nodelay {
namespace {

constexpr int kUncountedRoundTrips = 3;
constexpr int kMinRoundTrips = 3;

/// One end of the stream. Messages are sizes: their bytes are sent, and never looked at.
class End {
 public:
  End(Descriptor stream, std::size_t longest_bytes)
      : stream_(std::move(stream)), bytes_(longest_bytes) {}

  void send(std::size_t num_bytes) {
    for (std::size_t sent = 0; sent < num_bytes;) {
      const ssize_t taken = retry_interrupted([&] {
        return ::send(stream_.get(), bytes_.data() + sent, num_bytes - sent, MSG_NOSIGNAL);
      });
      if (taken >= 0) {
        sent += static_cast<std::size_t>(taken);
      } else if (errno == EAGAIN) {
        wait_for(POLLOUT);
      } else {
        throw Error(errno, "sending a message");
      }
    }
  }

  /// Returns false where the other end has hung up.
  bool receive(std::size_t num_bytes) {
    for (std::size_t received = 0; received < num_bytes;) {
      ssize_t got = 0;
      const auto look = [&] {
        got = retry_interrupted([&] {
          return ::recv(stream_.get(), bytes_.data() + received, num_bytes - received, 0);
        });
        return got != -1 || errno != EAGAIN;
      };
      const TimePoint start = Clock::now();
      if (!look() && !spin(budget_, start, look, [] { return false; })) {
        wait_for(POLLIN);
        budget_.answered(Clock::now() - start);
        continue;
      }
      if (got == -1) throw Error(errno, "receiving a message");
      if (got == 0) return false;
      received += static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  void wait_for(short events) {
    pollfd watched{stream_.get(), events, 0};
    poll_until({&watched, 1}, TimePoint::max());
  }

  Descriptor stream_;
  std::vector<char> bytes_;
  SpinBudget budget_;
};

void measure(End main, std::size_t request_bytes, std::size_t reply_bytes,
             std::chrono::milliseconds duration) {
  std::vector<long long> nanoseconds;
  const auto round_trip = [&] {
    main.send(request_bytes);
    if (!main.receive(reply_bytes)) throw Error(EPIPE, "reading the reply");
  };
  for (int i = 0; i < kUncountedRoundTrips; ++i) round_trip();
  const TimePoint end = Clock::now() + duration;
  for (TimePoint last = Clock::now(); last < end || nanoseconds.size() < kMinRoundTrips;) {
    round_trip();
    const TimePoint now = Clock::now();
    nanoseconds.push_back(std::chrono::nanoseconds(now - last).count());
    last = now;
  }
  for (const long long each : nanoseconds) std::printf("%lld\n", each);
}

void run(std::size_t request_bytes, std::size_t reply_bytes, std::chrono::milliseconds duration) {
  DescriptorPair pair = make_stream_pair();
  const std::size_t longest_bytes = std::max(request_bytes, reply_bytes);
  const pid_t worker = system_call("starting the other process", [] { return ::fork(); });
  if (worker == 0) {
    pair.first.close();
    End end(std::move(pair.second), longest_bytes);
    while (end.receive(request_bytes)) end.send(reply_bytes);
    ::_exit(0);
  }
  pair.second.close();
  measure(End(std::move(pair.first), longest_bytes), request_bytes, reply_bytes, duration);
  system_call("waiting for the other process", [&] { return ::waitpid(worker, nullptr, 0); });
}

}  // namespace
}  // namespace nodelay

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: floor REQUEST_BYTES REPLY_BYTES MILLISECONDS\n", stderr);
    return 2;
  }
  try {
    nodelay::run(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10),
                 std::chrono::milliseconds(std::strtol(argv[3], nullptr, 10)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "floor: %s\n", error.what());
    return 1;
  }
  return 0;
}
