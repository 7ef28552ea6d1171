// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include <cpp11.hpp>

#include "net/shared_memory.h"
#include "r/values/by_r.h"
#include "r/values/references.h"
#include "wire/value_writer.h"

namespace nodelay {

/// Where large vectors go instead of the stream: memory that a reader on this machine gets beside
/// the bytes.
class SharedSink {
 public:
  virtual ~SharedSink() = default;

  /// Copies `bytes` there and returns the offset where they begin; nothing where memory does not
  /// suffice.
  virtual std::optional<std::size_t> append(Bytes bytes) = 0;
};

/// Writes R values in nodelay's format, in one walk over each: docs/protocol.md, "Values", is the
/// grammar, Decoder the mirror image. An R error may leave it behind at any place, so it lives
/// outside of what is run under R's protection against jumps; it may throw what its writer does.
/// Values must stay as they are meanwhile.
class Encoder {
 public:
  /// `shared` may be null. `references` may hold what the reader knows already: the values of
  /// another Encoder that wrote before. Borrows all.
  Encoder(ValueWriter& writer, References& references, SharedSink* shared);
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// Writes one value, and what it refers to.
  void write(SEXP value);

 private:
  void put(SEXP value);
  void put_vector(SEXP vector, Item item);
  void put_shared_or_elements(SEXP vector, Item item, unsigned flags);
  void put_strings(SEXP vector);
  void put_text(SEXP string);
  void put_list(SEXP list);
  R_xlen_t put_run(const SEXP* elements, R_xlen_t num_left);
  void put_pairlist(SEXP first, Item item);
  void put_closure(SEXP closure);
  void put_object(SEXP object);
  void put_by_r(SEXP value);
  void put_written_by_r(Item item);
  void put_reference(SEXP value);
  void put_known_reference(SEXP value);
  bool put_well_known(SEXP environment);
  void put_symbol(SEXP symbol);
  void put_attributes(SEXP value, std::uint64_t count);
  void enter(SEXP value);
  void define_new();
  void define(SEXP value);
  void fill(SEXP value);
  void fill_environment(SEXP environment);
  void put_binding(SEXP symbol, SEXP environment);

  ValueWriter& writer_;
  References& references_;
  SharedSink* shared_;
  std::size_t num_defined_;
  std::size_t num_filled_;
  std::vector<SEXP> ancestors_;  // of an environment that is being entered
  Buffer by_r_;                  // used again and again
  Numbering numbering_;
};

}  // namespace nodelay
