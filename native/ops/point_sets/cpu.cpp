// Sets of points on the CPU, in float and in double; overlaps are computed in double.
#include "cpu/box_pairs.h"
#include "ops/point_sets/cpu_giou.h"
#include "ops/point_sets/cpu_overlap.h"
#include "ops/point_sets/point_sets.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <typename Real>
mluOpStatus_t compare(const ConvexIouProblem &problem) {
  using Set = SetOfPoints<Real>;
  using Other = Quadrilateral<Real>;
  const auto value = [](const Set &set, const Other &other) {
    if (!set.finite || !other.finite) return static_cast<Real>(__builtin_nan(""));
    const double common = common_area(set, other);
    return static_cast<Real>(common / (set.area + other.parts.area - common));
  };
  BoxPairs<Set, Real, decltype(value), Other> pairs(static_cast<const Real *>(problem.pointsets), problem.sets,
                                                    static_cast<const Real *>(problem.polygons), problem.polygons_count,
                                                    static_cast<Real *>(problem.ious), value);
  pairs.run();
  return MLUOP_STATUS_SUCCESS;
}

// Calls body(i) for every row, which takes about as long as `values` values.
template <typename Body>
void for_rows(std::int64_t rows, std::int64_t values, const Body &body) {
  constexpr std::int64_t kValuesPerPiece = 16384;
  auto piece = [&](std::int64_t begin, std::int64_t end) {
    InterruptPoll poll;
    for (std::int64_t i = begin; i < end && !poll.interrupted(values); ++i) body(i);
  };
  parallel_for(rows, kValuesPerPiece / values + 1, piece);
}

template <typename Real>
mluOpStatus_t compare_generally(const ConvexGiouProblem &problem) {
  using Point = PlanePoint<double>;
  const Real *const sets = static_cast<const Real *>(problem.pointsets);
  const Real *const polygons = static_cast<const Real *>(problem.polygons);
  for_rows(problem.sets, 8192, [&](std::int64_t i) {
    Point points[kSetPoints], other[kQuadPoints], gradient[kSetPoints] = {};
    const bool points_finite = read_points(sets + i * 2 * kSetPoints, points);
    const bool other_finite = read_points(polygons + i * 2 * kQuadPoints, other);
    double value = __builtin_nan("");
    if (points_finite && other_finite) {
      const ScaledRows rows(points, other);
      const GiouOfRows giou(rows);
      value = giou.value();
      giou.differentiate(gradient);
      for (Point &by : gradient) by = by * rows.scale;
    }
    static_cast<Real *>(problem.gious)[i] = static_cast<Real>(value);
    Real *const to = static_cast<Real *>(problem.gradients) + i * 2 * kSetPoints;
    for (int k = 0; k < kSetPoints; ++k) {
      to[2 * k] = static_cast<Real>(gradient[k].x);
      to[2 * k + 1] = static_cast<Real>(gradient[k].y);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

// The direction of an edge, rotated by right angles until it points to the right, and not down.
PlanePoint<double> direction_of(PlanePoint<double> edge) {
  const double length = __builtin_sqrt(dot(edge, edge));
  PlanePoint<double> direction{1, 0};
  if (length > 0) direction = edge * (1 / length);
  for (int i = 0; i < 3 && !(direction.x > 0 && direction.y >= 0); ++i) direction = {direction.y, -direction.x};
  return direction;
}

// The rectangle around a hull that has a side along a direction, from the first corner of the hull.
struct RotatedExtent {
  RotatedExtent(const Hull<double> &hull, PlanePoint<double> side) : direction(side), origin(hull[0]) {
    for (int i = 1; i < hull.count(); ++i) {
      const PlanePoint<double> corner = hull[i] - origin;
      const double along = dot(corner, direction), across = cross(direction, corner);
      left = smaller(left, along);
      right = larger(right, along);
      low = smaller(low, across);
      high = larger(high, across);
    }
  }

  double area() const { return (right - left) * (high - low); }

  template <typename Real>
  void write(Real *to) const {
    const double along[4] = {right, left, left, right}, across[4] = {low, low, high, high};
    for (int i = 0; i < 4; ++i) {
      to[2 * i] = static_cast<Real>(origin.x + (along[i] * direction.x - across[i] * direction.y));
      to[2 * i + 1] = static_cast<Real>(origin.y + (along[i] * direction.y + across[i] * direction.x));
    }
  }

  PlanePoint<double> direction, origin;
  double left = 0, right = 0, low = 0, high = 0;
};

// Areas that differ by less than this part are equal but for rounding; the first one counts.
constexpr double kSameArea = 1e-12;

template <typename Real>
mluOpStatus_t surround(const MinAreaPolygonsProblem &problem) {
  for_rows(problem.sets, 1024, [&](std::int64_t row) {
    PlanePoint<double> points[kSetPoints];
    Real *const to = static_cast<Real *>(problem.polygons) + row * 2 * kQuadPoints;
    for (int i = 0; i < 2 * kQuadPoints; ++i) to[i] = 0;
    if (!read_points(static_cast<const Real *>(problem.pointsets) + row * 2 * kSetPoints, points)) return;
    const Hull<double> hull(points, kSetPoints);
    double least = __builtin_inf();
    for (int i = 0; i < hull.count(); ++i) {
      const RotatedExtent extent(hull, direction_of(hull.after(i) - hull[i]));
      if (!(extent.area() < least * (1 - kSameArea))) continue;
      least = extent.area();
      extent.write(to);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t convex_iou(const ConvexIouProblem &problem) {
  return problem.is_double ? compare<double>(problem) : compare<float>(problem);
}

mluOpStatus_t convex_giou(const ConvexGiouProblem &problem) {
  return problem.is_double ? compare_generally<double>(problem) : compare_generally<float>(problem);
}

mluOpStatus_t min_area_polygons(const MinAreaPolygonsProblem &problem) {
  return problem.is_double ? surround<double>(problem) : surround<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_convex_iou, convex_iou, ConvexIouProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_convex_giou, convex_giou, ConvexGiouProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_min_area_polygons, min_area_polygons, MinAreaPolygonsProblem, problem.function);
