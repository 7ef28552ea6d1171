// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include <cpp11.hpp>

namespace nodelay {

/// What a value refers to by number, since it is the same thing wherever it stands: environments,
/// external pointers, weak references, namespaces. Counted from 0 in the order in which they are
/// met. Borrows the R values.
class References {
 public:
  std::size_t size() const { return values_.size(); }
  SEXP operator[](std::size_t number) const { return values_[number]; }

  std::optional<std::size_t> find(SEXP value) const;

  /// Adds a value that is not there. Throws std::bad_alloc.
  void add(SEXP value);

  /// Forgets all but the first `size`.
  void truncate(std::size_t size);

 private:
  // Few are looked through one by one.
  static constexpr std::size_t kMostUnmapped = 16;

  std::vector<SEXP> values_;
  std::unordered_map<SEXP, std::size_t> numbers_;  // empty while they are few
};

}  // namespace nodelay
