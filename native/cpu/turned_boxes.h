// Boxes in space as they are compared: from above, and in their heights.
#ifndef MLUOPS_CPU_TURNED_BOXES_H_
#define MLUOPS_CPU_TURNED_BOXES_H_

#include "cpu/rotated_boxes.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Corners that lie so far outside of the other box count as inside.
template <typename Real>
constexpr Real kCornerMargin = static_cast<Real>(1e-2);

// A box with its heading. Sine and cosine are rounded from those in double.
template <typename Real>
struct TurnedBox {
  static constexpr int kNumbers = 7;  // centre x, y, z, size dx, dy, dz, heading
  Real x, y, reach_x, reach_y;
  Real half_x, half_y, cosine, sine, area;
  Real bottom, top, volume;

  TurnedBox() = default;
  explicit TurnedBox(const Real *row) {
    x = read_once(row);
    y = read_once(row + 1);
    const Real z = read_once(row + 2), dx = read_once(row + 3), dy = read_once(row + 4), dz = read_once(row + 5);
    const Real heading = read_once(row + 6);
    half_x = dx / 2;
    half_y = dy / 2;
    cosine = static_cast<Real>(__builtin_cos(static_cast<double>(heading)));
    sine = static_cast<Real>(__builtin_sin(static_cast<double>(heading)));
    area = dx * dy;
    bottom = z - dz / 2;
    top = z + dz / 2;
    volume = area * dz;
    reach_x = reach(cosine * half_x, sine * half_y);
    reach_y = reach(sine * half_x, cosine * half_y);
    const bool finite = is_finite(x) && is_finite(y) && is_finite(dx) && is_finite(dy) && is_finite(heading);
    if (!finite) reach_x = static_cast<Real>(__builtin_nan(""));
  }

  // The corners around the centre, in the order of a walk.
  void corners(PlanePoint<Real> (&corner)[4]) const {
    const Real sign_x[4] = {-1, 1, 1, -1}, sign_y[4] = {-1, -1, 1, 1};
    for (int i = 0; i < 4; ++i) {
      const Real along_x = sign_x[i] * half_x, along_y = sign_y[i] * half_y;
      corner[i] = {along_x * cosine - along_y * sine, along_x * sine + along_y * cosine};
    }
  }

  // Whether a point, given from the centre, lies in the box or within the margin around it.
  bool holds(PlanePoint<Real> point) const {
    const Real along_x = point.x * cosine + point.y * sine, along_y = point.y * cosine - point.x * sine;
    return magnitude(along_x) < half_x + kCornerMargin<Real> && magnitude(along_y) < half_y + kCornerMargin<Real>;
  }

 private:
  // Somewhat more than half the extent along an axis, so that two boxes which are not near have no
  // corner within the margin of the other.
  static Real reach(Real a, Real b) {
    return (magnitude(a) + magnitude(b)) * static_cast<Real>(1.00001) + static_cast<Real>(0.75) * kCornerMargin<Real>;
  }
};

// The points where the borders of two boxes cross and the corners that lie in the other box.
template <typename Real>
class SharedPoints {
 public:
  // All points are given from the centre of `a`.
  SharedPoints(const TurnedBox<Real> &a, const TurnedBox<Real> &b) {
    const Point apart{b.x - a.x, b.y - a.y};
    Point corner_a[4], corner_b[4];
    a.corners(corner_a);
    b.corners(corner_b);
    for (Point &corner : corner_b) corner = corner + apart;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) add_crossing(corner_a[i], corner_a[(i + 1) % 4], corner_b[j], corner_b[(j + 1) % 4]);
    }
    for (int i = 0; i < 4; ++i) {
      if (a.holds(corner_b[i])) points_[count_++] = corner_b[i];
      if (b.holds(corner_a[i] - apart)) points_[count_++] = corner_a[i];
    }
  }

  // Area of the polygon through the points, in the order of their angles around their mean.
  Real area() {
    if (count_ < 3) return 0;
    sort_by_angle();
    Real sum = 0;
    for (int i = 1; i < count_ - 1; ++i) sum += cross(points_[i] - points_[0], points_[i + 1] - points_[0]);
    return magnitude(sum) / 2;
  }

 private:
  using Point = PlanePoint<Real>;
  static constexpr int kMost = 24;  // 16 crossings and 8 corners

  static bool are_opposite(Real a, Real b) { return (a > 0 && b < 0) || (a < 0 && b > 0); }

  // Adds the point where two borders cross; one that only touches the other does not cross it.
  void add_crossing(Point a, Point next_a, Point b, Point next_b) {
    const Point along_a = next_a - a, along_b = next_b - b;
    const Real side_b = cross(along_a, b - a), side_next_b = cross(along_a, next_b - a);
    if (!are_opposite(side_b, side_next_b)) return;
    if (!are_opposite(cross(along_b, a - b), cross(along_b, next_a - b))) return;
    points_[count_++] = b + along_b * (side_b / (side_b - side_next_b));
  }

  // A number that grows with the angle of a vector from the negative x axis on, without its sine.
  static Real turn(Point vector) {
    const Real length = magnitude(vector.x) + magnitude(vector.y);
    if (!(length > 0)) return 0;
    const Real part = vector.x / length;
    return vector.y < 0 ? part - 1 : 1 - part;
  }

  void sort_by_angle() {
    Point mean{0, 0};
    for (int i = 0; i < count_; ++i) mean = mean + points_[i];
    mean = mean * (1 / static_cast<Real>(count_));
    Real angle[kMost];
    for (int i = 0; i < count_; ++i) {
      const Point point = points_[i];
      const Real own = turn(point - mean);
      int place = i;
      for (; place > 0 && angle[place - 1] > own; --place) {
        angle[place] = angle[place - 1];
        points_[place] = points_[place - 1];
      }
      angle[place] = own;
      points_[place] = point;
    }
  }

  Point points_[kMost];
  int count_ = 0;
};

template <typename Real>
static inline Real common_area(const TurnedBox<Real> &a, const TurnedBox<Real> &b) {
  if (!are_near(a, b)) return 0;
  const Real area = SharedPoints<Real>(a, b).area();
  return is_finite(area) ? area : 0;
}

// A quotient whose denominator is at least `least`; 0 where numbers overflow.
template <typename Real>
static inline Real part_of(Real common, Real whole, double least) {
  const Real part = common / larger(whole, static_cast<Real>(least));
  return part == part ? part : 0;
}

template <typename Real>
static inline Real iou_from_above(const TurnedBox<Real> &a, const TurnedBox<Real> &b) {
  const Real common = common_area(a, b);
  return part_of(common, a.area + b.area - common, 1e-8);
}

template <typename Real>
static inline Real iou_of_volumes(const TurnedBox<Real> &a, const TurnedBox<Real> &b) {
  const Real height = smaller(a.top, b.top) - larger(a.bottom, b.bottom);
  if (!(height > 0) || !is_finite(height)) return 0;
  const Real common = common_area(a, b) * height;
  return part_of(common, a.volume + b.volume - common, 1e-6);
}

// A box without its heading.
template <typename Real>
struct StraightBox {
  Real x, y, reach_x, reach_y;
  Real left, right, low, high, area;

  StraightBox() = default;
  explicit StraightBox(const Real *row) {
    x = read_once(row);
    y = read_once(row + 1);
    const Real dx = read_once(row + 3), dy = read_once(row + 4);
    left = x - dx / 2;
    right = x + dx / 2;
    low = y - dy / 2;
    high = y + dy / 2;
    area = dx * dy;
    // Somewhat more than half the extent, whatever is rounded.
    reach_x = magnitude(dx) * static_cast<Real>(0.50001) + magnitude(x) * static_cast<Real>(1e-5);
    reach_y = magnitude(dy) * static_cast<Real>(0.50001) + magnitude(y) * static_cast<Real>(1e-5);
    if (!(is_finite(x) && is_finite(y) && is_finite(dx) && is_finite(dy)))
      reach_x = static_cast<Real>(__builtin_nan(""));
  }
};

template <typename Real>
static inline Real iou_of_straight(const StraightBox<Real> &a, const StraightBox<Real> &b) {
  const Real width = larger<Real>(smaller(a.right, b.right) - larger(a.left, b.left), 0);
  const Real height = larger<Real>(smaller(a.high, b.high) - larger(a.low, b.low), 0);
  const Real common = width * height;
  return part_of(common, a.area + b.area - common, 1e-8);
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_TURNED_BOXES_H_
