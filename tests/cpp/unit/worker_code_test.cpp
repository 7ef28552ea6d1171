// SPDX-License-Identifier: MIT
#include "launch/worker_code.h"

#include <gtest/gtest.h>

namespace nodelay {
namespace {

Meeting meeting_at(std::uint16_t port) {
  Meeting meeting;
  meeting.port = port;
  meeting.timeout = 60;
  return meeting;
}

// The front end of R is a shell script that parts its arguments at blanks and expands
// patterns in them.
TEST(WorkerCode, HasNothingThatAShellWouldPartOrExpand) {
  Meeting meeting = meeting_at(11000);
  meeting.output_path = "/tmp/a b*.log";
  for (const std::string& code :
       {native_worker_code("/home/m e/R\\library"), base_worker_code(meeting),
        undecided_worker_code("/home/m e/R", meeting)}) {
    EXPECT_EQ(code.find_first_of(" \t\n\\'`*?["), std::string::npos) << code;
  }
}

TEST(WorkerCode, ABaseWorkerIsToldPortTimeoutAndEncoding) {
  Meeting meeting = meeting_at(11000);
  const auto native = base_worker_code(meeting);
  EXPECT_NE(native.find("\"127.0.0.1\",11000,"), std::string::npos);
  EXPECT_NE(native.find("timeout=60,"), std::string::npos);
  EXPECT_NE(native.find("\"SOCK0node\""), std::string::npos);
  meeting.uses_xdr = true;
  EXPECT_NE(base_worker_code(meeting).find("\"SOCKnode\""), std::string::npos);
}

TEST(WorkerCode, ALocalhostIsNotLookedUpAndAnyOtherHostIsTaken) {
  Meeting meeting = meeting_at(11000);
  meeting.host = "localhost";
  EXPECT_NE(base_worker_code(meeting).find("(\"127.0.0.1\","), std::string::npos);
  meeting.host = "main.example.org";
  EXPECT_NE(base_worker_code(meeting).find("(\"main.example.org\","), std::string::npos);
}

TEST(WorkerCode, OutputThatGoesNowhereLeavesStandardErrorForTheMainProcess) {
  Meeting meeting = meeting_at(11000);
  EXPECT_EQ(base_worker_code(meeting).find("sink"), std::string::npos);
  meeting.output_path = "/dev/null";
  EXPECT_NE(base_worker_code(meeting).find("sink(nullfile())"), std::string::npos);
  meeting.output_path = "/tmp/log";
  EXPECT_NE(base_worker_code(meeting).find("sinkWorkerOutput(\"/tmp/log\")"), std::string::npos);
}

}  // namespace
}  // namespace nodelay
