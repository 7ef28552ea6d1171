// SPDX-License-Identifier: MIT
#include "launch/command_line.h"

#include "net/token.h"

namespace nodelay {
namespace {

constexpr std::string_view kLettersAndDigits =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool consists_of(std::string_view text, std::string_view allowed) {
  for (const char character : text) {
    if (kLettersAndDigits.find(character) == std::string_view::npos &&
        allowed.find(character) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && consists_of(word, "_-+=./:,@%")) return std::string(word);
  std::string quoted = "'";
  for (const char character : word) {
    if (character == '\'') {
      quoted += "'\\''";
    } else {
      quoted += character;
    }
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& argv) {
  std::string command;
  for (const std::string& word : argv) {
    if (!command.empty()) command += ' ';
    command += shell_quoted(word);
  }
  return command;
}

std::string r_string(std::string_view text) {
  if (consists_of(text, "_-+=./:,@")) return '"' + std::string(text) + '"';
  std::string code = "rawToChar(as.raw(c(";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0) code += ',';
    code += std::to_string(static_cast<unsigned char>(text[i]));
  }
  return code + ")))";
}

std::string native_worker_code(std::string_view library) {
  return "loadNamespace(\"nodelay\",lib.loc=" + r_string(library) + ")$run_worker()";
}

std::string base_worker_code(std::uint16_t port, int timeout, bool uses_xdr) {
  const std::string half = std::to_string(kTokenHalfBytes);
  const std::string node_class = uses_xdr ? "SOCKnode" : "SOCK0node";
  return "local({t<-Sys.getenv(\"NODELAY_TOKEN\");Sys.unsetenv(\"NODELAY_TOKEN\");"
         "con<-socketConnection(\"127.0.0.1\"," +
         std::to_string(port) + ",blocking=TRUE,open=\"a+b\",timeout=" + std::to_string(timeout) +
         ",options=getOption(\"socketOptions\"));"
         "writeBin(charToRaw(substr(t,1," +
         half + ")),con);if(!identical(rawToChar(readBin(con,\"raw\"," + half + ")),substr(t," +
         half + "+1,2*" + half +
         ")))stop(\"whoever_listens_does_not_know_this_worker's_token\");"
         "parallel:::workLoop(structure(list(con=con),class=\"" +
         node_class + "\"))})";
}

}  // namespace nodelay
