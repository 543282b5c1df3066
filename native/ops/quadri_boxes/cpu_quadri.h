// Quadrilaterals as they are compared.
#ifndef MLUOPS_OPS_QUADRI_BOXES_CPU_QUADRI_H_
#define MLUOPS_OPS_QUADRI_BOXES_CPU_QUADRI_H_

#include "cpu/ranking.h"
#include "cpu/rotated_boxes.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Four corners, and the upright rectangle around all points that count as inside: the box itself,
// and what lies between the lines across the ends of its first edge, and those of its last one.
template <typename Real>
struct QuadriBox {
  static constexpr int kNumbers = 8;
  using Point = PlanePoint<Real>;
  Real x, y, reach_x, reach_y, area;
  Point sum;  // of the corners
  Point corner_of[4];

  QuadriBox() = default;
  explicit QuadriBox(const Real *row) {
    bool finite = true;
    for (int i = 0; i < 4; ++i) {
      corner_of[i] = {read_once(row + 2 * i), read_once(row + 2 * i + 1)};
      finite = finite && is_finite(corner_of[i].x) && is_finite(corner_of[i].y);
    }
    sum = corner_of[0] + corner_of[1] + corner_of[2] + corner_of[3];
    const Point a = corner_of[1] - corner_of[0], b = corner_of[2] - corner_of[0], c = corner_of[3] - corner_of[0];
    area = magnitude(cross(a, b)) / 2 + magnitude(cross(b, c)) / 2;
    surround(a, c);
    if (!finite || area < static_cast<Real>(1e-14)) reach_x = static_cast<Real>(__builtin_nan(""));
  }

  void corners(Point origin, Point (&corner)[4], Point (&edge)[4]) const {
    for (int i = 0; i < 4; ++i) corner[i] = corner_of[i] - origin;
    for (int i = 0; i < 4; ++i) edge[i] = corner[(i + 1) % 4] - corner[i];
  }

 private:
  void surround(Point a, Point c) {
    Point low = corner_of[0], high = corner_of[0];
    for (int i = 1; i < 4; ++i) include(corner_of[i], &low, &high);
    // A point P with P.a = s and P.c = t is (s * (c.y, -c.x) + t * (-a.y, a.x)) / cross(a, c).
    const Real across = cross(a, c), s = dot(a, a), t = dot(c, c);
    const Point along{c.y * s / across, -c.x * s / across}, beside{-a.y * t / across, a.x * t / across};
    include(corner_of[0] + along, &low, &high);
    include(corner_of[0] + beside, &low, &high);
    include(corner_of[0] + along + beside, &low, &high);
    x = low.x / 2 + high.x / 2;
    y = low.y / 2 + high.y / 2;
    // Somewhat more than half, whatever is rounded; without a number all boxes are near.
    reach_x = wide(high.x - low.x, x);
    reach_y = wide(high.y - low.y, y);
    if (!is_finite(reach_x) || !is_finite(reach_y) || !is_finite(x) || !is_finite(y)) {
      x = y = 0;
      reach_x = reach_y = static_cast<Real>(__builtin_inf());
    }
  }

  static Real wide(Real extent, Real place) {
    return extent * static_cast<Real>(0.501) + magnitude(place) * static_cast<Real>(1e-5);
  }

  static void include(Point point, Point *low, Point *high) {
    low->x = point.x < low->x || point.x != point.x ? point.x : low->x;
    low->y = point.y < low->y || point.y != point.y ? point.y : low->y;
    high->x = point.x > high->x || point.x != point.x ? point.x : high->x;
    high->y = point.y > high->y || point.y != point.y ? point.y : high->y;
  }
};

// As mmcv computes it: exact for rectangles.
template <typename Real>
static inline Real overlap_of_quadris(const QuadriBox<Real> &a, const QuadriBox<Real> &b, bool of_first) {
  if (!are_near(a, b)) return 0;
  const PlanePoint<Real> all = a.sum + b.sum;
  const Real common = CommonPolygon<Real>(a, b, PlanePoint<Real>{all.x / 8, all.y / 8}).area();
  const Real part = common / (of_first ? a.area : a.area + b.area - common);
  return part == part ? part : 0;
}

// A quadrilateral with its score, whose common polygon with another one is exact.
struct PolyBox {
  using Point = PlanePoint<double>;
  double x, y, reach_x, reach_y, area;
  std::uint64_t key;  // of its score
  Point corner[4];

  PolyBox() = default;
  template <typename Real>
  explicit PolyBox(const Real *row) {
    bool finite = true;
    for (int i = 0; i < 4; ++i) {
      corner[i] = {static_cast<double>(read_once(row + 2 * i)), static_cast<double>(read_once(row + 2 * i + 1))};
      finite = finite && is_finite(corner[i].x) && is_finite(corner[i].y);
    }
    const double score = static_cast<double>(read_once(row + 8));
    key = score == score ? ranking_key(score) : 0;
    Point low = corner[0], high = corner[0];
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      low = {smaller(low.x, corner[i].x), smaller(low.y, corner[i].y)};
      high = {larger(high.x, corner[i].x), larger(high.y, corner[i].y)};
      sum += cross(corner[i] - corner[0], corner[(i + 1) % 4] - corner[0]);
    }
    area = magnitude(sum) / 2;
    x = low.x / 2 + high.x / 2;
    y = low.y / 2 + high.y / 2;
    reach_x = (high.x - low.x) * 0.501 + magnitude(x) * 1e-12;
    reach_y = (high.y - low.y) * 0.501 + magnitude(y) * 1e-12;
    if (!finite) reach_x = __builtin_nan("");
  }
};

// A polygon that lines cut.
class CutPolygon {
 public:
  using Point = PlanePoint<double>;

  CutPolygon(const PolyBox &box, Point origin) {
    for (const Point &corner : box.corner) points_[count_++] = corner - origin;
  }

  // Leaves what is on the left of the line from a to b, or on the right if `sign` is -1.
  void cut(Point a, Point b, double sign) {
    Point next[kMost];
    int count = 0;
    for (int i = 0; i < count_; ++i) {
      const Point p = points_[i], q = points_[(i + 1) % count_];
      const double side_p = sign * cross(b - a, p - a), side_q = sign * cross(b - a, q - a);
      const bool inside_p = side_p > -kEdge, inside_q = side_q > -kEdge;
      if (inside_p) next[count++] = p;
      if (inside_p != inside_q) next[count++] = p + (q - p) * (side_p / (side_p - side_q));
    }
    for (int i = 0; i < count; ++i) points_[i] = next[i];
    count_ = count;
  }

  double area() const {
    double sum = 0;
    for (int i = 1; i + 1 < count_; ++i) sum += cross(points_[i] - points_[0], points_[i + 1] - points_[0]);
    return magnitude(sum) / 2;
  }

 private:
  // Each of four lines crosses each of at most 4, 8, 16 and 32 edges.
  static constexpr int kMost = 64;
  static constexpr double kEdge = 1e-12;

  Point points_[kMost];
  int count_ = 0;
};

// What a convex polygon and a box have in common.
template <int kCorners>
static inline double area_inside(const PlanePoint<double> (&by)[kCorners], double sign, const PolyBox &box,
                                 PlanePoint<double> origin) {
  CutPolygon polygon(box, origin);
  for (int i = 0; i < kCorners; ++i) polygon.cut(by[i], by[(i + 1) % kCorners], sign);
  return polygon.area();
}

static inline double area_inside_triangle(PlanePoint<double> a, PlanePoint<double> b, PlanePoint<double> c,
                                          const PolyBox &box, PlanePoint<double> origin) {
  const PlanePoint<double> triangle[3] = {a, b, c};
  const double turn = cross(b - a, c - a);
  return turn == 0 ? 0 : area_inside(triangle, turn < 0 ? -1 : 1, box, origin);
}

// Whether a box suppresses one of a lower score, by the exact overlap.
static inline double overlap_of_polys(const PolyBox &by, const PolyBox &box) {
  if (by.key == box.key || !are_near(by, box)) return 0;
  using Point = PlanePoint<double>;
  const Point origin = by.corner[0];
  const Point a{0, 0}, b = by.corner[1] - origin, c = by.corner[2] - origin, d = by.corner[3] - origin;
  double common;
  if (cross(c - a, b - a) * cross(c - a, d - a) > 0) {  // b and d are on one side: the other diagonal is inside
    common = area_inside_triangle(a, b, d, box, origin) + area_inside_triangle(b, c, d, box, origin);
  } else if (cross(d - b, a - b) * cross(d - b, c - b) > 0) {
    common = area_inside_triangle(a, b, c, box, origin) + area_inside_triangle(a, c, d, box, origin);
  } else {
    const Point corners[4] = {a, b, c, d};
    common = area_inside(corners, cross(c - a, d - b) < 0 ? -1 : 1, box, origin);
  }
  return common / (by.area + box.area - common);
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_QUADRI_BOXES_CPU_QUADRI_H_
