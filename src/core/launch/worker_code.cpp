// SPDX-License-Identifier: MIT
#include "launch/worker_code.h"

#include "launch/command_line.h"
#include "net/rendezvous.h"
#include "net/token.h"

namespace nodelay {
namespace {

std::string load_nodelay(std::string_view library) {
  if (library.empty()) return "loadNamespace(\"nodelay\")";
  return "loadNamespace(\"nodelay\",lib.loc=" + r_string(library) + ")";
}

}  // namespace

std::string native_worker_code(std::string_view library) {
  return load_nodelay(library) + "$run_worker()";
}

// No blank, backslash, bracket, star or question mark: R's own front end, a shell script,
// splits its arguments at blanks and expands file name patterns in them.
std::string base_worker_code(const Meeting& meeting) {
  const std::string half = std::to_string(kTokenHalfBytes);
  // A function and no local(): that evaluates in the global environment on its way, where
  // future's tasks stop looking through the frames for the `master` of workLoop().
  std::string code =
      "(function(){t<-Sys.getenv(\"NODELAY_TOKEN\");Sys.unsetenv(\"NODELAY_TOKEN\");"
      "if(!nzchar(t))t<-readLines(file(\"stdin\"),1L);";
  if (meeting.output_path == "/dev/null") {
    code += "sink(nullfile());";  // what goes wrong is still told on standard error
  } else if (!meeting.output_path.empty()) {
    code += "parallel:::sinkWorkerOutput(" + r_string(meeting.output_path) + ");";
  }
  // Not by name where that could be looked up slowly, or as an IPv6 address.
  const std::string host = meeting.host == "localhost" ? "127.0.0.1" : meeting.host;
  code += "con<-socketConnection(" + r_string(host) + "," + std::to_string(meeting.port) +
          ",blocking=TRUE,open=\"a+b\",timeout=" + std::to_string(meeting.timeout) +
          ",options=getOption(\"socketOptions\"));"
          "writeBin(charToRaw(paste0(substr(t,1," +
          half + "),\"" + static_cast<char>(Loop::base) +
          "\")),con);if(!identical(rawToChar(readBin(con,\"raw\"," + half + ")),substr(t," + half +
          "+1,nchar(t))))stop(\"whoever_listens_does_not_know_the_token_of_this_worker\");"
          "parallel:::workLoop(structure(list(con=con),class=\"" +
          (meeting.uses_xdr ? "SOCKnode" : "SOCK0node") + "\"))})()";
  return code;
}

std::string undecided_worker_code(std::string_view library, const Meeting& meeting) {
  return "if(is.null(tryCatch(suppressWarnings(" + load_nodelay(library) +
         "),error=function(e)NULL)))" + base_worker_code(meeting) + "else(" +
         native_worker_code(library) + ")";
}

}  // namespace nodelay
