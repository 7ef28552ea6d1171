// SPDX-License-Identifier: MIT
// What every transport must do for the two streams at its ends.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <vector>

#include "fixture/bytes.h"
#include "fixture/waiting.h"
#include "net/rendezvous.h"
#include "net/stream.h"

namespace nodelay {
namespace {

DescriptorPair connect_over_tcp(bool has_no_delay) {
  Rendezvous rendezvous({});
  const Token token = Token::random();
  rendezvous.expect(0, token, has_no_delay);
  auto worker_end = std::async(std::launch::async, [&] {
    return meet_main(rendezvous.port(), token, has_no_delay, patience_end());
  });
  for (const TimePoint end = patience_end(); Clock::now() < end;) {
    std::vector<pollfd> watched;
    rendezvous.add_to(watched);
    poll_until(watched, end);
    auto arrivals = rendezvous.turn(Clock::now());
    if (!arrivals.empty()) return {std::move(arrivals[0].connection), worker_end.get()};
  }
  return {{}, worker_end.get()};
}

struct Transport {
  const char* name;
  DescriptorPair (*connect)();
};

const Transport kTransports[] = {
    {"SocketPair", [] { return make_stream_pair(); }},
    {"TcpWithNoDelay", [] { return connect_over_tcp(true); }},
    {"TcpWithoutNoDelay", [] { return connect_over_tcp(false); }},
};

// One end of the transport and all that came out of it.
struct End {
  explicit End(Descriptor connection)
      : stream(std::move(connection), std::make_unique<FrameSplitter>()) {}

  void post(const std::string& body) {
    stream.post({FrameHeader{FrameKind::call, 0, ++num_posted, 0}, buffer_of(body)});
  }

  // Sends and reads what is possible now.
  void turn() {
    if (stream.has_output()) stream.flush();
    if (!is_closed && stream.fill() == Stream::Input::closed) is_closed = true;
    while (const auto message = stream.next()) {
      const auto header = decode_header(message->first<kHeaderBytes>());
      EXPECT_EQ(header->request, received.size() + 1) << "messages keep their order";
      received.push_back(text_of(message->subspan(kHeaderBytes)));
    }
  }

  pollfd watched() const {
    const bool has_output = stream.has_output();
    return {is_closed ? -1 : stream.descriptor(),
            static_cast<short>(has_output ? POLLIN | POLLOUT : POLLIN), 0};
  }

  Stream stream;
  std::uint64_t num_posted = 0;
  std::vector<std::string> received;
  bool is_closed = false;
};

class TransportTest : public testing::TestWithParam<Transport> {
 protected:
  TransportTest() {
    DescriptorPair pair = GetParam().connect();
    main_.emplace(std::move(pair.first));
    worker_.emplace(std::move(pair.second));
  }

  // Lets both ends work until `is_done`.
  template <typename Claim>
  void run_until(Claim is_done) {
    for (const TimePoint end = patience_end();;) {
      main_->turn();
      worker_->turn();
      if (is_done()) return;
      ASSERT_LT(Clock::now(), end) << "the streams do not go on";
      pollfd watched[] = {main_->watched(), worker_->watched()};
      poll_until(watched, end);
    }
  }

  std::optional<End> main_;
  std::optional<End> worker_;
};

TEST_P(TransportTest, AMessageOfAnySizeComesBackAsItWas) {
  for (const int size : {0, 1, 23, 24, 4096, 65'511, 65'512, 65'513, 1 << 20, 8 << 20}) {
    const std::string body = patterned(static_cast<std::size_t>(size));
    main_->received.clear();
    worker_->received.clear();
    main_->num_posted = worker_->num_posted = 0;
    main_->post(body);
    run_until([&] { return worker_->received.size() == 1; });
    worker_->post(worker_->received[0]);
    run_until([&] { return main_->received.size() == 1; });
    EXPECT_TRUE(main_->received[0] == body) << size << " bytes";
  }
}

TEST_P(TransportTest, ManySmallMessagesKeepTheirOrder) {
  constexpr std::size_t kNumMessages = 5000;
  for (std::size_t i = 0; i < kNumMessages; ++i) main_->post("message " + std::to_string(i));
  run_until([&] { return worker_->received.size() == kNumMessages; });
  for (std::size_t i = 0; i < kNumMessages; ++i) {
    ASSERT_EQ(worker_->received[i], "message " + std::to_string(i));
  }
}

TEST_P(TransportTest, BothSidesMaySendBigMessagesAtTheSameTime) {
  const std::string down = patterned(4 << 20, 1);
  const std::string up = patterned(4 << 20, 2);
  main_->post(down);
  worker_->post(up);
  run_until([&] { return main_->received.size() == 1 && worker_->received.size() == 1; });
  EXPECT_TRUE(main_->received[0] == up);
  EXPECT_TRUE(worker_->received[0] == down);
}

TEST_P(TransportTest, AMessageInTwoPiecesIsTakenWhole) {
  const std::string body = "a small message";
  for (std::size_t cut = 1; cut < kHeaderBytes + body.size(); ++cut) {
    const auto header = encode_header({FrameKind::call, 0, cut, body.size()});
    const std::string bytes = text_of(header) + body;
    const auto send = [&](std::string_view piece) {
      ASSERT_EQ(::send(main_->stream.descriptor(), piece.data(), piece.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(piece.size()));
      ASSERT_TRUE(is_ready(worker_->stream.descriptor()));
      worker_->turn();
    };
    send(std::string_view(bytes).substr(0, cut));
    ASSERT_EQ(worker_->received.size(), cut - 1) << "cut at byte " << cut;
    ASSERT_TRUE(worker_->stream.has_partial_input());
    send(std::string_view(bytes).substr(cut));
    ASSERT_EQ(worker_->received.size(), cut) << "cut at byte " << cut;
    EXPECT_EQ(worker_->received.back(), body);
  }
}

TEST_P(TransportTest, TheEndComesAfterTheLastMessage) {
  main_->post("last words");
  ASSERT_EQ(main_->stream.flush(), Stream::Output::all_sent);
  main_.reset();
  for (const TimePoint end = patience_end(); !worker_->is_closed && Clock::now() < end;) {
    ASSERT_TRUE(is_ready(worker_->stream.descriptor()));
    worker_->turn();
  }
  EXPECT_TRUE(worker_->is_closed);
  EXPECT_FALSE(worker_->stream.has_partial_input());
  EXPECT_EQ(worker_->received, std::vector<std::string>{"last words"});
}

TEST_P(TransportTest, AnEndInTheMiddleOfAMessageIsSeen) {
  for (const std::size_t sent : {std::size_t{1}, kHeaderBytes, kHeaderBytes + 1}) {
    DescriptorPair pair = GetParam().connect();
    End reader(std::move(pair.second));
    const auto bytes = text_of(encode_header({FrameKind::call, 0, 1, 1000})) + "some";
    ASSERT_EQ(::send(pair.first.get(), bytes.data(), sent, MSG_NOSIGNAL),
              static_cast<ssize_t>(sent));
    pair.first.close();
    while (!reader.is_closed) {
      ASSERT_TRUE(is_ready(reader.stream.descriptor()));
      reader.turn();
    }
    EXPECT_TRUE(reader.received.empty());
    EXPECT_TRUE(reader.stream.has_partial_input()) << sent << " bytes";
  }
}

TEST_P(TransportTest, WritingToAClosedEndIsNews) {
  worker_.reset();
  ASSERT_TRUE(is_ready(main_->stream.descriptor()));
  main_->post("anybody there?");
  for (const TimePoint end = patience_end(); Clock::now() < end;) {
    if (main_->stream.flush() == Stream::Output::closed) return;
    main_->post("anybody there?");
  }
  FAIL() << "it was never told";
}

INSTANTIATE_TEST_SUITE_P(Every, TransportTest, testing::ValuesIn(kTransports),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace nodelay
