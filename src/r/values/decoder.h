// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include <cpp11.hpp>

#include "net/shared_memory.h"
#include "wire/recent.h"
#include "wire/value_reader.h"

namespace nodelay {

/// What a reader needs beside the bytes, worth keeping from one value to the next.
struct ReaderTables {
  RecentValues<SEXP, kRecentStrings> strings;
  RecentValues<SEXP, kRecentSymbols> symbols;
};

/// Builds R values from nodelay's format: docs/protocol.md, "Values"; Encoder is the mirror image.
/// Lives as long as one value, or two of which the second refers to what the first holds. All of it
/// runs below one call of R's that is protected against jumps: an R error may leave it behind at
/// any place. Throws Error(protocol), and what its readers do.
class Decoder {
 public:
  /// Protects what values have in common until finish(). Borrows all.
  explicit Decoder(ReaderTables& tables);

  /// Reads one value, with the memory that came beside it, which may be null; the caller protects
  /// it.
  SEXP read(ValueReader& reader, const SharedMemory* memory);

  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Lets go of what is protected, also after an exception.
  void finish();

 private:
  using Head = ValueReader::Head;
  using Text = ValueReader::Text;

  SEXP protect(SEXP value);
  void unprotect(int count);
  void take_prologue();
  SEXP take();
  SEXP take_after(Head head);
  SEXP take_vector(Head head);
  SEXP take_shared();
  void take_strings(SEXP vector, R_xlen_t length);
  SEXP take_text();
  SEXP make_text(const Text& text);
  void take_list(SEXP list, R_xlen_t length);
  R_xlen_t take_run(SEXP list, R_xlen_t first, R_xlen_t length);
  SEXP take_pairlist(bool is_call);
  SEXP take_closure();
  SEXP take_by_r();
  SEXP take_symbol();
  SEXP symbol_of(const Text& text);
  SEXP take_reference();
  void take_attributes(SEXP value);
  SEXP with_flags(SEXP value, Head head);
  void define(Item item);
  void add_reference(SEXP value, Item item);
  void fill(std::size_t number);
  void fill_environment(SEXP environment);
  void take_binding(SEXP environment);

  ReaderTables& tables_;
  ValueReader* reader_ = nullptr;
  const SharedMemory* memory_ = nullptr;
  std::array<char, 63> codeset_name_;
  std::string_view codeset_;      // of the writer; empty: this process's
  SEXP references_ = R_NilValue;  // a list with room for more
  SEXP items_ = R_NilValue;       // raw: what each of them is
  PROTECT_INDEX references_index_ = 0;
  PROTECT_INDEX items_index_ = 0;
  std::size_t num_references_ = 0;
  std::size_t num_filled_ = 0;
  int num_protected_ = 0;
};

}  // namespace nodelay
