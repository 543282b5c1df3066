// Generalized IoU of a hull and a quadrilateral, and its gradient.
//
// When an edge of the hull moves, the common area changes by the part of the edge inside the
// quadrilateral, so that no derivative is larger than the edge is long. Only where a corner lies on
// an edge of the other one, both directions have derivatives of their own; there the gradient is
// mmcv's: the sum of those of triangles from the origin over the edges, which are cut one after
// another, unless one is larger than the edges of its corner are long.
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

// Derivatives of the common area by both ends of an edge of the hull.
struct EdgeShare {
  PlanePoint<double> of_begin{0, 0}, of_end{0, 0};
};

// The share of the edge from a to b by its parts inside of the parts of a quadrilateral.
static inline EdgeShare share_inside(PlanePoint<double> a, PlanePoint<double> b, const ConvexParts &parts) {
  const PlanePoint<double> outward{b.y - a.y, a.x - b.x};
  EdgeShare share;
  for (int i = 0; i < parts.count; ++i) {
    const ConvexParts::Part &part = parts.part[i];
    double begin = 0, end = 1;
    for (int k = 0; k < part.corners; ++k) {
      const PlanePoint<double> c = part.corner[k], d = part.corner[k + 1 < part.corners ? k + 1 : 0];
      const double side_a = turn(c, d, a), side_b = turn(c, d, b);
      if (side_a < 0 && side_b < 0) {
        end = begin;
      } else if (side_a < 0) {
        begin = larger(begin, side_a / (side_a - side_b));
      } else if (side_b < 0) {
        end = smaller(end, side_a / (side_a - side_b));
      }
    }
    if (!(end > begin)) continue;
    const double to_end = (end * end - begin * begin) / 2;
    share.of_begin = share.of_begin + outward * ((end - begin) - to_end);
    share.of_end = share.of_end + outward * to_end;
  }
  return share;
}

// Whether an end of an edge lies on the line of an edge of a quadrilateral, or a corner of that on
// the line of the edge.
static inline bool touches(PlanePoint<double> a, PlanePoint<double> b, const PlanePoint<double> (&other)[kQuadPoints]) {
  for (int k = 0; k < kQuadPoints; ++k) {
    const PlanePoint<double> c = other[k], d = other[(k + 1) % kQuadPoints];
    if (sign_of(turn(c, d, a)) == 0 || sign_of(turn(c, d, b)) == 0 || sign_of(turn(a, b, c)) == 0) return true;
  }
  return false;
}

// Adds the share of the triangles from the origin over the edge from `begin` to `end` and over the
// edge from c to d.
static inline void add_triangles(PlanePoint<double> begin, PlanePoint<double> end, PlanePoint<double> c,
                                 PlanePoint<double> d, EdgeShare *share) {
  const PlanePoint<double> origin{0, 0};
  const MovedPoint a{begin, {{1, 0}, {0, 1}, {0, 0}, {0, 0}}}, b{end, {{0, 0}, {0, 0}, {1, 0}, {0, 1}}};
  const int own = sign_of(cross(begin, end)), others = sign_of(cross(c, d));
  if (own == 0 || others == 0) return;
  MovedPolygon polygon = own > 0 ? MovedPolygon(a, b) : MovedPolygon(b, a);
  const PlanePoint<double> first = others > 0 ? c : d, second = others > 0 ? d : c;
  polygon.cut(origin, first);
  if (!polygon.is_empty()) polygon.cut(first, second);
  if (!polygon.is_empty()) polygon.cut(second, origin);
  if (polygon.is_empty()) return;
  PlanePoint<double> by[2] = {{0, 0}, {0, 0}};
  polygon.add_derivatives(own * others, by);
  share->of_begin = share->of_begin + by[0];
  share->of_end = share->of_end + by[1];
}

static inline EdgeShare share_by_cuts(PlanePoint<double> a, PlanePoint<double> b,
                                      const PlanePoint<double> (&other)[kQuadPoints]) {
  const bool clockwise = turn(other[0], other[1], other[2]) + turn(other[0], other[2], other[3]) < 0;
  EdgeShare share;
  for (int k = 0; k < kQuadPoints; ++k) {
    const PlanePoint<double> c = other[clockwise ? kQuadPoints - 1 - k : k];
    const PlanePoint<double> d = other[clockwise ? (2 * kQuadPoints - 2 - k) % kQuadPoints : (k + 1) % kQuadPoints];
    add_triangles(a, b, c, d, &share);
  }
  return share;
}

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
    bool touching = false;
    for (int i = 0; i < hull_.count(); ++i) {
      add(i, share_inside(hull_[i], hull_.after(i), parts));
      touching = touching || touches(hull_[i], hull_.after(i), other);
    }
    if (touching) differentiate_by_cuts(other);
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

  void add(int i, const EdgeShare &share) {
    const int next = i + 1 < hull_.count() ? i + 1 : 0;
    by_common_[i] = by_common_[i] + share.of_begin;
    by_common_[next] = by_common_[next] + share.of_end;
  }

  // Takes the derivatives of the cuts, unless one of them is larger than both edges of its corner
  // are long.
  void differentiate_by_cuts(const Point (&other)[kQuadPoints]) {
    Point before[Hull<double>::kMost];
    for (int i = 0; i < hull_.count(); ++i) {
      before[i] = by_common_[i];
      by_common_[i] = {0, 0};
    }
    for (int i = 0; i < hull_.count(); ++i) add(i, share_by_cuts(hull_[i], hull_.after(i), other));
    bool bounded = true;
    for (int i = 0; i < hull_.count(); ++i) bounded = bounded && length(by_common_[i]) <= both_edges(i);
    for (int i = 0; i < hull_.count() && !bounded; ++i) by_common_[i] = before[i];
  }

  static double length(Point vector) { return __builtin_sqrt(dot(vector, vector)); }

  double both_edges(int i) const {
    return (length(hull_.after(i) - hull_[i]) + length(hull_[i] - hull_.before(i))) * (1 + 1e-9);
  }

  static Point by_area(const Hull<double> &hull, int i) {
    const Point before = hull.before(i), after = hull.after(i);
    return {(after.y - before.y) / 2, (before.x - after.x) / 2};
  }

  const Point (&points_)[kSetPoints];
  const Hull<double> hull_, around_;  // around_: of both of them
  double area_, other_area_, common_;
  Point by_common_[Hull<double>::kMost] = {};
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_POINT_SETS_CPU_GIOU_H_
