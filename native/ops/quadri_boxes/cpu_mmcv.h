// Overlaps of quadrilaterals by mmcv's rule, for programs that expect its values: a corner counts
// as inside if it lies between the lines across the ends of the first edge of the other
// quadrilateral, and between those of its last edge. That is so for rectangles alone.
#ifndef MLUOPS_OPS_QUADRI_BOXES_CPU_MMCV_H_
#define MLUOPS_OPS_QUADRI_BOXES_CPU_MMCV_H_

#include "ops/quadri_boxes/cpu_quadri.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// The convex hull of the crossings of edges and of the corners that count as inside.
class MmcvHull {
 public:
  using Point = PlanePoint<double>;

  MmcvHull(const Point (&a)[4], const Point (&b)[4]) {
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 4; ++k) add_crossing(a[i], a[(i + 1) % 4] - a[i], b[k], b[(k + 1) % 4] - b[k]);
    }
    add_corners_inside(a, b);
    add_corners_inside(b, a);
  }

  // By a monotone chain.
  double area() {
    if (count_ < 3) return 0;
    sort();
    Point hull[2 * kMax];
    int corners = 0;
    for (int i = 0; i < count_; ++i) corners = extend(hull, corners, 0, points_[i]);
    const int upper = corners - 1;
    for (int i = count_ - 2; i >= 0; --i) corners = extend(hull, corners, upper, points_[i]);
    double sum = 0;
    for (int i = 1; i + 1 < corners; ++i) sum += turn(hull[0], hull[i], hull[i + 1]);
    return magnitude(sum) / 2;
  }

 private:
  static constexpr int kMax = 24;  // 16 crossings and 8 corners

  void add_crossing(Point a, Point along_a, Point b, Point along_b) {
    const double determinant = cross(along_b, along_a);
    if (determinant == 0) return;
    const Point offset = b - a;
    const double share_a = cross(along_b, offset) / determinant, share_b = cross(along_a, offset) / determinant;
    if (share_a >= 0 && share_a <= 1 && share_b >= 0 && share_b <= 1) points_[count_++] = a + along_a * share_a;
  }

  void add_corners_inside(const Point (&corners)[4], const Point (&box)[4]) {
    const Point first = box[1] - box[0], last = box[3] - box[0];
    for (int i = 0; i < 4; ++i) {
      const Point corner = corners[i];
      const double along = dot(corner - box[0], first), beside = dot(corner - box[0], last);
      if (along >= 0 && beside >= 0 && along <= dot(first, first) && beside <= dot(last, last))
        points_[count_++] = corner;
    }
  }

  void sort() {
    for (int i = 1; i < count_; ++i) {
      const Point point = points_[i];
      int index = i;
      for (; index > 0 && is_below(point, points_[index - 1]); --index) points_[index] = points_[index - 1];
      points_[index] = point;
    }
  }

  static bool is_below(Point a, Point b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

  static int extend(Point *hull, int corners, int first, Point point) {
    while (corners > first + 1 && turn(hull[corners - 2], hull[corners - 1], point) <= 0) --corners;
    hull[corners] = point;
    return corners + 1;
  }

  Point points_[kMax];
  int count_ = 0;
};

// Lengths up to this part of a side count as the same: a rectangle stays one when its corners are
// rounded, and quadrilaterals nearly coincide.
constexpr double kSameSide = 1e-3;

static inline bool is_rectangle(const PlanePoint<double> (&p)[4]) {
  const PlanePoint<double> a = p[1] - p[0], b = p[3] - p[0], skew = p[2] - p[1] - b;
  const double sides = larger(dot(a, a), dot(b, b));
  const double along = dot(a, b), square = kSameSide * kSameSide;
  return dot(skew, skew) <= square * sides && along * along <= square * dot(a, a) * dot(b, b);
}

// Whether each corner of one is near a corner of the other, in an order around both.
static inline bool nearly_coincide(const PlanePoint<double> (&a)[4], const PlanePoint<double> (&b)[4]) {
  double least = __builtin_inf();
  for (int i = 0; i < 4; ++i) least = smaller(least, dot(a[(i + 1) % 4] - a[i], a[(i + 1) % 4] - a[i]));
  for (int begin = 0; begin < 4; ++begin) {
    for (int step = 1; step < 4; step += 2) {
      double farthest = 0;
      for (int i = 0; i < 4; ++i) {
        const PlanePoint<double> offset = b[(begin + step * i) % 4] - a[i];
        farthest = larger(farthest, dot(offset, offset));
      }
      if (farthest <= kSameSide * kSameSide * least) return true;
    }
  }
  return false;
}

// As mmcv has it for quadrilaterals that are no rectangles; true for rectangles, and where both
// nearly coincide, for which mmcv's own values jump.
template <typename Real>
static inline double overlap_by_mmcv(const QuadriBox<Real> &a, const QuadriBox<Real> &b, bool of_first) {
  if (a.reach_x != a.reach_x || b.reach_x != b.reach_x) return 0;
  const ComparedQuadris<Real> compared(a, b);
  const PlanePoint<double>(&one)[4] = compared.corner[0], (&other)[4] = compared.corner[1];
  if ((is_rectangle(one) && is_rectangle(other)) || nearly_coincide(one, other))
    return overlap_of_quadris(a, b, of_first);
  const auto area_of = [](const PlanePoint<double>(&p)[4]) {
    return magnitude(turn(p[0], p[1], p[2])) / 2 + magnitude(turn(p[0], p[2], p[3])) / 2;
  };
  const double areas[2] = {area_of(one), area_of(other)};
  if (!(areas[0] > 0) || !(areas[1] > 0)) return 0;
  const double common = MmcvHull(one, other).area();
  const double part = common / (of_first ? areas[compared.exchanged ? 1 : 0] : areas[0] + areas[1] - common);
  return part == part ? part : 0;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_QUADRI_BOXES_CPU_MMCV_H_
