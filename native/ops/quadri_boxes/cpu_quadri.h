// Quadrilaterals as they are compared.
#ifndef MLUOPS_OPS_QUADRI_BOXES_CPU_QUADRI_H_
#define MLUOPS_OPS_QUADRI_BOXES_CPU_QUADRI_H_

#include "cpu/polygon_cut.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Four corners, in double, and the axis-aligned rectangle around them. A quadrilateral that is not
// finite or has no area meets no other one.
template <typename Real>
struct QuadriBox {
  static constexpr int kNumbers = 8;
  using Point = PlanePoint<double>;
  Real x, y, reach_x, reach_y;
  Point corner[4];

  QuadriBox() = default;
  explicit QuadriBox(const Real *row) {
    bool finite = true;
    for (int i = 0; i < 4; ++i) {
      const Real own_x = read_once(row + 2 * i), own_y = read_once(row + 2 * i + 1);
      finite = finite && is_finite(own_x) && is_finite(own_y);
      corner[i] = {static_cast<double>(own_x), static_cast<double>(own_y)};
    }
    Point low = corner[0], high = corner[0];
    for (int i = 1; i < 4; ++i) {
      low = {smaller(low.x, corner[i].x), smaller(low.y, corner[i].y)};
      high = {larger(high.x, corner[i].x), larger(high.y, corner[i].y)};
    }
    x = static_cast<Real>(low.x / 2 + high.x / 2);
    y = static_cast<Real>(low.y / 2 + high.y / 2);
    reach_x = reach(low.x, high.x);
    reach_y = reach(low.y, high.y);
    if (!finite || low.x == high.x || low.y == high.y) reach_x = static_cast<Real>(__builtin_nan(""));
  }

  bool operator==(const QuadriBox &other) const {
    bool same = true;
    for (int i = 0; i < 4; ++i) same = same && corner[i].x == other.corner[i].x && corner[i].y == other.corner[i].y;
    return same;
  }

  // A total order of different ones.
  bool comes_before(const QuadriBox &other) const {
    for (int i = 0; i < 4; ++i) {
      if (corner[i].x != other.corner[i].x) return corner[i].x < other.corner[i].x;
      if (corner[i].y != other.corner[i].y) return corner[i].y < other.corner[i].y;
    }
    return false;
  }

 private:
  // Half the extent, and the rounding of the center.
  static Real reach(double low, double high) {
    const double rounding = sizeof(Real) == sizeof(float) ? 2e-7 : 1e-15;
    return rounded_reach<Real>((high / 2 - low / 2) + (magnitude(low) + magnitude(high)) * rounding);
  }
};

// Both quadrilaterals relative to a corner of the one that comes before, with lengths multiplied by
// a power of two if areas would overflow or lose digits in double. Products of floats never do.
template <typename Real>
struct ComparedQuadris {
  using Point = PlanePoint<double>;

  ComparedQuadris(const QuadriBox<Real> &a, const QuadriBox<Real> &b)
      : exchanged(b.comes_before(a)), origin((exchanged ? b : a).corner[0]) {
    const QuadriBox<Real> &one = exchanged ? b : a, &other = exchanged ? a : b;
    const double scale = sizeof(Real) == sizeof(double) ? scale_of(one, other) : 1;
    for (int i = 0; i < 4; ++i) {
      corner[0][i] = (one.corner[i] - origin) * scale;
      corner[1][i] = (other.corner[i] - origin) * scale;
    }
  }

  bool exchanged;  // the second argument is the one that comes before
  Point origin;
  Point corner[2][4];

 private:
  static double longest(Point point) { return larger(magnitude(point.x), magnitude(point.y)); }

  double scale_of(const QuadriBox<Real> &one, const QuadriBox<Real> &other) const {
    double largest = 0;
    for (int i = 0; i < 4; ++i)
      largest = larger(largest, larger(longest(one.corner[i] - origin), longest(other.corner[i] - origin)));
    if (largest < 1e70 && largest > 1e-70) return 1;
    int exponent;
    (void)__builtin_frexp(largest < 1e308 ? largest : 1e308, &exponent);
    return __builtin_ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
  }
};

// The true common area as a part of that of both together, or of the first one, if `of_first`.
// Identical quadrilaterals that have an area give 1.
template <typename Real>
static inline double overlap_of_quadris(const QuadriBox<Real> &a, const QuadriBox<Real> &b, bool of_first) {
  if (!are_near(a, b)) return 0;
  const ComparedQuadris<Real> compared(a, b);
  const ConvexParts one(compared.corner[0]), other(compared.corner[1]);
  if (!(one.area > 0) || !(other.area > 0)) return 0;
  if (a == b) return 1;
  const ConvexParts &first = compared.exchanged ? other : one, &second = compared.exchanged ? one : other;
  return part_of_areas(common_area(one, other), first.area, second.area, of_first);
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_QUADRI_BOXES_CPU_QUADRI_H_
