// Boxes in space as they are compared: from above (bird's eye view), and in their heights.
#ifndef MLUOPS_CPU_BEV_BOXES_H_
#define MLUOPS_CPU_BEV_BOXES_H_

#include "cpu/rotated_rects.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// The length that two intervals, given by their centers and lengths, have in common.
static inline double common_length(double center, double length, double other_center, double other_length) {
  const double shared = (length + other_length) / 2 - magnitude(center - other_center);
  return larger(smaller(shared, smaller(length, other_length)), 0.0);
}

// A box with its heading, of which the base is a rotated box. One without a base meets no other.
template <typename Real>
struct BevBox : RotatedBox<Real> {
  static constexpr int kNumbers = 7;  // center x, y, z, size dx, dy, dz, heading
  double z, height;

  BevBox() = default;
  explicit BevBox(const Real *row)
      : RotatedBox<Real>(read_once(row), read_once(row + 1), read_once(row + 3), read_once(row + 4),
                         read_once(row + 6)),
        z(static_cast<double>(read_once(row + 2))),
        height(static_cast<double>(read_once(row + 5))) {}
};

template <typename Real>
static inline Real common_area_from_above(const BevBox<Real> &a, const BevBox<Real> &b) {
  if (!are_near(a, b)) return 0;
  const ScaledRects<Real> bases(a, b);
  return static_cast<Real>(common_area(bases.a, bases.b) / bases.scale / bases.scale);
}

// The common volume by that of both boxes together; 0 if a box has no volume or its height is not
// finite.
template <typename Real>
static inline Real iou_of_volumes(const BevBox<Real> &a, const BevBox<Real> &b) {
  if (!are_near(a, b) || !(a.height > 0 && b.height > 0)) return 0;
  const double height = common_length(a.z, a.height, b.z, b.height);
  const bool finite = is_finite(a.z) && is_finite(b.z) && is_finite(a.height) && is_finite(b.height);
  if (!finite || !(height > 0)) return 0;
  if (a.rect == b.rect && a.z == b.z && a.height == b.height) return 1;
  const ScaledRects<Real> bases(a, b);
  // Heights as parts of the larger one, so that volumes do not overflow.
  const double largest = larger(a.height, b.height);
  const double common = common_area(bases.a, bases.b) * (height / largest);
  return static_cast<Real>(
      part_of_areas(common, bases.a.area() * (a.height / largest), bases.b.area() * (b.height / largest), false));
}

// A box without its heading.
template <typename Real>
struct AlignedBevBox {
  static constexpr int kNumbers = 7;
  Real x, y, reach_x, reach_y;
  double width, depth;

  AlignedBevBox() = default;
  explicit AlignedBevBox(const Real *row) : x(read_once(row)), y(read_once(row + 1)) {
    const Real dx = read_once(row + 3), dy = read_once(row + 4);
    width = magnitude(static_cast<double>(dx));
    depth = magnitude(static_cast<double>(dy));
    reach_x = rounded_reach<Real>(width / 2);
    reach_y = rounded_reach<Real>(depth / 2);
    const bool has_area = (dx > 0 && dy > 0) || (dx < 0 && dy < 0);
    if (!(is_finite(x) && is_finite(y) && is_finite(dx) && is_finite(dy)) || !has_area)
      reach_x = static_cast<Real>(__builtin_nan(""));
  }
};

template <typename Real>
static inline Real iou_of_aligned(const AlignedBevBox<Real> &a, const AlignedBevBox<Real> &b) {
  if (!are_near(a, b)) return 0;
  double width = 1, depth = 1;  // what sides are divided by, so that their products do not overflow
  if (sizeof(Real) == sizeof(double)) {
    width = larger(a.width, b.width);
    depth = larger(a.depth, b.depth);
  }
  const double shared_x = common_length(static_cast<double>(a.x), a.width, static_cast<double>(b.x), b.width);
  const double shared_y = common_length(static_cast<double>(a.y), a.depth, static_cast<double>(b.y), b.depth);
  const double area_a = (a.width / width) * (a.depth / depth), area_b = (b.width / width) * (b.depth / depth);
  const double common = possible_area((shared_x / width) * (shared_y / depth), area_a, area_b);
  return static_cast<Real>(part_of_areas(common, area_a, area_b, false));
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_BEV_BOXES_H_
