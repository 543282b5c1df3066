// PointsInPolygons on the CPU, in float and in double: some points are compared with one polygon at
// a time, an edge after the other. Near an edge the side of a point
// is computed exactly.
#include "cpu/orientation.h"
#include "ops/points_in_polygons/points_in_polygons.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kCorners = kPolygonNumbers / 2;
constexpr std::int64_t kTilePoints = 64;
constexpr std::int64_t kTilePolygons = 64;

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// As many numbers as a vector holds; masks of them are all ones or zeros.
template <typename Real>
struct Lanes {
  static constexpr int kCount = kVectorBytes / static_cast<int>(sizeof(Real));
  typedef Real Values __attribute__((vector_size(kVectorBytes)));
  typedef decltype(Values{} < Values{}) Mask;
};

template <typename Real>
struct PointTile {
  alignas(kCacheLine) Real x[kTilePoints];
  alignas(kCacheLine) Real y[kTilePoints];

  // A point that is not finite becomes one that compares with nothing.
  void read(const Real *points, std::int64_t count) {
    for (std::int64_t i = 0; i < kTilePoints; ++i) {
      x[i] = i < count ? points[2 * i] : 0;
      y[i] = i < count ? points[2 * i + 1] : 0;
      if (!is_finite(x[i]) || !is_finite(y[i])) x[i] = y[i] = static_cast<Real>(__builtin_nan(""));
    }
  }
};

template <typename Real>
class Polygon {
 public:
  typedef typename Lanes<Real>::Values Values;
  typedef typename Lanes<Real>::Mask Mask;

  void read(const Real *corners) {
    for (int i = 0; i < kCorners; ++i) {
      x_[i] = corners[2 * i];
      y_[i] = corners[2 * i + 1];
      finite_ = finite_ && is_finite(x_[i]) && is_finite(y_[i]);
    }
  }

  // Writes which of some points the polygon holds. The walk around it ends at a point on an edge
  // that crosses the level of the point, or in a corner.
  void hold(const Real *point_x, const Real *point_y, Mask *holds) const {
    *holds = Mask{};
    if (!finite_) return;
    Values x, y;
    std::memcpy(&x, point_x, sizeof x);
    std::memcpy(&y, point_y, sizeof y);
    Mask odd = {}, looking = ~Mask{}, unsure = {};
    for (int end = 0, begin = kCorners - 1; end < kCorners; begin = end++) {
      const Real end_x = x_[end], end_y = y_[end], begin_x = x_[begin], begin_y = y_[begin];
      looking &= ~(((x == end_x) & (y == end_y)) | ((x == begin_x) & (y == begin_y)));
      const Mask rises = (y <= end_y) & (y > begin_y), falls = (y > end_y) & (y <= begin_y);
      const Values one = (end_x - x) * (begin_y - y), other = (end_y - y) * (begin_x - x);
      const Values turn = one - other;  // positive: the point is on the left of an edge that falls
      const Values limit = (magnitude_of(one) + magnitude_of(other)) * kTurnError<Real> + kTurnUnderflow<Real>;
      unsure |= (rises | falls) & looking & ~(magnitude_of(turn) > limit);
      odd ^= looking & ((falls & (turn > 0)) | (rises & (turn < 0)));
    }
    *holds = odd;
    bool any = false;
    for (int lane = 0; lane < Lanes<Real>::kCount; ++lane) any |= unsure[lane] != 0;
    if (any) settle(point_x, point_y, unsure, holds);
  }

 private:
  static Values magnitude_of(const Values &value) { return value < 0 ? -value : value; }

  // Walks again for points whose side of an edge rounding may have changed.
  void settle(const Real *point_x, const Real *point_y, const Mask &unsure, Mask *holds) const {
    for (int lane = 0; lane < Lanes<Real>::kCount; ++lane) {
      if (unsure[lane] != 0) (*holds)[lane] = holds_exactly({point_x[lane], point_y[lane]}) ? -1 : 0;
    }
  }

  bool holds_exactly(PlanePoint<Real> point) const {
    bool odd = false;
    for (int end = 0, begin = kCorners - 1; end < kCorners; begin = end++) {
      const PlanePoint<Real> to{x_[end], y_[end]}, from{x_[begin], y_[begin]};
      if ((point.x == to.x && point.y == to.y) || (point.x == from.x && point.y == from.y)) return odd;
      const bool rises = point.y <= to.y && point.y > from.y, falls = point.y > to.y && point.y <= from.y;
      if (!rises && !falls) continue;
      const int turn = exact_turn(wide(point), wide(to), wide(from));
      if (turn == 0) return odd;
      odd ^= falls ? turn > 0 : turn < 0;
    }
    return odd;
  }

  static PlanePoint<double> wide(PlanePoint<Real> point) {
    return {static_cast<double>(point.x), static_cast<double>(point.y)};
  }

  Real x_[kCorners], y_[kCorners];
  bool finite_ = true;
};

template <typename Real>
class Search {
 public:
  explicit Search(const PointsInPolygonsProblem &problem) : problem_(problem) {}

  // Tiles of points and polygons are counted together.
  void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t columns = (problem_.polygon_count + kTilePolygons - 1) / kTilePolygons;
    for (std::int64_t task = begin; task < end && !interrupted(); ++task)
      run(task / columns * kTilePoints, task % columns * kTilePolygons);
  }

  std::int64_t tasks() const {
    return (problem_.point_count + kTilePoints - 1) / kTilePoints *
           ((problem_.polygon_count + kTilePolygons - 1) / kTilePolygons);
  }

 private:
  void run(std::int64_t first_point, std::int64_t first_polygon) const {
    const std::int64_t points = smaller(kTilePoints, problem_.point_count - first_point);
    const std::int64_t polygons = smaller(kTilePolygons, problem_.polygon_count - first_polygon);
    PointTile<Real> tile;
    tile.read(static_cast<const Real *>(problem_.points) + 2 * first_point, points);
    Real *const inside = static_cast<Real *>(problem_.inside) + first_point * problem_.polygon_count + first_polygon;
    for (std::int64_t m = 0; m < polygons; ++m) {
      Polygon<Real> polygon;
      polygon.read(static_cast<const Real *>(problem_.polygons) + (first_polygon + m) * kPolygonNumbers);
      for (std::int64_t i = 0; i < points; i += Lanes<Real>::kCount) {
        typename Lanes<Real>::Mask holds;
        polygon.hold(tile.x + i, tile.y + i, &holds);
        const std::int64_t count = smaller<std::int64_t>(Lanes<Real>::kCount, points - i);
        for (std::int64_t lane = 0; lane < count; ++lane)
          inside[(i + lane) * problem_.polygon_count + m] = holds[lane] != 0 ? 1 : 0;
      }
    }
  }

  const PointsInPolygonsProblem &problem_;
};

template <typename Real>
mluOpStatus_t find(const PointsInPolygonsProblem &problem) {
  Search<Real> search(problem);
  parallel_for(search.tasks(), 1, search);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t points_in_polygons(const PointsInPolygonsProblem &problem) {
  return problem.is_double ? find<double>(problem) : find<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_points_in_polygons, points_in_polygons, PointsInPolygonsProblem, problem.function);
