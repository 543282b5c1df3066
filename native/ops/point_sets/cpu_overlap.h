// The area that a convex hull and a quadrilateral have in common: the hull is cut along the edges
// of the convex parts of the quadrilateral.
#ifndef MLUOPS_OPS_POINT_SETS_CPU_OVERLAP_H_
#define MLUOPS_OPS_POINT_SETS_CPU_OVERLAP_H_

#include "cpu/polygon_cut.h"
#include "ops/point_sets/cpu_hull.h"

namespace mluops {
namespace MLUOPS_LEVEL {

using PointOfSet = PlanePoint<double>;

// The upright rectangle around points.
struct Extent {
  PointOfSet low, high;

  Extent() = default;
  template <typename Points>
  Extent(const Points &points, int count) : low(points[0]), high(points[0]) {
    for (int i = 1; i < count; ++i) {
      low = {smaller(low.x, points[i].x), smaller(low.y, points[i].y)};
      high = {larger(high.x, points[i].x), larger(high.y, points[i].y)};
    }
  }
  bool meets(const Extent &other) const {
    return low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y && other.low.y <= high.y;
  }
};

template <typename Real>
struct SetOfPoints {
  static constexpr int kNumbers = 2 * kSetPoints;

  explicit SetOfPoints(const Real *row) : SetOfPoints(Read(row)) {}

  bool finite;
  Hull<double> hull;
  double area;
  Extent extent;

 private:
  struct Read {
    explicit Read(const Real *row) : finite(read_points(row, points)) {
      for (PointOfSet &point : points) {
        if (!finite) point = {0, 0};
      }
    }
    PointOfSet points[kSetPoints];
    bool finite;
  };
  explicit SetOfPoints(const Read &read)
      : finite(read.finite), hull(read.points, kSetPoints), area(hull.area()), extent(hull, hull.count()) {}
};

template <typename Real>
struct Quadrilateral {
  static constexpr int kNumbers = 2 * kQuadPoints;

  Quadrilateral() = default;
  explicit Quadrilateral(const Real *row) {
    PointOfSet corner[kQuadPoints];
    finite = read_points(row, corner);
    parts = ConvexParts(corner);
    extent = Extent(corner, kQuadPoints);
  }

  bool finite;
  ConvexParts parts;
  Extent extent;
};

static inline double common_area_of(const Hull<double> &hull, double area, const ConvexParts &parts) {
  return possible_area(area_in_parts<Hull<double>::kMost>(hull.corners(), hull.count(), parts), area, parts.area);
}

template <typename Real>
static inline double common_area(const SetOfPoints<Real> &set, const Quadrilateral<Real> &other) {
  return set.extent.meets(other.extent) ? common_area_of(set.hull, set.area, other.parts) : 0;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_POINT_SETS_CPU_OVERLAP_H_
