// SPDX-License-Identifier: MIT
#include "launch/worker_command.h"

#include <gtest/gtest.h>

#include "fixture/shell.h"

namespace nodelay {
namespace {

using Words = std::vector<std::string>;

const Words kNasty = {
    "",
    " ",
    "two words",
    "'",
    "it's \"quoted\"",
    "\"",
    "\\",
    "a\\\"b\\\\",
    "ends with \\",
    "two\nlines\n",
    "$HOME",
    "$(touch evil)",
    "`touch evil`",
    "a;touch evil",
    "a&b|c>d<e",
    "*",
    "?[a-z]{a,b}",
    "~",
    "#comment",
    "!history",
    "%PATH%",
    "A=1",
    "-n",
    "caf\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87",
    "\xff\xfe",
};

std::vector<Word> quoted_words(const Words& texts) {
  std::vector<Word> words;
  for (const std::string& text : texts) words.push_back({text, false});
  return words;
}

Words split_at_nul(const std::string& text) {
  Words words;
  std::size_t from = 0;
  for (std::size_t end = 0; (end = text.find('\0', from)) != std::string::npos; from = end + 1) {
    words.push_back(text.substr(from, end - from));
  }
  return words;
}

// A program that writes its arguments, each behind a NUL.
const Words kPrinter = {"sh", "-c", "printf '%s\\0' \"$@\"", "printer"};

// A command of every part, with nasty words wherever there may be some.
WorkerCommand whole_command() {
  WorkerCommand command;
  command.program = quoted_words(kPrinter);
  command.program.push_back({"'a raw one'", true});
  command.arguments_before = {"--before", "'b 1'"};
  command.arguments_after = {"--after", "'a 1'"};
  command.default_packages = "stats,utils";
  command.code = kNasty;
  for (const std::string& word : kNasty) command.settings.push_back("OUT=" + word);
  return command;
}

Words expected_arguments() {
  Words expected = {"a raw one", "--before", "b 1", "--default-packages=stats,utils"};
  for (const std::string& word : kNasty) expected.insert(expected.end(), {"-e", word});
  expected.insert(expected.end(), {"--after", "a 1"});
  for (const std::string& word : kNasty) expected.push_back("OUT=" + word);
  return expected;
}

TEST(WorkerCommandText, APlainCommandReadsAsPeopleWouldWriteIt) {
  WorkerCommand command;
  command.program = quoted_words({"/usr/bin/Rscript"});
  command.default_packages = "stats";
  command.code = {"a<-1", "b"};
  command.settings = {"MASTER=localhost", "OUT=/a b"};
  EXPECT_EQ(command_text(command, Shell::posix),
            "'/usr/bin/Rscript' --default-packages=stats -e 'a<-1' -e 'b' MASTER=localhost "
            "'OUT=/a b'");
}

TEST(WorkerCommandText, AShellReadsEveryPartBackInItsOrder) {
  const std::string text = command_text(whole_command(), Shell::posix);
  EXPECT_EQ(split_at_nul(output_of_shell(text)), expected_arguments());
}

TEST(WorkerCommandText, AShellWithinAShellReadsEveryPartBackInItsOrder) {
  std::string text = command_text(whole_command(), Shell::posix);
  for (int depth = 1; depth < 4; ++depth) {
    text = "sh -c " + quoted(text, Shell::posix);
    EXPECT_EQ(split_at_nul(output_of_shell(text)), expected_arguments()) << depth;
  }
}

TEST(WorkerCommandText, AssignmentsInFrontOfTheProgramSetItsEnvironment) {
  WorkerCommand command;
  for (const std::string& word : kNasty) {
    command.program =
        quoted_words({"FIRST=" + word, "_second2=2", "sh", "-c",
                      "printf '%s\\0' \"$FIRST\" $_second2 \"$1\"", "printer", "FIRST=" + word});
    const Words expected = {word, "2", "FIRST=" + word};
    command.niceness = 0;
    EXPECT_EQ(split_at_nul(output_of_shell(command_text(command, Shell::posix))), expected);
    command.niceness = 1;
    EXPECT_EQ(split_at_nul(output_of_shell(command_text(command, Shell::posix))), expected);
  }
}

TEST(WorkerCommandText, WhatIsNoNameIsNoAssignment) {
  for (const auto* word : {"2A=1", "=1", "a-b=1", "/bin/a=b", "\xc3\xa9=1"}) {
    WorkerCommand command;
    command.program = quoted_words({word});
    EXPECT_EQ(command_text(command, Shell::posix), "'" + std::string(word) + "'");
  }
}

TEST(WorkerCommandText, NiceLowersThePriorityOfTheProgramItself) {
  WorkerCommand command;
  command.program = quoted_words({"sh", "-c", "nice"});
  const int before = std::stoi(output_of_shell("nice"));
  command.niceness = 3;
  EXPECT_EQ(std::stoi(output_of_shell(command_text(command, Shell::posix))), before + 3);
  command.program.insert(command.program.begin(), {"A='1 2' _B=$HOME nice", true});
  command.program[1] = {"-n", true};
  command.program.insert(command.program.begin() + 2, {{"2", true}, {"sh", false}});
  EXPECT_EQ(std::stoi(output_of_shell(command_text(command, Shell::posix))), before + 5);
}

TEST(WorkerCommandText, AProgramThatIsNotRscriptHasItsPackagesInTheEnvironment) {
  WorkerCommand command;
  command.is_rscript = false;
  command.default_packages = "stats,utils";
  command.program =
      quoted_words({"A=1", "sh", "-c", "printf '%s\\0' \"$R_DEFAULT_PACKAGES\" $A \"$@\"", "R"});
  command.code = {"1"};
  for (const int niceness : {0, 1}) {
    command.niceness = niceness;
    EXPECT_EQ(split_at_nul(output_of_shell(command_text(command, Shell::posix))),
              (Words{"stats,utils", "1", "-e", "1"}));
  }
  command.default_packages = "";
  EXPECT_EQ(split_at_nul(output_of_shell(command_text(command, Shell::posix))),
            (Words{"", "1", "-e", "1"}));
}

TEST(WorkerCommandText, BeginsWithAnAssignmentOnlyWhereItDoes) {
  WorkerCommand command;
  command.default_packages = "stats";
  for (const int niceness : {0, 1}) {
    command.niceness = niceness;
    command.is_rscript = true;
    command.program = quoted_words({"Rscript"});
    EXPECT_FALSE(begins_with_assignment(command));
    command.program = quoted_words({"A=1", "Rscript"});
    EXPECT_EQ(begins_with_assignment(command), niceness == 0);
    command.is_rscript = false;
    EXPECT_TRUE(begins_with_assignment(command));
  }
}

TEST(WorkerCommandArgv, IsWhatAShellReadsFromTheText) {
  WorkerCommand command = whole_command();
  command.program.pop_back();
  command.arguments_before.clear();
  command.arguments_after.clear();
  command.niceness = 1;
  const auto argv = command_argv(command);
  ASSERT_TRUE(argv);
  EXPECT_EQ(output_of(*argv), output_of_shell(command_text(command, Shell::posix)));
}

TEST(WorkerCommandArgv, IsNothingWhereOnlyAShellCanReadTheCommand) {
  WorkerCommand command;
  command.program = quoted_words({"Rscript"});
  EXPECT_TRUE(command_argv(command));
  command.arguments_before = {"--vanilla"};
  EXPECT_FALSE(command_argv(command));
  command.arguments_before.clear();
  command.arguments_after = {"$HOME"};
  EXPECT_FALSE(command_argv(command));
  command.arguments_after.clear();
  command.program = {{"Rscript", true}};
  EXPECT_FALSE(command_argv(command));
  command.program = quoted_words({"A=1", "Rscript"});
  EXPECT_FALSE(command_argv(command));
}

// How a Windows program splits its command line ("Parsing C command-line arguments" in Microsoft's
// C runtime documentation): 2n backslashes and a quote are n backslashes and open or close, 2n + 1
// and a quote are n backslashes and a quote, other backslashes stand for themselves.
Words split_as_windows_does(const std::string& line) {
  Words words;
  bool is_in_word = false;
  bool is_in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_in_quotes && (line[i] == ' ' || line[i] == '\t')) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    std::size_t num_backslashes = 0;
    for (; i < line.size() && line[i] == '\\'; ++i) ++num_backslashes;
    const bool is_at_quote = i < line.size() && line[i] == '"';
    words.back().append(is_at_quote ? num_backslashes / 2 : num_backslashes, '\\');
    if (!is_at_quote) {
      if (num_backslashes > 0)
        --i;  // the character behind them has its own turn
      else
        words.back() += line[i];
    } else if (num_backslashes % 2 == 1) {
      words.back() += '"';
    } else {
      is_in_quotes = !is_in_quotes;
    }
  }
  return words;
}

TEST(WorkerCommandText, AWindowsProgramReadsEveryPartBackInItsOrder) {
  WorkerCommand command = whole_command();
  command.program = quoted_words({"C:\\Program Files\\R\\Rscript.exe"});
  command.arguments_before = {"--before"};
  command.arguments_after = {"--after"};
  Words expected = {"C:\\Program Files\\R\\Rscript.exe", "--before",
                    "--default-packages=stats,utils"};
  for (const std::string& word : kNasty) expected.insert(expected.end(), {"-e", word});
  expected.emplace_back("--after");
  for (const std::string& word : kNasty) expected.push_back("OUT=" + word);
  EXPECT_EQ(split_as_windows_does(command_text(command, Shell::windows)), expected);
}

TEST(WorkerCommandText, OnWindowsThePackagesOfAnotherProgramAreAmongItsArguments) {
  WorkerCommand command;
  command.program = quoted_words({"R.exe"});
  command.is_rscript = false;
  command.default_packages = "stats";
  command.code = {"1"};
  EXPECT_EQ(command_text(command, Shell::windows), "\"R.exe\" R_DEFAULT_PACKAGES=stats -e \"1\"");
}

TEST(WorkerCommandText, WithoutAShellNothingIsQuoted) {
  WorkerCommand command;
  command.program = quoted_words({"R script"});
  command.code = {"a b"};
  command.settings = {"OUT=a b"};
  EXPECT_EQ(command_text(command, Shell::none), "R script -e a b OUT=a b");
}

TEST(RemoteShellText, HasItsOptionsInTheOrderOfParallelly) {
  RemoteShell shell;
  shell.program = quoted_words({"ssh"});
  EXPECT_EQ(remote_shell_text(shell, 11000), "'ssh'");
  shell.log_path = "/a/log";
  shell.tunnel = RemoteShell::Tunnel{11002, "localhost"};
  shell.user = "alice";
  shell.options = {"-p", "22"};
  EXPECT_EQ(remote_shell_text(shell, 11000),
            "'ssh' -E '/a/log' -R 11002:localhost:11000 -l alice -p 22");
}

TEST(RemoteShellText, AShellReadsEveryPartBackAndExecutesNone) {
  for (const std::string& word : kNasty) {
    if (word.empty()) continue;  // stands for none
    RemoteShell shell;
    shell.program = quoted_words(kPrinter);
    shell.program.push_back({word, false});
    shell.log_path = word;
    shell.tunnel = RemoteShell::Tunnel{1, word};
    shell.user = word;
    shell.options = {"\"raw one\""};
    EXPECT_EQ(split_at_nul(output_of_shell(remote_shell_text(shell, 2))),
              (Words{word, "-E", word, "-R", "1:" + word + ":2", "-l", word, "raw one"}));
  }
}

}  // namespace
}  // namespace nodelay
