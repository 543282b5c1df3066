// PointsInPolygons on the CPU, in float and in double: some points are compared with one polygon at
// a time, an edge after the other.
#include "cpu/kernel.h"
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

  void read(const Real *points, std::int64_t count) {
    for (std::int64_t i = 0; i < kTilePoints; ++i) {
      x[i] = i < count ? points[2 * i] : 0;
      y[i] = i < count ? points[2 * i + 1] : 0;
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
    }
  }

  // Which points the polygon holds.
  Mask holds(Values x, Values y) const {
    Mask odd = {}, looking = ~Mask{};
    for (int end = 0, begin = kCorners - 1; end < kCorners; begin = end++) {
      const Real end_x = x_[end], end_y = y_[end], begin_x = x_[begin], begin_y = y_[begin];
      const Mask beside = (y < smaller(end_y, begin_y)) | (y > larger(end_y, begin_y));
      const Mask at_end = ((x == end_x) & (y == end_y)) | ((x == begin_x) & (y == begin_y));
      looking &= ~(at_end & ~beside);
      const Mask passes = (((y > end_y) & (y <= begin_y)) | ((y <= end_y) & (y > begin_y))) & ~beside;
      const Values crossing = end_x + (y - end_y) * (begin_x - end_x) / (begin_y - end_y);
      looking &= ~(passes & (crossing == x));
      odd ^= passes & looking & (crossing > x);
    }
    return odd;
  }

 private:
  Real x_[kCorners], y_[kCorners];
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
        typename Lanes<Real>::Values x, y;
        std::memcpy(&x, tile.x + i, sizeof x);
        std::memcpy(&y, tile.y + i, sizeof y);
        const typename Lanes<Real>::Mask holds = polygon.holds(x, y);
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
