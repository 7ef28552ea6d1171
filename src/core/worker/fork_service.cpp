// SPDX-License-Identifier: MIT
#include "worker/fork_service.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/system_call.h"
#include "launch/sibling.h"
#include "net/packet.h"
#include "net/poll.h"
#include "wire/fork_message.h"

namespace nodelay {
namespace {

constexpr int kFirstSparedDescriptor = 64;  // above every number that a worker is given

// Without what R does at its end, which is the workers' business: the template has nothing that
// outlasts it.
[[noreturn]] void end_template() {
  for (;;) ::syscall(SYS_exit_group, 0);
}

// An interrupt that is pending when a worker is forked would be that worker's, too.
sigset_t block_interrupts() {
  sigset_t interrupt;
  sigset_t before;
  ::sigemptyset(&interrupt);
  ::sigaddset(&interrupt, SIGINT);
  ::sigprocmask(SIG_BLOCK, &interrupt, &before);
  return before;
}

struct Order {
  ForkRequest request;
  std::vector<Descriptor> descriptors;  // one for each number in the request
};

// Waits for the next request; nothing where there will be none.
std::optional<Order> await_order(int control, int main_process) {
  for (;;) {
    Packet packet;
    switch (receive_packet(control, packet)) {
      case PacketNews::closed:
        return std::nullopt;
      case PacketNews::packet: {
        auto request = decode_fork_request(packet.bytes);
        if (!request || request->descriptors.size() != packet.descriptors.size()) {
          return std::nullopt;
        }
        return Order{std::move(*request), std::move(packet.descriptors)};
      }
      case PacketNews::nothing:
        break;
    }
    std::array<pollfd, 2> watched{{{control, POLLIN, 0}, {main_process, POLLIN, 0}}};
    poll_until(watched, Clock::now() + std::chrono::hours(1));
    if (watched[1].revents != 0) return std::nullopt;
  }
}

// What R and the user's start-up files wrote before the fork belongs to each worker.
void copy_output(int from, int to) {
  std::array<char, 4096> bytes{};
  off_t at = 0;
  for (;;) {
    const ssize_t got =
        retry_interrupted([&] { return ::pread(from, bytes.data(), bytes.size(), at); });
    if (got <= 0) return;
    const auto size = static_cast<std::size_t>(got);
    if (retry_interrupted([&] { return ::write(to, bytes.data(), size); }) != got) return;
    at += got;
  }
}

Descriptor copy_of(int descriptor) {
  return Descriptor(system_call("copying a descriptor of a template", [&] {
    return ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstSparedDescriptor);
  }));
}

void become_worker(Order order) {
  const Descriptor output = copy_of(STDOUT_FILENO);
  const Descriptor errors = copy_of(STDERR_FILENO);
  std::vector<Descriptor> spared;  // copies out of the way of the numbers to be set
  for (const Descriptor& descriptor : order.descriptors) {
    spared.push_back(copy_of(descriptor.get()));
  }
  order.descriptors.clear();
  for (std::size_t i = 0; i < spared.size(); ++i) {
    system_call("setting a descriptor of a worker",
                [&] { return ::dup2(spared[i].get(), order.request.descriptors[i]); });
  }
  copy_output(output.get(), STDOUT_FILENO);
  copy_output(errors.get(), STDERR_FILENO);
  for (const std::string& variable : order.request.variables) {
    const std::size_t equals = variable.find('=');
    ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
}

bool answer(int control, const ForkAnswer& news) {
  return send_packet(control, encode_fork_answer(news), {});
}

}  // namespace

void serve_forks(Descriptor control, Descriptor main_process,
                 const std::function<int()>& obstacle) {
  set_close_on_exec(control.get());
  set_nonblocking(control.get());
  int why = obstacle();
  if (why == 0) why = prepare_to_fork_siblings();
  if (!answer(control.get(), {::getpid(), why}) || why != 0) end_template();
  const sigset_t mask = block_interrupts();
  for (;;) {
    auto order = await_order(control.get(), main_process.get());
    if (!order) end_template();
    why = obstacle();
    const pid_t pid = why == 0 ? fork_sibling() : -1;
    if (pid == 0) {
      control.close();
      main_process.close();
      become_worker(std::move(*order));
      ::sigprocmask(SIG_SETMASK, &mask, nullptr);
      return;
    }
    if (!answer(control.get(), {pid, why != 0 ? why : pid < 0 ? errno : 0})) end_template();
  }
}

}  // namespace nodelay
