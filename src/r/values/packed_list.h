// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <cpp11.hpp>

namespace nodelay {

/// From this number of elements on a list is worth packing.
inline constexpr R_xlen_t kFewestPacked = 128;

/// Lays out lists of many small vectors, such as parLapply() gives and takes, as a few long ones,
/// which R serializes at once and not one element at a time.
class ListPacking {
 public:
  /// What a list consists of, as a list of few vectors for unpack_list(); NULL where it has
  /// elements of other kinds than short vectors of numbers, logical values or strings without
  /// attributes, and NULL. The list's own attributes are not in it. May end by an R error, over
  /// which this object must live on; the caller protects the result.
  SEXP pack(SEXP list);

 private:
  class Elements;

  bool gather(SEXP list);
  R_xlen_t gather_run(Elements& rest, SEXPTYPE type, R_xlen_t length);
  SEXP packed() const;
  void clear();

  std::vector<int>
      runs_;  // type, length and number of elements that follow each other and are alike
  std::vector<int> logicals_;
  std::vector<int> integers_;
  std::vector<double> doubles_;
  std::vector<SEXP> strings_;  // protected by the list
};

/// The list that was packed, without its attributes. An R error where `packed` makes no sense.
/// The caller protects the result.
SEXP unpack_list(SEXP packed);

}  // namespace nodelay
