// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace nodelay {

/// What a writer remembers of the last `size` keys, pointers that stand for texts. It may forget
/// some of them earlier; whoever looks one up then writes the text again.
template <std::uint64_t size>
class RecentKeys {
 public:
  /// Forgets all.
  void clear() { first_ = next_; }

  /// Where the reader has the text of `key`: its place among the last `size`. Where it has none,
  /// `key` is remembered as the next.
  std::optional<std::uint64_t> find_or_add(const void* key) {
    Slot& slot = slots_[slot_of(key)];
    const bool is_known = slot.key == key && slot.number >= first_ && next_ - slot.number <= size;
    if (is_known) return (slot.number - first_) % size;
    slot = {key, next_++};
    return std::nullopt;
  }

 private:
  // Twice as many as keys, so that few fall together.
  static constexpr std::size_t kNumSlots = 2 * size;
  static_assert((kNumSlots & (kNumSlots - 1)) == 0);

  struct Slot {
    const void* key = nullptr;
    std::uint64_t number = 0;
  };

  static std::size_t slot_of(const void* key) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    const auto hash = reinterpret_cast<std::uintptr_t>(key) * kGoldenRatio;
    return static_cast<std::size_t>(hash >> 40) & (kNumSlots - 1);
  }

  std::array<Slot, kNumSlots> slots_;
  std::uint64_t next_ = 1;   // number of the next key, over all values
  std::uint64_t first_ = 1;  // number of the first key of this value
};

/// The same at the reader: the last `size` things that were made of texts.
template <typename Value, std::uint64_t size>
class RecentValues {
 public:
  void clear() { num_added_ = 0; }

  void add(Value value) { values_[num_added_++ % size] = value; }

  bool has(std::uint64_t place) const { return place < size && place < num_added_; }
  Value operator[](std::uint64_t place) const { return values_[place]; }

 private:
  std::array<Value, size> values_;
  std::uint64_t num_added_ = 0;
};

}  // namespace nodelay
