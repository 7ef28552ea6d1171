// SPDX-License-Identifier: MIT
// The one child program of the tests. It does what its arguments say, step by step:
//
//   exit N         ends with status N
//   raise N        sends signal N to itself
//   ignore N       ignores signal N
//   pause          waits for signals for ever
//   write FD TEXT  writes TEXT to a descriptor
//   await FD       waits for the end of what comes out of a descriptor
//   hold FD        starts a child that keeps all descriptors open until the end of FD
//   close FD       closes a descriptor
//   thread         starts a thread, which stays
//   yielding_thread  starts one that ends before a fork
//   signal_self N  sends signal N to its first thread, by another
//   template N     where it was started as a template: serves forks, or says why not (errno N)
//   report         writes to standard output how it was started
//   hello N        says hello as version N of the protocol, to descriptor 3
//   worker         is a worker until the stream ends
//   bare_worker    the same with serialized values and no frames, as base R's are
//
// A worker sends each call back as its result, but one that begins with "!" says which
// steps to do, parted by blanks; for them there are also
//
//   event TEXT     sends an event
//   result TEXT    sends the result of this call; without it that is "done"
//   half_result    sends the first part of a result
#include <fcntl.h>
#include <nodelay/frame.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "base/clock.h"
#include "launch/process.h"
#include "net/poll.h"
#include "net/rendezvous.h"
#include "net/splitter.h"
#include "worker/fork_service.h"
#include "worker/link.h"

namespace nodelay {
namespace {

constexpr int kStream = 3;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Descriptor connect_to_main() {
  if (variable("NODELAY_PORT").empty()) return Descriptor(kStream);
  const auto port = static_cast<std::uint16_t>(std::stoi(variable("NODELAY_PORT")));
  const auto token = Token::parse(variable("NODELAY_TOKEN"));
  return meet_main(port, token.value(), variable("NODELAY_NO_DELAY") == "1",
                   Clock::now() + std::chrono::seconds(20));
}

std::shared_ptr<const Buffer> buffer_of(std::string_view text) {
  auto buffer = std::make_shared<Buffer>();
  buffer->append(text.data(), text.size());
  return buffer;
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) std::_Exit(100);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

class Probe {
 public:
  void run(std::deque<std::string> steps) {
    std::swap(steps_, steps);
    while (!steps_.empty()) {
      static const std::map<std::string, void (Probe::*)()> kSteps{
          {"exit", &Probe::exit},
          {"raise", &Probe::raise},
          {"ignore", &Probe::ignore},
          {"pause", &Probe::pause},
          {"write", &Probe::write},
          {"await", &Probe::await},
          {"hold", &Probe::hold},
          {"close", &Probe::close},
          {"thread", &Probe::thread},
          {"yielding_thread", &Probe::yielding_thread},
          {"signal_self", &Probe::signal_self},
          {"template", &Probe::serve_as_template},
          {"report", &Probe::report},
          {"hello", &Probe::hello},
          {"worker", &Probe::worker},
          {"bare_worker", &Probe::bare_worker},
          {"event", &Probe::event},
          {"result", &Probe::result},
          {"half_result", &Probe::half_result}};
      (this->*kSteps.at(next()))();
    }
    std::swap(steps_, steps);
  }

 private:
  std::string next() {
    std::string word = steps_.at(0);
    steps_.pop_front();
    return word;
  }
  int next_number() { return std::stoi(next()); }

  void exit() { std::_Exit(next_number()); }
  void raise() { ::raise(next_number()); }
  void ignore() { ::signal(next_number(), SIG_IGN); }
  void close() { ::close(next_number()); }
  void write() {
    const int descriptor = next_number();
    write_all(descriptor, next());
  }

  void pause() {
    for (;;) ::pause();
  }

  void await() {
    const int descriptor = next_number();
    for (char byte = 0; ::read(descriptor, &byte, 1) > 0;) continue;
  }

  void hold() {
    if (::fork() == 0) {
      await();
      std::_Exit(0);
    }
    next();
  }

  void thread() {
    std::thread([] { ::pause(); }).detach();
  }

  void yielding_thread() {
    static std::promise<void> end;
    static std::thread thread([] { end.get_future().wait(); });
    ::pthread_atfork(
        [] {
          if (!thread.joinable()) return;
          end.set_value();
          thread.join();
        },
        nullptr, nullptr);
  }

  void signal_self() {
    const int number = next_number();
    std::thread([number, self = ::pthread_self()] { ::pthread_kill(self, number); }).join();
  }

  void serve_as_template() {
    const int obstacle = next_number();
    const std::string control = variable("NODELAY_TEMPLATE");
    if (control.empty()) return;
    serve_forks(Descriptor(std::stoi(control)), open_exit_descriptor(::getppid()),
                [obstacle] { return obstacle; });
  }

  void report() {
    std::cout << "pid " << ::getpid() << "\npgid " << ::getpgid(0) << "\ndescriptors";
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
      if (::fcntl(descriptor, F_GETFD) != -1) std::cout << ' ' << descriptor;
    }
    std::ifstream status("/proc/self/status");
    for (std::string name, value; status >> name && std::getline(status >> std::ws, value);) {
      if (name == "SigBlk:") std::cout << "\nblocked " << value;
      if (name == "SigIgn:") std::cout << "\nignored " << value;
    }
    std::cout << "\nenvironment";
    for (char** entry = ::environ; *entry != nullptr; ++entry) std::cout << ' ' << *entry;
    std::cout << std::endl;
  }

  void hello() {
    const auto body = encode_hello({static_cast<std::uint32_t>(next_number()), 1});
    const auto header = encode_header({FrameKind::hello, 0, 0, body.size()});
    write_all(kStream, {reinterpret_cast<const char*>(header.data()), header.size()});
    write_all(kStream, {reinterpret_cast<const char*>(body.data()), body.size()});
  }

  void worker() {
    Link link(connect_to_main());
    link_ = &link;
    while (!link.is_closed()) {
      if (const auto call = link.take_call()) {
        answer(*call);
      } else {
        link.wait(Clock::now() + std::chrono::hours(1));
      }
    }
    link_ = nullptr;
  }

  void answer(const Link::Call& call) {
    request_ = call.request;
    const std::string text(reinterpret_cast<const char*>(call.body.data()), call.body.size());
    if (call.is_cancelled) {
      send_result("");
    } else if (text.starts_with('!')) {
      std::istringstream words(text.substr(1));
      std::deque<std::string> steps;
      for (std::string word; words >> word;) steps.push_back(word);
      run(std::move(steps));
      if (request_ != 0) send_result("done");
    } else {
      send_result(text);
    }
  }

  void send_result(std::string_view text) {
    link_->send(FrameKind::result, std::exchange(request_, 0), buffer_of(text));
  }

  void event() { link_->send(FrameKind::event, request_, buffer_of(next())); }
  void result() { send_result(next()); }

  void half_result() {
    const auto header = encode_header({FrameKind::result, 0, request_, 1000});
    write_all(link_->descriptor(), {reinterpret_cast<const char*>(header.data()), header.size()});
    write_all(link_->descriptor(), "the first part");
  }

  void bare_worker() {
    Stream stream(connect_to_main(), std::make_unique<ValueSplitter>());
    while (stream.fill() != Stream::Input::closed) {
      while (const auto value = stream.next()) {
        auto copy = std::make_shared<Buffer>();
        copy->append(value->data(), value->size());
        stream.post({std::nullopt, Payload(std::move(copy))});
      }
      stream.flush();
      pollfd watched{stream.descriptor(), POLLIN, 0};
      if (stream.has_output()) watched.events |= POLLOUT;
      poll_until({&watched, 1}, Clock::now() + std::chrono::hours(1));
    }
  }

  std::deque<std::string> steps_;
  Link* link_ = nullptr;
  std::uint64_t request_ = 0;  // being worked on; 0: none
};

}  // namespace
}  // namespace nodelay

int main(int argc, char** argv) {
  nodelay::Probe().run({argv + 1, argv + argc});
  return 0;
}
