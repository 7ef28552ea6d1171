// SPDX-License-Identifier: MIT
#include "launch/command_line.h"

#include <gtest/gtest.h>

#include "fixture/shell.h"

namespace nodelay {
namespace {

const std::vector<std::string> kWords = {
    "",
    "plain",
    "with blank",
    " ",
    "\t",
    "'",
    "''",
    "it's",
    "\"",
    "\\",
    "\\n",
    "ends with \\",
    "two\nlines\n",
    "$HOME",
    "$(exit 1)",
    "`exit 1`",
    "a;b",
    "a&b|c>d<e",
    "*",
    "/*",
    "?[a-z]",
    "{a,b}",
    "~",
    "~root",
    "#comment",
    "!history",
    "-n",
    "A=1",
    "%s",
    "(",
    "Gr\xc3\xbc\xc3\x9f"
    "e",
    "\xff\xfe",
    "\x01\x7f",
};

TEST(ShellQuoted, AShellReadsEveryWordBackAsItWas) {
  std::string command = "printf '%s\\0'";
  std::string expected;
  for (const std::string& word : kWords) {
    command += " " + shell_quoted(word);
    expected += word + '\0';
  }
  EXPECT_EQ(output_of_shell(command), expected);
}

TEST(ShellQuoted, AShellReadsEveryByteBackAsItWas) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(output_of_shell("printf '%s' " + shell_quoted(all)), all);
  std::string command = "printf '%s\\0'";
  std::string expected;
  for (const char byte : all) {
    command += " " + shell_quoted({&byte, 1});
    expected += {byte, '\0'};
  }
  EXPECT_EQ(output_of_shell(command), expected);
}

TEST(ShellQuoted, APlainWordStaysAsItIs) {
  for (const auto* word : {"Rscript", "/usr/lib/R", "--no-init-file", "a_b+c=d.e:f,g@h%i"}) {
    EXPECT_EQ(shell_quoted(word), word);
  }
}

TEST(ShellCommand, AShellRunsTheCommandItself) {
  std::vector<std::string> argv{"printf", "%s\\0"};
  std::string expected;
  for (const std::string& word : kWords) {
    argv.push_back(word);
    expected += word + '\0';
  }
  EXPECT_EQ(output_of_shell(shell_command(argv)), expected);
  EXPECT_EQ(shell_command({}), "");
}

TEST(ShellCommand, WhatAShellIsGivenIsTypedAsItIs) {
  EXPECT_EQ(shell_command({"sh", "-c", "A=1 'b c'"}), "A=1 'b c'");
  EXPECT_EQ(shell_command({"sh", "-c", "a", "b c"}), "sh -c a 'b c'");
}

TEST(RString, APlainStringStandsInQuotes) {
  EXPECT_EQ(r_string("/usr/lib/R-4.2"), "\"/usr/lib/R-4.2\"");
  EXPECT_EQ(r_string(""), "\"\"");
}

TEST(RString, AnyOtherIsSpelledInBytes) {
  EXPECT_EQ(r_string("a\""), "rawToChar(as.raw(c(97,34)))");
  EXPECT_EQ(r_string("\xc3\xbc"), "rawToChar(as.raw(c(195,188)))");
}

TEST(RString, NothingInItIsChangedByAShell) {
  for (const std::string& word : kWords) {
    const std::string code = r_string(word);
    EXPECT_EQ(code.find_first_of(" \t\n\\'`$*?[~%!&|;<>"), std::string::npos) << code;
  }
}

}  // namespace
}  // namespace nodelay
