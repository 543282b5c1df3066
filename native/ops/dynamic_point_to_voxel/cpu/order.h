// The order of points by their places: radix sorts of numbers by keys.
#ifndef MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_ORDER_H_
#define MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_ORDER_H_

#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr int kAxes = 3;

// Keys with the numbers of the points that have them.
struct Keyed {
  std::uint64_t *keys;
  std::int32_t *numbers;
};

// Sorts by ascending keys of so many bits, equal ones in the order in which they stand. `spare` is
// as large. Returns where the result is, in one or the other; the call may have been interrupted.
inline Keyed sort_by_keys(Keyed from, Keyed spare, std::int64_t count, int bits) {
  constexpr int kDigit = 11;
  constexpr std::uint64_t kDigits = std::uint64_t{1} << kDigit;
  for (int shift = 0; shift < bits && !interrupted(); shift += kDigit) {
    std::int32_t starts[kDigits] = {};
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++starts[from.keys[i] >> shift & (kDigits - 1)];
    });
    std::int32_t sum = 0;
    for (std::int32_t &start : starts) {
      const std::int32_t number = start;
      start = sum;
      sum += number;
    }
    if (interrupted()) break;  // the histogram may lack some
    for_slices(0, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int32_t place = starts[from.keys[i] >> shift & (kDigits - 1)]++;
        spare.keys[place] = from.keys[i];
        spare.numbers[place] = from.numbers[i];
      }
    });
    const Keyed sorted = spare;
    spare = from;
    from = sorted;
  }
  return from;
}

inline int bits_of(std::uint32_t value) { return value == 0 ? 0 : 32 - __builtin_clz(value); }

// Points by their places. Those whose place has a negative number are left out.
class PlaceOrder {
 public:
  // `places` gets a copy of the coordinates, since these may change during the call.
  PlaceOrder(const std::int32_t *coors, std::int64_t points, std::int32_t *places, Keyed first, Keyed second)
      : places_(places) {
    std::uint32_t all[kAxes] = {};
    for_slices(0, points, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int32_t *const place = places + kAxes * i;
        for (int axis = 0; axis < kAxes; ++axis) place[axis] = read_once(coors + kAxes * i + axis);
        if ((place[0] | place[1] | place[2]) < 0) {
          place[0] = place[1] = place[2] = -1;
          continue;
        }
        for (int axis = 0; axis < kAxes; ++axis) all[axis] |= static_cast<std::uint32_t>(place[axis]);
        first.numbers[count_++] = static_cast<std::int32_t>(i);
      }
    });
    sort(bits_of(all[0]), bits_of(all[1]), bits_of(all[2]), first, second);
  }

  std::int64_t count() const { return count_; }
  std::int32_t point(std::int64_t i) const { return sorted_.numbers[i]; }
  // Where numbers of the points were that nothing needs any more.
  std::int32_t *spare() const { return spare_.numbers; }
  const std::int32_t *place(std::int64_t i) const { return places_ + kAxes * static_cast<std::int64_t>(point(i)); }
  bool begins(std::int64_t i) const {
    return i == 0 || std::memcmp(place(i), place(i - 1), kAxes * sizeof(std::int32_t)) != 0;
  }

 private:
  // By one key where all numbers together have 64 bits, else by the last number before the others.
  void sort(int x, int y, int z, Keyed first, Keyed second) {
    const bool together = x + y + z <= 64;
    if (!together) first = sort_from(first, &second, z, [](const std::int32_t *place) { return number(place[2]); });
    if (interrupted()) return;  // numbers may be none of points
    sorted_ = sort_from(first, &second, together ? x + y + z : x + y, [&](const std::int32_t *place) {
      const std::uint64_t key = number(place[0]) << y | number(place[1]);
      return together ? key << z | number(place[2]) : key;
    });
    spare_ = second;
  }

  template <typename Key>
  Keyed sort_from(Keyed from, Keyed *spare, int bits, const Key &key) const {
    for_slices(0, count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        from.keys[i] = key(places_ + kAxes * static_cast<std::int64_t>(from.numbers[i]));
    });
    const Keyed sorted = sort_by_keys(from, *spare, count_, bits);
    if (sorted.keys == spare->keys) *spare = from;
    return sorted;
  }

  static std::uint64_t number(std::int32_t value) { return static_cast<std::uint32_t>(value); }

  const std::int32_t *places_;
  std::int64_t count_ = 0;
  Keyed sorted_ = {}, spare_ = {};
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_ORDER_H_
