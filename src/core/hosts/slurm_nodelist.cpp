// SPDX-License-Identifier: MIT
#include "hosts/slurm_nodelist.h"

#include <algorithm>

#include "hosts/text.h"

namespace nodelay {
namespace {

using Names = std::vector<std::string>;

// Far more nodes than any cluster has; keeps a damaged variable from filling the memory.
constexpr std::size_t kMostNodes = std::size_t{1} << 20;

// The same for the zeros in front of a number.
constexpr std::size_t kWidestNumber = 64;

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "08-11" or "13": the numbers as text. Slurm's own program, scontrol, takes blanks in front for
// zeros.
std::optional<Names> expand_range(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  const std::size_t dash = text.find('-');
  const std::string_view padded = text.substr(0, dash);
  const std::string_view low =
      padded.substr(std::min(padded.find_first_not_of(kBlanks), padded.size()));
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  if (!is_digits(low) || !is_digits(high) || padded.size() > kWidestNumber) return std::nullopt;
  const auto first = whole_number(low);
  const auto last = whole_number(high);
  if (!first || !last || *last < *first) return std::nullopt;
  if (static_cast<std::size_t>(*last - *first) >= kMostNodes) return std::nullopt;
  Names numbers;
  for (int number = *first; number <= *last; ++number) {
    const std::string digits = std::to_string(number);
    const std::size_t padding = padded.size() > digits.size() ? padded.size() - digits.size() : 0;
    numbers.push_back(std::string(padding, '0') + digits);
  }
  return numbers;
}

// The inside of brackets, "08-11,13".
std::optional<Names> expand_ranges(std::string_view text) {
  Names numbers;
  for (const std::string_view piece : split(text, ",")) {
    const auto range = expand_range(piece);
    if (!range || numbers.size() + range->size() > kMostNodes) return std::nullopt;
    numbers.insert(numbers.end(), range->begin(), range->end());
  }
  if (numbers.empty()) return std::nullopt;
  return numbers;
}

// Every name followed by every ending.
std::optional<Names> combine(const Names& names, const Names& endings) {
  if (names.size() * endings.size() > kMostNodes) return std::nullopt;
  Names result;
  for (const std::string& name : names) {
    for (const std::string& ending : endings) result.push_back(name + ending);
  }
  return result;
}

// One element of the list, such as "n[08-11,13]-ib".
std::optional<Names> expand_element(std::string_view text) {
  std::optional<Names> names = Names{""};
  while (!text.empty() && names) {
    const std::size_t open = text.find_first_of("[]");
    names = combine(*names, {std::string(text.substr(0, open))});
    if (open == std::string_view::npos) return names;
    const std::size_t close = text.find(']', open);
    if (text[open] == ']' || close == std::string_view::npos) return std::nullopt;
    const auto numbers = expand_ranges(text.substr(open + 1, close - open - 1));
    if (!numbers || !names) return std::nullopt;
    names = combine(*names, *numbers);
    text.remove_prefix(close + 1);
  }
  return names;
}

// Splits at the commas and blanks outside of brackets.
std::vector<std::string_view> elements_of(std::string_view text) {
  std::vector<std::string_view> elements;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    const bool is_end = depth <= 0 && (c == ',' || kBlanks.find(c) != std::string_view::npos);
    if (!is_end && i < text.size()) continue;
    if (i > begin) elements.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return elements;
}

struct RepeatedCount {
  int count;
  int repeats;
};

// "2(x3)" or "4".
std::optional<RepeatedCount> parse_count(std::string_view text) {
  const std::size_t open = text.find("(x");
  const auto count = whole_number(text.substr(0, open));
  if (!count || *count < 0) return std::nullopt;
  if (open == std::string_view::npos) return RepeatedCount{*count, 1};
  if (!text.ends_with(')')) return std::nullopt;
  const auto repeats = whole_number(text.substr(open + 2, text.size() - open - 3));
  if (!repeats || *repeats < 1) return std::nullopt;
  return RepeatedCount{*count, *repeats};
}

}  // namespace

std::optional<Names> expand_node_list(std::string_view text) {
  Names names;
  for (const std::string_view element : elements_of(text)) {
    const auto expanded = expand_element(element);
    if (!expanded || names.size() + expanded->size() > kMostNodes) return std::nullopt;
    names.insert(names.end(), expanded->begin(), expanded->end());
  }
  if (names.empty()) return std::nullopt;
  return names;
}

std::optional<std::vector<int>> expand_node_counts(std::string_view text) {
  std::vector<int> counts;
  for (const std::string_view piece : split(text, ",")) {
    const auto item = parse_count(trimmed(piece));
    if (!item) return std::nullopt;
    const auto repeats = static_cast<std::size_t>(item->repeats);
    if (counts.size() + repeats > kMostNodes) return std::nullopt;
    counts.insert(counts.end(), repeats, item->count);
  }
  if (counts.empty()) return std::nullopt;
  return counts;
}

}  // namespace nodelay
