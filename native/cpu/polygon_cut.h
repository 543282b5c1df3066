// Convex polygons cut by lines, and simple quadrilaterals as one or two convex parts.
//
// A polygon is cut by one line after another. For each line, one signed distance for every corner
// decides which corners stay and where the border crosses the line. A wrong sign, by rounding,
// moves the border only by the rounding error, so that polygons which nearly coincide need no
// special case.
#ifndef MLUOPS_CPU_POLYGON_CUT_H_
#define MLUOPS_CPU_POLYGON_CUT_H_

#include "cpu/plane_points.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// A polygon of at most kCorners corners, which at most kLines lines cut. Each line adds a corner
// for every two of them at most, whatever is rounded.
template <int kCorners, int kLines>
class CutPolygon {
 public:
  using Point = PlanePoint<double>;

  explicit CutPolygon(const Point *corners, int count) : count_(count) {
    for (int i = 0; i < count; ++i) corner_[i] = corners[i];
  }

  // Leaves the part on the left of the line from a to b.
  void cut(Point a, Point b) {
    const Point along = b - a;
    double side[kMax];
    bool all = true;
    for (int i = 0; i < count_; ++i) {
      side[i] = cross(along, corner_[i] - a);
      all = all && side[i] >= 0;
    }
    if (all) return;
    Point next[kMax];
    int count = 0;
    for (int i = 0; i < count_; ++i) {
      const int following = i + 1 < count_ ? i + 1 : 0;
      const Point p = corner_[i], q = corner_[following];
      if (side[i] >= 0) next[count++] = p;
      if ((side[i] >= 0) != (side[following] >= 0))
        next[count++] = p + (q - p) * (side[i] / (side[i] - side[following]));
    }
    for (int i = 0; i < count; ++i) corner_[i] = next[i];
    count_ = count;
  }

  int count() const { return count_; }
  Point operator[](int i) const { return corner_[i]; }

  double area() const {
    double sum = 0;
    for (int i = 1; i + 1 < count_; ++i) sum += turn(corner_[0], corner_[i], corner_[i + 1]);
    return magnitude(sum) / 2;
  }

 private:
  static constexpr int most(int corners, int lines) { return lines == 0 ? corners : most(corners * 3 / 2, lines - 1); }
  static constexpr int kMax = most(kCorners, kLines);

  Point corner_[kMax];
  int count_;
};

// A simple quadrilateral: convex parts, counter-clockwise, that make it up.
struct ConvexParts {
  using Point = PlanePoint<double>;

  ConvexParts() = default;
  explicit ConvexParts(const Point (&p)[4]) {
    const double first = turn(p[0], p[1], p[2]), second = turn(p[0], p[2], p[3]);
    area = magnitude(first + second) / 2;
    if (first * second < 0) {  // p[1] and p[3] are on one side of the line between the others
      add({p[0], p[1], p[3]});
      add({p[1], p[2], p[3]});
    } else if (turn(p[1], p[2], p[3]) * turn(p[1], p[3], p[0]) < 0) {
      add({p[0], p[1], p[2]});
      add({p[0], p[2], p[3]});
    } else if (area > 0) {
      const bool clockwise = first + second < 0;
      part[count++] = {4, {p[0], p[clockwise ? 3 : 1], p[2], p[clockwise ? 1 : 3]}};
    }
  }

  struct Part {
    int corners;
    Point corner[4];
  };

  double area = 0;
  int count = 0;
  Part part[2];

 private:
  struct Triangle {
    Point a, b, c;
  };

  void add(const Triangle &t) {
    const double doubled = turn(t.a, t.b, t.c);
    if (doubled > 0) part[count++] = {3, {t.a, t.b, t.c, t.a}};
    if (doubled < 0) part[count++] = {3, {t.c, t.b, t.a, t.c}};
  }
};

// The area that a convex polygon has in common with the parts of a quadrilateral.
template <int kCorners>
static inline double area_in_parts(const PlanePoint<double> *corners, int count, const ConvexParts &parts) {
  double sum = 0;
  for (int i = 0; i < parts.count; ++i) {
    const ConvexParts::Part &part = parts.part[i];
    CutPolygon<kCorners, 4> polygon(corners, count);
    for (int k = 0; k < part.corners; ++k) polygon.cut(part.corner[k], part.corner[k + 1 < part.corners ? k + 1 : 0]);
    sum += polygon.area();
  }
  return sum;
}

// The area that two simple quadrilaterals have in common, between 0 and that of the smaller one.
static inline double common_area(const ConvexParts &a, const ConvexParts &b) {
  double sum = 0;
  for (int i = 0; i < a.count; ++i) sum += area_in_parts<4>(a.part[i].corner, a.part[i].corners, b);
  return possible_area(sum, a.area, b.area);
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_POLYGON_CUT_H_
