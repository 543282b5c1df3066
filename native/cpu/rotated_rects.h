// Rectangles in a plane, rotated by an angle, and the area that two of them have in common.
//
// The smaller rectangle is taken as axis-aligned: around the origin, within |x| <= w and |y| <= h.
// The area that it has in common with a polygon P, counter-clockwise, is
//
//   - sum over the edges of P of the integral of clamp(y, -h, h) dx, over the part with |x| <= w.
//
// Each term is a continuous function of the corners, so that rounding changes the sum by as little
// as it changes them: no test decides whether edges cross or a corner lies inside. All is computed
// in double; relative to the smaller area the error is about 1e-16 times the largest side over the
// smallest one.
#ifndef MLUOPS_CPU_ROTATED_RECTS_H_
#define MLUOPS_CPU_ROTATED_RECTS_H_

#include "cpu/plane_points.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Center, half sides and direction of the first side. Sides are not negative.
struct RotatedRect {
  double x, y, half_width, half_height, cosine, sine;

  double area() const { return 4 * half_width * half_height; }

  bool operator==(const RotatedRect &other) const {
    return x == other.x && y == other.y && half_width == other.half_width && half_height == other.half_height &&
           cosine == other.cosine && sine == other.sine;
  }

  // A total order of different rectangles; the first of two is the one that cuts the other, so that
  // the result does not depend on the order of the arguments.
  bool cuts(const RotatedRect &other) const {
    const double own[] = {area(), half_width, x, y, cosine, sine};
    const double others[] = {other.area(), other.half_width, other.x, other.y, other.cosine, other.sine};
    for (int i = 0; i < 5; ++i) {
      if (own[i] != others[i]) return own[i] < others[i];
    }
    return own[5] < others[5];
  }

  RotatedRect scaled(double factor) const {
    return {x * factor, y * factor, half_width * factor, half_height * factor, cosine, sine};
  }
};

// Values of the four edges of a rectangle.
typedef double EdgeValues __attribute__((vector_size(4 * sizeof(double))));

// Limits lanes to [-limit, limit]; a NaN becomes the lower end.
static inline void clamp_around_zero(EdgeValues *values, double limit) {
  const EdgeValues high = EdgeValues{} + limit, low = EdgeValues{} - limit;
  *values = *values > low ? *values : low;
  *values = *values < high ? *values : high;
}

// Limits lanes to [0, 1]; a NaN becomes 0.
static inline void clamp_to_unit(EdgeValues *values) {
  const EdgeValues one = EdgeValues{} + 1.0, zero = {};
  *values = *values > zero ? *values : zero;
  *values = *values < one ? *values : one;
}

// A parallelogram around `center` with half sides `along` and `across`, counter-clockwise.
struct CutParallelogram {
  PlanePoint<double> center, along, across;

  // Whether it lies beyond one side of the axis-aligned rectangle with these half sides.
  bool is_beside(double half_width, double half_height) const {
    return magnitude(center.x) >= half_width + (magnitude(along.x) + magnitude(across.x)) ||
           magnitude(center.y) >= half_height + (magnitude(along.y) + magnitude(across.y));
  }

  // The area in the axis-aligned rectangle with these half sides.
  double area_within(double half_width, double half_height) const {
    const EdgeValues sign_along = {-1, 1, 1, -1}, sign_across = {-1, -1, 1, 1};
    const EdgeValues next_along = {1, 1, -1, -1}, next_across = {-1, 1, 1, -1};
    const EdgeValues x = center.x + (sign_along * along.x + sign_across * across.x);
    const EdgeValues y = center.y + (sign_along * along.y + sign_across * across.y);
    const EdgeValues next_x = center.x + (next_along * along.x + next_across * across.x);
    const EdgeValues next_y = center.y + (next_along * along.y + next_across * across.y);
    EdgeValues left = x, right = next_x;  // the part of the edge between the vertical lines
    clamp_around_zero(&left, half_width);
    clamp_around_zero(&right, half_width);
    const EdgeValues inverse = 1.0 / (next_x - x), rise = next_y - y;
    // A vertical edge gives infinities or NaN here, and a strip of no width below.
    const EdgeValues begin = y + (left - x) * inverse * rise, end = y + (right - x) * inverse * rise;
    EdgeValues low = begin, high = end;
    clamp_around_zero(&low, half_height);
    clamp_around_zero(&high, half_height);
    // The mean of clamp(y) over the part: its slope, and what is cut off at the end.
    const EdgeValues gain = high - low;
    EdgeValues weight = (gain * 0.5 + (end - high)) / (end - begin);
    clamp_to_unit(&weight);
    const EdgeValues strip = (low + gain * weight) * (left - right);
    return (strip[0] + strip[2]) + (strip[1] + strip[3]);
  }
};

// The area that two different rectangles have in common, of which `cutter` cuts the other.
static inline double common_area_by(const RotatedRect &cutter, const RotatedRect &other) {
  const PlanePoint<double> offset{other.x - cutter.x, other.y - cutter.y};
  const double cosine = cutter.cosine * other.cosine + cutter.sine * other.sine;
  const double sine = cutter.cosine * other.sine - cutter.sine * other.cosine;
  const CutParallelogram cut{
      {offset.x * cutter.cosine + offset.y * cutter.sine, offset.y * cutter.cosine - offset.x * cutter.sine},
      {cosine * other.half_width, sine * other.half_width},
      {-sine * other.half_height, cosine * other.half_height}};
  if (cut.is_beside(cutter.half_width, cutter.half_height)) return 0;
  const CutParallelogram reverse{
      {offset.x * other.cosine + offset.y * other.sine, offset.y * other.cosine - offset.x * other.sine},
      {cosine * cutter.half_width, sine * cutter.half_width},
      {-sine * cutter.half_height, cosine * cutter.half_height}};
  if (reverse.is_beside(other.half_width, other.half_height)) return 0;
  return cut.area_within(cutter.half_width, cutter.half_height);
}

// The area that two rectangles have in common, between 0 and that of the smaller one.
static inline double common_area(const RotatedRect &a, const RotatedRect &b) {
  if (a == b) return a.area();
  return possible_area(a.cuts(b) ? common_area_by(a, b) : common_area_by(b, a), a.area(), b.area());
}

// A row (x, y, width, height, angle), and the axis-aligned rectangle around it. A box that is not
// finite or has no area meets no other one.
template <typename Real>
struct RotatedBox {
  static constexpr int kNumbers = 5;
  Real x, y, reach_x, reach_y;
  RotatedRect rect;

  RotatedBox() = default;
  explicit RotatedBox(const Real *row)
      : RotatedBox(read_once(row), read_once(row + 1), read_once(row + 2), read_once(row + 3), read_once(row + 4)) {}

  RotatedBox(Real center_x, Real center_y, Real width, Real height, Real angle) : x(center_x), y(center_y) {
    const double half_width = static_cast<double>(width) / 2, half_height = static_cast<double>(height) / 2;
    rect = {static_cast<double>(x),
            static_cast<double>(y),
            magnitude(half_width),
            magnitude(half_height),
            __builtin_cos(static_cast<double>(angle)),
            __builtin_sin(static_cast<double>(angle))};
    const double cosine = magnitude(rect.cosine), sine = magnitude(rect.sine);
    reach_x = rounded_reach<Real>(cosine * rect.half_width + sine * rect.half_height);
    reach_y = rounded_reach<Real>(sine * rect.half_width + cosine * rect.half_height);
    const bool finite = is_finite(x) && is_finite(y) && is_finite(width) && is_finite(height) && is_finite(angle);
    const bool has_area = (width > 0 && height > 0) || (width < 0 && height < 0);
    if (!finite || !has_area) reach_x = static_cast<Real>(__builtin_nan(""));
  }
};

// The rectangles of two boxes, with lengths multiplied by `scale`, a power of two other than 1 only
// if areas would overflow or lose digits in double. Products of floats never do.
template <typename Real>
struct ScaledRects {
  ScaledRects(const RotatedBox<Real> &first, const RotatedBox<Real> &second) : a(first.rect), b(second.rect) {
    if (sizeof(Real) < sizeof(double)) return;
    const double largest = larger(larger(a.half_width, a.half_height), larger(b.half_width, b.half_height));
    if (largest < 1e70 && largest > 1e-70) return;
    int exponent;
    (void)__builtin_frexp(largest, &exponent);
    scale = __builtin_ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
    b.x -= a.x;
    b.y -= a.y;
    a.x = a.y = 0;
    a = a.scaled(scale);
    b = b.scaled(scale);
  }
  RotatedRect a, b;
  double scale = 1;
};

// The common area of two boxes as a part of that of both together; or of the first one, if
// `of_first`. Identical boxes give 1.
template <typename Real>
static inline Real overlap_of(const RotatedBox<Real> &a, const RotatedBox<Real> &b, bool of_first) {
  if (!are_near(a, b)) return 0;
  if (a.rect == b.rect) return 1;
  const ScaledRects<Real> rects(a, b);
  const double common = common_area(rects.a, rects.b);
  return static_cast<Real>(part_of_areas(common, rects.a.area(), rects.b.area(), of_first));
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_ROTATED_RECTS_H_
