// SPDX-License-Identifier: MIT
#include "r/values/references.h"

#include <algorithm>

namespace nodelay {

std::optional<std::size_t> References::find(SEXP value) const {
  if (values_.size() <= kMostUnmapped) {
    const auto found = std::find(values_.begin(), values_.end(), value);
    if (found == values_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - values_.begin());
  }
  const auto found = numbers_.find(value);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

void References::add(SEXP value) {
  values_.push_back(value);
  if (values_.size() <= kMostUnmapped) return;
  for (std::size_t i = numbers_.size(); i < values_.size(); ++i) numbers_.emplace(values_[i], i);
}

void References::truncate(std::size_t size) {
  for (std::size_t i = size; i < values_.size(); ++i) numbers_.erase(values_[i]);
  values_.resize(std::min(size, values_.size()));
  if (size <= kMostUnmapped) numbers_.clear();
}

}  // namespace nodelay
