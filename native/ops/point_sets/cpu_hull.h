// Convex hulls of a few points in a plane.
#ifndef MLUOPS_OPS_POINT_SETS_CPU_HULL_H_
#define MLUOPS_OPS_POINT_SETS_CPU_HULL_H_

#include "cpu/plane_points.h"

namespace mluops {
namespace MLUOPS_LEVEL {

constexpr int kSetPoints = 9;
constexpr int kQuadPoints = 4;

// The corners counter-clockwise from the lowest one, without points between two of them; a point
// twice if all points are that one.
template <typename Real>
class Hull {
 public:
  using Point = PlanePoint<Real>;
  static constexpr int kMost = kSetPoints + kQuadPoints;

  // `points` are at most kMost, and finite.
  Hull(const Point *points, int count) {
    Point sorted[kMost];
    for (int i = 0; i < count; ++i) {
      int place = i;
      for (; place > 0 && is_below(points[i], sorted[place - 1]); --place) sorted[place] = sorted[place - 1];
      sorted[place] = points[i];
    }
    for (int i = 0; i < count; ++i) add(sorted[i], 0);
    const int side = count_ - 1;
    for (int i = count - 2; i >= 0; --i) add(sorted[i], side);
    --count_;  // the lowest point again
  }

  int count() const { return count_; }
  const Point *corners() const { return corner_; }
  Point operator[](int i) const { return corner_[i]; }
  Point after(int i) const { return corner_[i + 1 < count_ ? i + 1 : 0]; }
  Point before(int i) const { return corner_[i > 0 ? i - 1 : count_ - 1]; }

  Real area() const {
    Real sum = 0;
    for (int i = 1; i + 1 < count_; ++i) sum += turn(corner_[0], corner_[i], corner_[i + 1]);
    return magnitude(sum) / 2;
  }

 private:
  static bool is_below(Point a, Point b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

  // Adds a point after those that are still corners next to it; the first `kept + 1` stay.
  void add(Point point, int kept) {
    while (count_ > kept + 1 && turn(corner_[count_ - 2], corner_[count_ - 1], point) <= 0) --count_;
    corner_[count_++] = point;
  }

  // Each point is added twice at most, one of them once.
  Point corner_[2 * kMost];
  int count_ = 0;
};

// Reads rows of x and y. Whether all are finite.
template <int kPoints, typename To, typename From>
static inline bool read_points(const From *row, PlanePoint<To> (&points)[kPoints]) {
  bool finite = true;
  for (int i = 0; i < kPoints; ++i) {
    points[i] = {static_cast<To>(read_once(row + 2 * i)), static_cast<To>(read_once(row + 2 * i + 1))};
    finite = finite && is_finite(points[i].x) && is_finite(points[i].y);
  }
  return finite;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_POINT_SETS_CPU_HULL_H_
