// The order of points by their places.
#ifndef MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_ORDER_H_
#define MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_ORDER_H_

#include "cpu/chunk_sort.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr int kAxes = 3;

inline int bits_of(std::uint64_t value) { return value == 0 ? 0 : 64 - __builtin_clzll(value); }

// The least and the largest of some numbers from 0 on. -1 counts as none, since it is the largest
// number without a sign.
struct Axis {
  std::uint32_t least = UINT32_MAX;
  std::int32_t most = -1;

  std::int32_t add(std::int32_t number) {
    least = smaller(least, static_cast<std::uint32_t>(number));
    most = larger(most, number);
    return number;
  }
  std::uint64_t size() const { return static_cast<std::uint64_t>(static_cast<std::int64_t>(most) - least + 1); }
};

// Those of some places, and the number of places.
struct Extent {
  Axis axes[kAxes];
  std::int64_t count = 0;

  void add(const Extent &other) {
    for (int axis = 0; axis < kAxes; ++axis) {
      axes[axis].least = smaller(axes[axis].least, other.axes[axis].least);
      axes[axis].most = larger(axes[axis].most, other.axes[axis].most);
    }
    count += other.count;
  }
  std::uint64_t size(int axis) const { return axes[axis].size(); }
};

// Points by their places: numbers of 64 bits are sorted, whose low bits are the number of the point
// and the others a key of the place. Places without a key so short are sorted by their last number
// before the others.
class PlaceOrder {
 public:
  // Memory: `places` gets a copy of the coordinates, since these may change during the call. Points
  // whose place has a negative number are left out.
  PlaceOrder(const std::int32_t *coors, std::int64_t points, std::int32_t *places, std::uint64_t *first,
             std::uint64_t *second, std::int32_t *counts)
      : places_(places), point_bits_(bits_of(static_cast<std::uint64_t>(points - 1))) {
    std::int32_t few[kDigits];
    const Chunks chunks(points);
    std::int32_t *const histograms = chunks.number() == 1 ? few : counts;
    const Extent extent = copy(coors, places, chunks);
    if (interrupted() || extent.count == 0) return;
    const std::uint64_t plane = extent.size(1) * extent.size(2);
    if (bits_of(plane) + bits_of(extent.size(0)) + point_bits_ <= 64) {
      sort(extent, chunks, first, second, histograms);
    } else {
      sort_apart(chunks, first, second, histograms);
    }
    if (!interrupted()) count_ = extent.count;
  }

  std::int64_t count() const { return count_; }
  std::int64_t point(std::int64_t i) const { return static_cast<std::int64_t>(sorted_[i] & point_mask()); }
  const std::int32_t *place(std::int64_t i) const { return places_ + kAxes * point(i); }
  // Whether the place of the point is another one than that before it.
  bool begins(std::int64_t i) const {
    if (i == 0) return true;
    if (has_keys_) return sorted_[i] >> point_bits_ != sorted_[i - 1] >> point_bits_;
    return std::memcmp(place(i), place(i - 1), kAxes * sizeof(std::int32_t)) != 0;
  }

 private:
  std::uint64_t point_mask() const { return (std::uint64_t{1} << point_bits_) - 1; }

  Extent copy(const std::int32_t *coors, std::int32_t *places, const Chunks &chunks) const {
    Extent extents[Chunks::kMost];
    chunks.for_each_slice([&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
      Axis x, y, z;
      std::int64_t count = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int32_t *const place = coors + kAxes * i;
        const std::int32_t a = read_once(place), b = read_once(place + 1), c = read_once(place + 2);
        const bool outside = (a | b | c) < 0;
        std::int32_t *const kept = places + kAxes * i;
        kept[0] = x.add(outside ? -1 : a);
        kept[1] = y.add(outside ? -1 : b);
        kept[2] = z.add(outside ? -1 : c);
        count += !outside;
      }
      extents[chunk].add(Extent{{x, y, z}, count});
    });
    Extent all;
    for (std::int64_t chunk = 0; chunk < chunks.number(); ++chunk) all.add(extents[chunk]);
    return all;
  }

  // By one key. That of points which are left out is beyond all others.
  void sort(const Extent &extent, const Chunks &chunks, std::uint64_t *first, std::uint64_t *second,
            std::int32_t *counts) {
    const std::uint64_t depth = extent.size(2), plane = extent.size(1) * depth, beyond = extent.size(0) * plane;
    fill(chunks, first, [&](std::int64_t i) {
      const std::int32_t *const place = places_ + kAxes * i;
      if (place[0] < 0) return beyond;
      return apart(place, extent, 0) * plane + apart(place, extent, 1) * depth + apart(place, extent, 2);
    });
    if (interrupted()) return;
    sorted_ = sort_by_bits(first, second, chunks, point_bits_, point_bits_ + bits_of(beyond), counts);
    has_keys_ = true;
  }

  // By one number after another, that of points which are left out beyond all others.
  void sort_apart(const Chunks &chunks, std::uint64_t *first, std::uint64_t *second, std::int32_t *counts) {
    fill(chunks, first, [](std::int64_t) { return std::uint64_t{0}; });
    for (int axis = kAxes - 1; axis >= 0 && !interrupted(); --axis) {
      std::uint64_t *const keys = first;
      chunks.for_each_slice([&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::uint64_t point = keys[i] & point_mask();
          const std::int32_t number = places_[kAxes * static_cast<std::int64_t>(point) + axis];
          keys[i] = std::uint64_t{static_cast<std::uint32_t>(number)} << point_bits_ | point;
        }
      });
      if (interrupted()) return;
      first = sort_by_bits(keys, second, chunks, point_bits_, point_bits_ + 32, counts);
      if (first == second) second = keys;
    }
    sorted_ = first;
  }

  template <typename Key>
  void fill(const Chunks &chunks, std::uint64_t *keys, const Key &key) const {
    chunks.for_each_slice([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) keys[i] = key(i) << point_bits_ | static_cast<std::uint64_t>(i);
    });
  }

  static std::uint64_t apart(const std::int32_t *place, const Extent &extent, int axis) {
    return static_cast<std::uint32_t>(place[axis]) - extent.axes[axis].least;
  }

  const std::int32_t *const places_;
  const int point_bits_;
  std::int64_t count_ = 0;
  const std::uint64_t *sorted_ = nullptr;
  bool has_keys_ = false;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_DYNAMIC_POINT_TO_VOXEL_CPU_ORDER_H_
