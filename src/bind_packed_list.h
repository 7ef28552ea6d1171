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
  bool gather(SEXP list);
  bool take(SEXP element);
  SEXP packed() const;
  void clear();

  std::vector<Rbyte> types_;
  std::vector<int> lengths_;
  std::vector<int> logicals_;
  std::vector<int> integers_;
  std::vector<double> doubles_;
  std::vector<SEXP> strings_;  // protected by the list
};

/// The list that was packed, without its attributes. An R error where `packed` makes no sense.
/// The caller protects the result.
SEXP unpack_list(SEXP packed);

}  // namespace nodelay
