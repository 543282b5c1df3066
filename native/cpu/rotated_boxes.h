// Rectangles in a plane, turned by an angle, and the area that two of them have in common.
#ifndef MLUOPS_CPU_ROTATED_BOXES_H_
#define MLUOPS_CPU_ROTATED_BOXES_H_

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

static inline float magnitude(float value) { return __builtin_fabsf(value); }
static inline double magnitude(double value) { return __builtin_fabs(value); }

template <typename Real>
static inline bool is_finite(Real value) {
  return magnitude(value) <=
         (sizeof(Real) == sizeof(float) ? static_cast<Real>(__FLT_MAX__) : static_cast<Real>(__DBL_MAX__));
}

// Whether the upright rectangles around two boxes meet. A box that meets no other one has a `reach`
// of NaN.
template <typename Box>
static inline bool are_near(const Box &a, const Box &b) {
  return magnitude(a.x - b.x) <= a.reach_x + b.reach_x && magnitude(a.y - b.y) <= a.reach_y + b.reach_y;
}

// Centre, width, height and angle of a rectangle, and what follows from them. Sine and cosine are
// rounded from those in double. A box that is not finite or has no area meets no other one.
template <typename Real>
struct RotatedBox {
  static constexpr int kNumbers = 5;
  Real x, y, reach_x, reach_y, area;
  Real cosine_width, sine_width, cosine_height, sine_height;  // half a side along an axis

  RotatedBox() = default;
  explicit RotatedBox(const Real *row) {
    x = read_once(row);
    y = read_once(row + 1);
    const Real width = read_once(row + 2), height = read_once(row + 3), angle = read_once(row + 4);
    const Real cosine = static_cast<Real>(__builtin_cos(static_cast<double>(angle))) / 2;
    const Real sine = static_cast<Real>(__builtin_sin(static_cast<double>(angle))) / 2;
    cosine_width = cosine * width;
    sine_width = sine * width;
    cosine_height = cosine * height;
    sine_height = sine * height;
    area = width * height;
    reach_x = magnitude(cosine_width) + magnitude(sine_height);
    reach_y = magnitude(sine_width) + magnitude(cosine_height);
    const bool finite = is_finite(x) && is_finite(y) && is_finite(width) && is_finite(height) && is_finite(angle);
    if (!finite || area < static_cast<Real>(1e-14)) reach_x = static_cast<Real>(__builtin_nan(""));
  }

  // From corner i to the next one is edge i.
  void corners(PlanePoint<Real> origin, PlanePoint<Real> (&corner)[4], PlanePoint<Real> (&edge)[4]) const {
    const PlanePoint<Real> centre = PlanePoint<Real>{x, y} - origin;
    corner[0] = {centre.x - sine_height - cosine_width, centre.y + cosine_height - sine_width};
    corner[1] = {centre.x + sine_height - cosine_width, centre.y - cosine_height - sine_width};
    corner[2] = centre * 2 - corner[0];
    corner[3] = centre * 2 - corner[1];
    for (int i = 0; i < 4; ++i) edge[i] = corner[(i + 1) % 4] - corner[i];
  }
};

// The polygon that two boxes have in common, as the convex hull of the points where their edges
// cross and of the corners that lie in the other box.
template <typename Real>
class CommonPolygon {
 public:
  CommonPolygon(const RotatedBox<Real> &a, const RotatedBox<Real> &b)
      : CommonPolygon(a, b, PlanePoint<Real>{(a.x + b.x) / 2, (a.y + b.y) / 2}) {}

  // Points are given from `middle`. A box has corners(), as RotatedBox; a corner counts as inside
  // if it lies between the lines across the ends of edge 0, and those of edge 3.
  template <typename Box>
  CommonPolygon(const Box &a, const Box &b, PlanePoint<Real> middle) {
    Point corner_a[4], edge_a[4], corner_b[4], edge_b[4];
    a.corners(middle, corner_a, edge_a);
    b.corners(middle, corner_b, edge_b);
    add_crossings(corner_a, edge_a, corner_b, edge_b);
    add_corners_inside(corner_a, corner_b, edge_b);
    add_corners_inside(corner_b, corner_a, edge_a);
  }

  Real area() {
    if (count_ < 3) return 0;
    sort_by_angle();
    const int corners = walk_around();
    Real sum = 0;
    for (int i = 1; i < corners - 1; ++i) sum += magnitude(cross(points_[i] - points_[0], points_[i + 1] - points_[0]));
    return sum / 2;
  }

 private:
  using Point = PlanePoint<Real>;
  static constexpr int kMost = 24;  // 16 crossings and 8 corners
  static constexpr Real kParallel = static_cast<Real>(1e-14);
  static constexpr Real kSameAngle = static_cast<Real>(1e-6);
  static constexpr Real kSamePlace = static_cast<Real>(1e-8);  // a squared distance

  void add(Point point) { points_[count_++] = point; }

  void add_crossings(const Point (&corner_a)[4], const Point (&edge_a)[4], const Point (&corner_b)[4],
                     const Point (&edge_b)[4]) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const Real determinant = cross(edge_b[j], edge_a[i]);
        if (magnitude(determinant) <= kParallel) continue;
        const Point apart = corner_b[j] - corner_a[i];
        const Real along_a = cross(edge_b[j], apart) / determinant, along_b = cross(edge_a[i], apart) / determinant;
        if (along_a >= 0 && along_a <= 1 && along_b >= 0 && along_b <= 1) add(corner_a[i] + edge_a[i] * along_a);
      }
    }
  }

  // Adds the corners that lie in a box, or on its border.
  void add_corners_inside(const Point (&corner)[4], const Point (&box)[4], const Point (&edge)[4]) {
    const Real first = dot(edge[0], edge[0]), last = dot(edge[3], edge[3]);
    for (int i = 0; i < 4; ++i) {
      const Point apart = corner[i] - box[0];
      const Real along_first = dot(apart, edge[0]), along_last = -dot(apart, edge[3]);
      if (along_first >= 0 && along_last >= 0 && along_first <= first && along_last <= last) add(corner[i]);
    }
  }

  static void exchange(Point &a, Point &b) {
    const Point kept = a;
    a = b;
    b = kept;
  }

  // Sorts the points by their angle around the lowest one, which becomes the origin and comes
  // first; of those at one angle the nearer comes first.
  void sort_by_angle() {
    int lowest = 0;
    for (int i = 1; i < count_; ++i) {
      const Point &p = points_[i], &l = points_[lowest];
      if (p.y < l.y || (p.y == l.y && p.x < l.x)) lowest = i;
    }
    const Point origin = points_[lowest];
    for (int i = 0; i < count_; ++i) points_[i] = points_[i] - origin;
    exchange(points_[0], points_[lowest]);
    for (int i = 1; i < count_ - 1; ++i) {
      for (int j = i + 1; j < count_; ++j) {
        const Real turn = cross(points_[i], points_[j]);
        const bool nearer = magnitude(turn) < kSameAngle && squared(i) > squared(j);
        if (turn < -kSameAngle || nearer) exchange(points_[i], points_[j]);
      }
    }
  }

  Real squared(int i) const { return dot(points_[i], points_[i]); }

  // Moves the corners of the hull to the front and returns their number; 0 if all points are one.
  int walk_around() {
    int next = 1;
    while (next < count_ && !(squared(next) > kSamePlace)) ++next;
    if (next == count_) return 0;
    points_[1] = points_[next];
    int corners = 2;
    for (int i = next + 1; i < count_; ++i) {
      const Point point = points_[i];
      while (corners > 1 && cross(point - points_[corners - 2], points_[corners - 1] - points_[corners - 2]) >= 0)
        --corners;
      points_[corners++] = point;
    }
    return corners;
  }

  Point points_[kMost];
  int count_ = 0;
};

// Area that two boxes have in common, as a part of that of both together; or of the first one, if
// `of_first`. 0 where numbers overflow.
template <typename Real>
static inline Real overlap_of(const RotatedBox<Real> &a, const RotatedBox<Real> &b, bool of_first) {
  if (!are_near(a, b)) return 0;
  const Real common = CommonPolygon<Real>(a, b).area();
  const Real part = common / (of_first ? a.area : a.area + b.area - common);
  return part == part ? part : 0;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_ROTATED_BOXES_H_
