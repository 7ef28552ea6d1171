// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nodelay {

/// Where a worker that connects over TCP finds its main process, and how.
struct Meeting {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  int timeout = 2592000;    ///< seconds of silence after which a base-R worker ends
  bool uses_xdr = false;    ///< a base-R worker answers in the XDR encoding
  std::string output_path;  ///< R-level output goes there on the worker; empty: is left alone
};

/// The last expression of a worker with nodelay's loop; `library` is the folder that nodelay is
/// installed in, empty: the worker's own libraries.
std::string native_worker_code(std::string_view library);

/// The last expression of a worker that has base R only: it connects, proves by its token (in
/// the environment variable NODELAY_TOKEN, else the first line of its standard input) that it is
/// the expected one and that the other side is its main process, and runs
/// parallel:::workLoop().
std::string base_worker_code(const Meeting& meeting);

/// The last expression of a worker of which nobody knows whether it has nodelay: native where
/// that can be loaded, else base.
std::string undecided_worker_code(std::string_view library, const Meeting& meeting);

}  // namespace nodelay
