// Upright rectangles in a plane, many of which are compared at once.
#ifndef MLUOPS_CPU_PLANE_BOXES_H_
#define MLUOPS_CPU_PLANE_BOXES_H_

#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Two corners and the area, in which sides are longer by an offset.
template <typename Real>
struct PlaneBox {
  Real x1, y1, x2, y2, area;

  PlaneBox() = default;
  PlaneBox(Real left, Real top, Real right, Real bottom, Real offset) : x1(left), y1(top), x2(right), y2(bottom) {
    area = (x2 - x1 + offset) * (y2 - y1 + offset);
  }
  PlaneBox(const Real *row, Real offset)
      : PlaneBox(read_once(row), read_once(row + 1), read_once(row + 2), read_once(row + 3), offset) {}
};

// a < b ? b : a, for numbers and for vectors of them: `a` where one of them is NaN.
static inline Vector larger_of(Vector a, Vector b) { return a < b ? b : a; }
static inline Vector smaller_of(Vector a, Vector b) { return b < a ? b : a; }
template <typename Real>
static inline Real larger_of(Real a, Real b) {
  return a < b ? b : a;
}
template <typename Real>
static inline Real smaller_of(Real a, Real b) {
  return b < a ? b : a;
}

// The area that two boxes have in common; 0 where it is NaN.
template <typename Value>
static inline Value common_of(Value ax1, Value ay1, Value ax2, Value ay2, Value bx1, Value by1, Value bx2, Value by2,
                              Value offset) {
  const Value zero = offset - offset;
  const Value width = larger_of(zero, smaller_of(ax2, bx2) - larger_of(ax1, bx1) + offset);
  const Value height = larger_of(zero, smaller_of(ay2, by2) - larger_of(ay1, by1) + offset);
  return width * height;
}

template <typename Real>
static inline Real part_of_both(const PlaneBox<Real> &a, const PlaneBox<Real> &b, Real offset) {
  const Real common = common_of(a.x1, a.y1, a.x2, a.y2, b.x1, b.y1, b.x2, b.y2, offset);
  return common / (a.area + b.area - common);
}

// Some kept boxes, as suppress_ranked() wants them. With `kAtThreshold` an overlap that equals the
// threshold suppresses too.
template <typename Real, bool kAtThreshold>
class PlaneBlock {
 public:
  static constexpr int kMost = 64;

  PlaneBlock(Real threshold, Real offset) : threshold_(threshold), offset_(offset) { clear(); }

  void clear() {
    count_ = 0;
    for (int i = 0; i < kMost; ++i) area_[i] = static_cast<Real>(__builtin_nan(""));  // suppresses nothing
  }

  void add(const PlaneBox<Real> &box) {
    x1_[count_] = box.x1;
    y1_[count_] = box.y1;
    x2_[count_] = box.x2;
    y2_[count_] = box.y2;
    area_[count_++] = box.area;
  }

  int count() const { return count_; }
  bool any_above(const PlaneBox<Real> &box) const { return first_above(box) >= 0; }

  // The first of the kept boxes that suppresses another one, -1 if none does.
  int first_above(const PlaneBox<Real> &box) const {
    if constexpr (sizeof(Real) == sizeof(float)) {
      return first_lane_above(box);
    } else {
      for (int i = 0; i < count_; ++i) {
        const PlaneBox<Real> other = at(i);
        const Real part = part_of_both(other, box, offset_);
        if (kAtThreshold ? part >= threshold_ : part > threshold_) return i;
      }
      return -1;
    }
  }

 private:
  static_assert(kMost % kLanes == 0, "the arrays are whole vectors");

  PlaneBox<Real> at(int i) const {
    PlaneBox<Real> box;
    box.x1 = x1_[i];
    box.y1 = y1_[i];
    box.x2 = x2_[i];
    box.y2 = y2_[i];
    box.area = area_[i];
    return box;
  }

  int first_lane_above(const PlaneBox<float> &box) const {
    const Vector x1 = all_lanes(box.x1), y1 = all_lanes(box.y1), x2 = all_lanes(box.x2), y2 = all_lanes(box.y2);
    const Vector offset = all_lanes(offset_);
    // Only what is in common can be above a threshold of 0, so that most pairs need no division.
    const bool apart_matters = kAtThreshold ? threshold_ <= 0 : threshold_ < 0;
    for (int i = 0; i < count_; i += kLanes) {
      const Vector common =
          common_of(load(x1_ + i), load(y1_ + i), load(x2_ + i), load(y2_ + i), x1, y1, x2, y2, offset);
      if (!apart_matters && lane_bits(common > 0.0f) == 0) continue;
      const Vector part = common / (load(area_ + i) + box.area - common);
      const unsigned above = lane_bits(kAtThreshold ? part >= threshold_ : part > threshold_);
      if (above != 0) return i + __builtin_ctz(above);
    }
    return -1;
  }

  const Real threshold_, offset_;
  alignas(kCacheLine) Real x1_[kMost] = {};
  alignas(kCacheLine) Real y1_[kMost] = {};
  alignas(kCacheLine) Real x2_[kMost] = {};
  alignas(kCacheLine) Real y2_[kMost] = {};
  alignas(kCacheLine) Real area_[kMost];
  int count_ = 0;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_PLANE_BOXES_H_
