// SPDX-License-Identifier: MIT
#include "launch/front_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "launch/environment.h"

namespace nodelay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::StartsWith;

// A home of R with a program in it, and the environment that R's script makes for it.
class FrontEndTest : public testing::Test {
 protected:
  FrontEndTest() {
    std::filesystem::create_directories(home_ + "/bin/exec");
    std::ofstream(program()) << "#!/bin/sh\n";
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
    ::setenv("R_HOME", home_.c_str(), 1);
    for (const char* name : {"R_SHARE_DIR", "R_INCLUDE_DIR", "R_DOC_DIR"}) {
      ::setenv(name, "/somewhere", 1);
    }
    ::setenv("LD_LIBRARY_PATH", (home_ + "/lib:/other").c_str(), 1);
    plan_.argv = {
        home_ + "/bin/Rscript", "--default-packages=utils,stats", "-e", "f(1, 2)", "-e", "g()"};
    plan_.environment = changed_environment({}, {"R_HOME"});
  }

  ~FrontEndTest() override {
    for (const char* name :
         {"R_HOME", "R_SHARE_DIR", "R_INCLUDE_DIR", "R_DOC_DIR", "LD_LIBRARY_PATH"}) {
      ::unsetenv(name);
    }
    std::filesystem::remove_all(home_);
  }

  std::string program() const { return home_ + "/bin/exec/R"; }

  bool stays_as_it_is() const { return without_front_ends(plan_).argv == plan_.argv; }

  std::string home_ = testing::TempDir() + "home_of_R_" + std::to_string(::getpid());
  SpawnPlan plan_;
};

TEST_F(FrontEndTest, RItselfIsStartedAsTheFrontEndsWouldStartIt) {
  const SpawnPlan direct = without_front_ends(plan_);
  EXPECT_THAT(direct.argv,
              ElementsAre(program(), "--no-echo", "--no-restore", "-e", "f(1,~+~2)", "-e", "g()"));
  EXPECT_THAT(direct.environment, Contains("R_HOME=" + home_));
  EXPECT_THAT(direct.environment, Contains("R_DEFAULT_PACKAGES=utils,stats"));
}

TEST_F(FrontEndTest, DefaultPackagesOfThisProcessGiveWay) {
  plan_.environment.emplace_back("R_DEFAULT_PACKAGES=NULL");
  const SpawnPlan direct = without_front_ends(plan_);
  EXPECT_THAT(direct.environment, Contains(StartsWith("R_DEFAULT_PACKAGES=")).Times(1));
  EXPECT_THAT(direct.environment, Contains("R_DEFAULT_PACKAGES=utils,stats"));
}

TEST_F(FrontEndTest, TheWorkingDirectoryIsToldAsAShellWould) {
  const std::string current = "PWD=" + std::filesystem::current_path().string();
  plan_.environment = changed_environment({{"PWD", "/"}}, {});
  EXPECT_THAT(without_front_ends(plan_).environment, Contains(current));
  plan_.environment = changed_environment({{"PWD", "/nowhere"}}, {});
  EXPECT_THAT(without_front_ends(plan_).environment, Contains(current));
  plan_.environment = changed_environment({{"PWD", "."}}, {});
  EXPECT_THAT(without_front_ends(plan_).environment, Contains("PWD=."));
}

TEST_F(FrontEndTest, AnotherProgramKeepsItsFrontEnds) {
  plan_.argv[0] = "/opt/R/bin/Rscript";
  EXPECT_TRUE(stays_as_it_is());
  plan_.argv[0] = "Rscript";
  EXPECT_TRUE(stays_as_it_is());
}

TEST_F(FrontEndTest, OptionsThatTheFrontEndsReadAreLeftToThem) {
  plan_.argv.emplace_back("--vanilla");
  EXPECT_TRUE(stays_as_it_is());
  plan_.argv.back() = "-e";  // of nothing
  EXPECT_TRUE(stays_as_it_is());
}

TEST_F(FrontEndTest, CodeThatAShellCouldReadInAnotherWayIsLeftToIt) {
  for (const char* code : {"", "-1", "x[1]", "a*b", "\"\\n\"", "what?"}) {
    plan_.argv.back() = code;
    EXPECT_TRUE(stays_as_it_is()) << code;
  }
}

TEST_F(FrontEndTest, AnEnvironmentThatTheFrontEndsWouldMendIsLeftToThem) {
  for (const char* name : {"R_SHARE_DIR", "R_INCLUDE_DIR", "R_DOC_DIR", "LD_LIBRARY_PATH"}) {
    plan_.environment = changed_environment({{name, "/elsewhere"}}, {});
    EXPECT_TRUE(stays_as_it_is()) << name;
    plan_.environment = changed_environment({}, {name});
    EXPECT_TRUE(stays_as_it_is()) << name;
  }
  plan_.environment = changed_environment({{"R_ARCH", "/x64"}}, {});
  EXPECT_TRUE(stays_as_it_is());
}

TEST_F(FrontEndTest, WithoutRsOwnProgramThereIsNoShortCut) {
  std::filesystem::remove(program());
  EXPECT_TRUE(stays_as_it_is());
}

}  // namespace
}  // namespace nodelay
