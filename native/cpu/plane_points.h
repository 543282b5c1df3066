// Points and vectors in a plane, and the test that lets pairs of boxes that are apart be skipped.
#ifndef MLUOPS_CPU_PLANE_POINTS_H_
#define MLUOPS_CPU_PLANE_POINTS_H_

#include "cpu/kernel.h"

namespace mluops {
namespace MLUOPS_LEVEL {

template <typename Real>
struct PlanePoint {
  Real x, y;
  PlanePoint operator+(PlanePoint other) const { return {x + other.x, y + other.y}; }
  PlanePoint operator-(PlanePoint other) const { return {x - other.x, y - other.y}; }
  PlanePoint operator*(Real factor) const { return {x * factor, y * factor}; }
};

template <typename Real>
static inline Real cross(PlanePoint<Real> a, PlanePoint<Real> b) {
  return a.x * b.y - b.x * a.y;
}

template <typename Real>
static inline Real dot(PlanePoint<Real> a, PlanePoint<Real> b) {
  return a.x * b.x + a.y * b.y;
}

// Twice the signed area of a triangle; positive if its corners are counter-clockwise.
template <typename Real>
static inline Real turn(PlanePoint<Real> from, PlanePoint<Real> a, PlanePoint<Real> b) {
  return cross(a - from, b - from);
}

static inline float magnitude(float value) { return __builtin_fabsf(value); }
static inline double magnitude(double value) { return __builtin_fabs(value); }

template <typename Real>
static inline bool is_finite(Real value) {
  return magnitude(value) <=
         (sizeof(Real) == sizeof(float) ? static_cast<Real>(__FLT_MAX__) : static_cast<Real>(__DBL_MAX__));
}

// Half the extent of a box along an axis, rounded up by more than the errors of its computation and
// of a difference of centers, so that boxes which overlap are near. NaN makes a box near no other.
template <typename Real>
static inline Real rounded_reach(double reach) {
  return static_cast<Real>(reach * (1 + (sizeof(Real) == sizeof(float) ? 1e-6 : 1e-15))) +
         (sizeof(Real) == sizeof(float) ? static_cast<Real>(__FLT_MIN__) : static_cast<Real>(__DBL_MIN__));
}

// Whether the axis-aligned rectangles around two boxes meet. A box that meets no other one has a
// `reach_x` of NaN.
template <typename Box>
static inline bool are_near(const Box &a, const Box &b) {
  return magnitude(a.x - b.x) <= a.reach_x + b.reach_x && magnitude(a.y - b.y) <= a.reach_y + b.reach_y;
}

// A common area that rounding may have left outside of the possible range, brought back into it, so
// that no part of the areas is above 1.
static inline double possible_area(double common, double first, double second) {
  const double least = smaller(first, second);
  return common > least ? least : common > 0 ? common : 0;
}

// A possible common area as a part of that of both boxes together, or of the first one, if
// `of_first`; 0 where an area is too small for a double.
static inline double part_of_areas(double common, double first, double second, bool of_first) {
  const double together = larger(first, second) + (smaller(first, second) - common);
  const double part = common / (of_first ? first : together);
  return part == part ? part : 0;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_PLANE_POINTS_H_
