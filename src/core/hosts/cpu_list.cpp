// SPDX-License-Identifier: MIT
#include "hosts/cpu_list.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hosts/text.h"

namespace nodelay {
namespace {

// More than any kernel is built for (8192); a larger number is a damaged list.
constexpr int kLargestCpu = 1 << 20;

// "8" or "0-3".
std::optional<std::pair<int, int>> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-', 1);
  const auto first = whole_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last > kLargestCpu) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

std::optional<int> count_cpus(std::string_view text) {
  std::vector<std::pair<int, int>> ranges;
  for (const std::string_view piece : split(trimmed(text), ",")) {
    const auto range = parse_range(trimmed(piece));
    if (!range) return std::nullopt;
    ranges.push_back(*range);
  }
  if (ranges.empty()) return std::nullopt;
  std::sort(ranges.begin(), ranges.end());
  int count = 0;
  int counted_to = -1;  // the highest CPU that has been counted
  for (const auto& [first, last] : ranges) {
    count += std::max(0, last - std::max(first, counted_to + 1) + 1);
    counted_to = std::max(counted_to, last);
  }
  return count;
}

}  // namespace nodelay
