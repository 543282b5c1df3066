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
    return static_cast<Real>(common / (set.area + other.area - common));
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
      const GiouOfRows rows(points, other);
      value = rows.value();
      rows.differentiate(gradient);
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

// Remainders of angles, rounded as in mmcv.
float right_angle(float) { return 3.1415926f / 2; }
double right_angle(double) { return 1.5707963267948966; }
float remainder_of(float value, float divisor) { return __builtin_fmodf(value, divisor); }
double remainder_of(double value, double divisor) { return __builtin_fmod(value, divisor); }
float whole_of(float value) { return __builtin_truncf(value); }
double whole_of(double value) { return __builtin_trunc(value); }

// The angle of an edge, less the right angles in it.
template <typename Real>
Real direction_of(PlanePoint<Real> edge) {
  const Real right = right_angle(Real{});
  const Real angle = static_cast<Real>(__builtin_atan2(static_cast<double>(edge.y), static_cast<double>(edge.x)));
  return angle >= 0 ? remainder_of(angle, right) : angle - whole_of(angle / right - 1) * right;
}

// The rectangle around a hull, turned by an angle whose sine and cosine are rounded from those in
// double.
template <typename Real>
struct TurnedExtent {
  TurnedExtent(const Hull<Real> &hull, Real angle)
      : cosine(static_cast<Real>(__builtin_cos(static_cast<double>(angle)))),
        sine(static_cast<Real>(__builtin_sin(static_cast<double>(angle)))) {
    for (int i = 0; i < hull.count(); ++i) {
      const Real x = hull[i].x * cosine + hull[i].y * sine, y = hull[i].y * cosine - hull[i].x * sine;
      left = i == 0 ? x : smaller(left, x);
      right = i == 0 ? x : larger(right, x);
      low = i == 0 ? y : smaller(low, y);
      high = i == 0 ? y : larger(high, y);
    }
  }

  Real area() const { return (right - left) * (high - low); }

  void write(Real *to) const {
    const Real x[4] = {right, left, left, right}, y[4] = {low, low, high, high};
    for (int i = 0; i < 4; ++i) {
      to[2 * i] = x[i] * cosine - y[i] * sine;
      to[2 * i + 1] = x[i] * sine + y[i] * cosine;
    }
  }

  Real cosine, sine, left = 0, right = 0, low = 0, high = 0;
};

template <typename Real>
mluOpStatus_t surround(const MinAreaPolygonsProblem &problem) {
  for_rows(problem.sets, 1024, [&](std::int64_t row) {
    PlanePoint<Real> points[kSetPoints];
    Real *const to = static_cast<Real *>(problem.polygons) + row * 2 * kQuadPoints;
    for (int i = 0; i < 2 * kQuadPoints; ++i) to[i] = 0;
    if (!read_points(static_cast<const Real *>(problem.pointsets) + row * 2 * kSetPoints, points)) return;
    const Hull<Real> hull(points, kSetPoints);
    Real least = static_cast<Real>(__builtin_inf());
    for (int i = 0; i < hull.count(); ++i) {
      const TurnedExtent<Real> extent(hull, direction_of(hull.after(i) - hull[i]));
      if (!(extent.area() < least)) continue;
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
