// Generalised IoU of a hull and a quadrilateral, and its gradient. The gradient of the common area
// is the sum of those of triangles from the origin over their edges, which are cut one after
// another: where edges lie on each other, the order of these cuts decides what the gradient is, as
// in mmcv.
#ifndef MLUOPS_OPS_POINT_SETS_CPU_GIOU_H_
#define MLUOPS_OPS_POINT_SETS_CPU_GIOU_H_

#include "ops/point_sets/cpu_overlap.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// A point that moves with the ends a and b of an edge.
struct MovedPoint {
  using Point = PlanePoint<double>;
  static constexpr int kBy = 4;  // a.x, a.y, b.x, b.y
  Point place;
  Point by[kBy];  // derivatives
};

// -1, 0 or 1; what is as small as this counts as 0.
static inline int sign_of(double value) {
  constexpr double kEpsilon = 1e-8;
  return (value > kEpsilon ? 1 : 0) - (value < -kEpsilon ? 1 : 0);
}

static inline bool are_same(PlanePoint<double> a, PlanePoint<double> b) {
  return sign_of(a.x - b.x) == 0 && sign_of(a.y - b.y) == 0;
}

class MovedPolygon {
 public:
  using Point = MovedPoint::Point;

  // The triangle from the origin over an edge.
  MovedPolygon(const MovedPoint &a, const MovedPoint &b) : points_{MovedPoint{}, a, b}, count_(3) {}

  // Leaves what is on the left of the line from u to v.
  void cut(Point u, Point v) {
    MovedPoint next[kMost];
    int count = 0;
    for (int i = 0; i < count_; ++i) {
      const MovedPoint &p = points_[i], &q = points_[i + 1 < count_ ? i + 1 : 0];
      const double side_p = turn(u, v, p.place), side_q = turn(u, v, q.place);
      if (sign_of(side_p) > 0) next[count++] = p;
      if (sign_of(side_p) != sign_of(side_q)) next[count++] = crossing(p, q, side_p, side_q, v - u);
    }
    keep(next, count);
  }

  bool is_empty() const { return count_ == 0; }

  // Adds sign * the derivatives of the area to `by`.
  void add_derivatives(double sign, Point (&by)[2]) const {
    double sum_by[MovedPoint::kBy] = {};
    for (int i = 0; i < count_; ++i) {
      const MovedPoint &p = points_[i], &q = points_[i + 1 < count_ ? i + 1 : 0];
      for (int k = 0; k < MovedPoint::kBy; ++k) sum_by[k] += cross(p.by[k], q.place) + cross(p.place, q.by[k]);
    }
    by[0] = by[0] + Point{sum_by[0], sum_by[1]} * (sign / 2);
    by[1] = by[1] + Point{sum_by[2], sum_by[3]} * (sign / 2);
  }

 private:
  static constexpr int kMost = 24;  // each of three cuts can double three points

  // Where the edge from p to q crosses a line along `along`.
  static MovedPoint crossing(const MovedPoint &p, const MovedPoint &q, double side_p, double side_q, Point along) {
    const double apart = side_q - side_p;
    if (sign_of(apart) == 0) return p;
    MovedPoint found;
    found.place = {(p.place.x * side_q - q.place.x * side_p) / apart,
                   (p.place.y * side_q - q.place.y * side_p) / apart};
    for (int k = 0; k < MovedPoint::kBy; ++k) {
      const double by_p = cross(along, p.by[k]), by_q = cross(along, q.by[k]);
      const Point sum = p.by[k] * side_q + p.place * by_q - q.by[k] * side_p - q.place * by_p;
      found.by[k] = (sum - found.place * (by_q - by_p)) * (1 / apart);
    }
    return found;
  }

  // Takes points, but for those that repeat the one before.
  void keep(const MovedPoint *points, int count) {
    count_ = 0;
    for (int i = 0; i < count; ++i) {
      if (i == 0 || !are_same(points[i].place, points[i - 1].place)) points_[count_++] = points[i];
    }
    while (count_ > 1 && are_same(points_[count_ - 1].place, points_[0].place)) --count_;
  }

  MovedPoint points_[kMost];
  int count_;
};

// Rows moved and scaled by a power of two where the differences that count as none, kEpsilon in
// sign_of(), would be too large or too small for them.
class ScaledRows {
 public:
  using Point = PlanePoint<double>;

  ScaledRows(const Point (&points)[kSetPoints], const Point (&other)[kQuadPoints]) {
    const Extent one(points, kSetPoints), two(other, kQuadPoints);
    const Point low{smaller(one.low.x, two.low.x), smaller(one.low.y, two.low.y)};
    const Point high{larger(one.high.x, two.high.x), larger(one.high.y, two.high.y)};
    const double extent = larger(high.x - low.x, high.y - low.y);
    const double farthest =
        larger(larger(magnitude(low.x), magnitude(high.x)), larger(magnitude(low.y), magnitude(high.y)));
    Point origin{0, 0};
    if (extent > 0 && extent <= __DBL_MAX__) {
      if (farthest > kFar * extent) origin = low - Point{extent, extent};
      int exponent = 0;
      if (extent < kSmall || extent > kLarge) (void)__builtin_frexp(extent, &exponent);
      scale = __builtin_ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
    }
    for (int i = 0; i < kSetPoints; ++i) set[i] = (points[i] - origin) * scale;
    for (int i = 0; i < kQuadPoints; ++i) quadrilateral[i] = (other[i] - origin) * scale;
  }

  double scale = 1;
  Point set[kSetPoints], quadrilateral[kQuadPoints];

 private:
  static constexpr double kFar = 4096, kSmall = 0.25, kLarge = 16384;
};

// The GIoU of finite rows.
class GiouOfRows {
 public:
  using Point = PlanePoint<double>;

  explicit GiouOfRows(const ScaledRows &rows)
      : points_(rows.set), hull_(points_, kSetPoints), around_(around_both(hull_, rows.quadrilateral)) {
    const Point(&other)[kQuadPoints] = rows.quadrilateral;
    const ConvexParts parts(other);
    area_ = hull_.area();
    other_area_ = parts.area;
    common_ = common_area_of(hull_, area_, parts);
    const bool clockwise = turn(other[0], other[1], other[2]) + turn(other[0], other[2], other[3]) < 0;
    for (int i = 0; i < hull_.count(); ++i) {
      for (int k = 0; k < kQuadPoints; ++k) {
        const Point c = other[clockwise ? kQuadPoints - 1 - k : k];
        const Point d = other[clockwise ? (2 * kQuadPoints - 2 - k) % kQuadPoints : (k + 1) % kQuadPoints];
        add_share(i, c, d);
      }
    }
  }

  double value() const {
    const double whole = whole_area();
    return common_ / unite() - (whole - unite()) / whole;
  }

  // Writes the gradient of each point.
  void differentiate(Point (&gradient)[kSetPoints]) const {
    const double united = unite(), whole = whole_area(), part = common_ / united;
    for (int i = 0; i < hull_.count(); ++i) {
      Point by_whole{0, 0};
      for (int k = 0; k < around_.count(); ++k) {
        if (!are_same(around_[k], hull_[i])) continue;
        by_whole = by_area(around_, k);
        break;
      }
      const Point own = by_area(hull_, i), shared = by_common_[i];
      const Point sum = shared * ((united + common_) / (united * united)) - own * (part / united) +
                        (own - shared) * (1 / whole) - by_whole * (united / (whole * whole));
      int place = 0;
      while (place + 1 < kSetPoints && !are_same(points_[place], hull_[i])) ++place;
      gradient[place] = sum;
    }
  }

 private:
  double unite() const { return area_ + other_area_ - common_; }

  // That of the hull of both, which is at least as large as both together, whatever is rounded.
  double whole_area() const { return larger(around_.area(), unite()); }

  // The hull of the corners of a hull, and of those of a quadrilateral that are none of them.
  static Hull<double> around_both(const Hull<double> &hull, const Point (&other)[kQuadPoints]) {
    Point all[Hull<double>::kMost];
    int count = hull.count();
    for (int i = 0; i < count; ++i) all[i] = hull[i];
    for (const Point &point : other) {
      bool is_new = true;
      for (int i = 0; i < hull.count(); ++i) is_new = is_new && !are_same(point, hull[i]);
      if (is_new) all[count++] = point;
    }
    return Hull<double>(all, count);
  }

  static Point by_area(const Hull<double> &hull, int i) {
    const Point before = hull.before(i), after = hull.after(i);
    return {(after.y - before.y) / 2, (before.x - after.x) / 2};
  }

  // Adds the derivatives of the common area of the triangles over edge i of the hull and over the
  // edge from c to d.
  void add_share(int i, Point c, Point d) {
    const Point origin{0, 0};
    const int next = i + 1 < hull_.count() ? i + 1 : 0;
    MovedPoint a{hull_[i], {{1, 0}, {0, 1}, {0, 0}, {0, 0}}}, b{hull_[next], {{0, 0}, {0, 0}, {1, 0}, {0, 1}}};
    const int own = sign_of(cross(a.place, b.place)), others = sign_of(cross(c, d));
    if (own == 0 || others == 0) return;
    MovedPolygon polygon = own > 0 ? MovedPolygon(a, b) : MovedPolygon(b, a);
    const Point first = others > 0 ? c : d, second = others > 0 ? d : c;
    polygon.cut(origin, first);
    if (!polygon.is_empty()) polygon.cut(first, second);
    if (!polygon.is_empty()) polygon.cut(second, origin);
    if (polygon.is_empty()) return;
    Point by[2] = {{0, 0}, {0, 0}};
    polygon.add_derivatives(own * others, by);
    by_common_[i] = by_common_[i] + by[0];
    by_common_[next] = by_common_[next] + by[1];
  }

  const Point (&points_)[kSetPoints];
  const Hull<double> hull_, around_;  // around_: of both of them
  double area_, other_area_, common_;
  Point by_common_[Hull<double>::kMost] = {};
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_POINT_SETS_CPU_GIOU_H_
