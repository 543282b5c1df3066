// The area that a convex hull and a quadrilateral have in common: the hull is cut along the edges
// of the quadrilateral, or of two triangles that make it up if it is not convex.
#ifndef MLUOPS_OPS_POINT_SETS_CPU_OVERLAP_H_
#define MLUOPS_OPS_POINT_SETS_CPU_OVERLAP_H_

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

// Corners of which each two that follow each other are an edge.
struct CuttingLine {
  int count;
  PointOfSet corner[kQuadPoints];
};

template <typename Real>
struct Quadrilateral {
  static constexpr int kNumbers = 2 * kQuadPoints;

  Quadrilateral() = default;
  explicit Quadrilateral(const Real *row) {
    PointOfSet p[kQuadPoints];
    finite = read_points(row, p);
    const double first = turn(p[0], p[1], p[2]), second = turn(p[0], p[2], p[3]);
    area = magnitude(first + second) / 2;
    extent = Extent(p, kQuadPoints);
    if (first * second < 0) {  // p[1] and p[3] are on one side of the line between the others
      parts = 2;
      set(&part[0], {p[0], p[1], p[3]}, turn(p[0], p[1], p[3]));
      set(&part[1], {p[1], p[2], p[3]}, turn(p[1], p[2], p[3]));
    } else if (turn(p[1], p[2], p[3]) * turn(p[1], p[3], p[0]) < 0) {
      parts = 2;
      set(&part[0], {p[0], p[1], p[2]}, first);
      set(&part[1], {p[0], p[2], p[3]}, second);
    } else {
      parts = 1;
      part[0] = {kQuadPoints, {p[0], p[1], p[2], p[3]}};
      if (first + second < 0) part[0] = {kQuadPoints, {p[3], p[2], p[1], p[0]}};
    }
  }

  bool finite;
  double area;
  Extent extent;
  int parts;  // which are counter-clockwise
  CuttingLine part[2];

 private:
  struct Triangle {
    PointOfSet a, b, c;
  };
  static void set(CuttingLine *line, const Triangle &t, double area) {
    *line = {area == 0 ? 0 : 3, {t.a, t.b, t.c, t.a}};
    if (area < 0) *line = {3, {t.c, t.b, t.a, t.c}};
  }
};

// What lines leave of a hull.
class Remainder {
 public:
  explicit Remainder(const Hull<double> &hull) : count_(hull.count()) {
    for (int i = 0; i < count_; ++i) points_[i] = hull[i];
  }

  void cut(PointOfSet a, PointOfSet b) {
    PointOfSet next[kMost];
    int count = 0;
    for (int i = 0; i < count_; ++i) {
      const PointOfSet p = points_[i], q = points_[i + 1 < count_ ? i + 1 : 0];
      const double side_p = turn(a, b, p), side_q = turn(a, b, q);
      if (side_p >= 0) next[count++] = p;
      if ((side_p >= 0) != (side_q >= 0)) next[count++] = p + (q - p) * (side_p / (side_p - side_q));
    }
    for (int i = 0; i < count; ++i) points_[i] = next[i];
    count_ = count;
  }

  double area() const {
    double sum = 0;
    for (int i = 1; i + 1 < count_; ++i) sum += turn(points_[0], points_[i], points_[i + 1]);
    return magnitude(sum) / 2;
  }

 private:
  // A cut adds a point for each two at most, whatever is rounded: 9, 13, 19, 28, 42.
  static constexpr int kMost = 48;

  PointOfSet points_[kMost];
  int count_;
};

template <typename Real>
static inline double common_area(const SetOfPoints<Real> &set, const Quadrilateral<Real> &other) {
  if (!set.extent.meets(other.extent) || other.area == 0) return 0;
  double sum = 0;
  for (int i = 0; i < other.parts; ++i) {
    const CuttingLine &line = other.part[i];
    if (line.count == 0) continue;
    Remainder left(set.hull);
    for (int k = 0; k < line.count; ++k) left.cut(line.corner[k], line.corner[k + 1 < line.count ? k + 1 : 0]);
    sum += left.area();
  }
  return sum;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_POINT_SETS_CPU_OVERLAP_H_
