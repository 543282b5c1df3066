// BezierAlign on the CPU: the places of the samples of cpu/region_samples.h.
#include "cpu/region_samples.h"
#include "ops/bezier_regions/bezier_regions.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr int kPoints = 4;  // of a cubic curve

// What the control points of a cubic curve count at a parameter.
template <typename Real>
struct CubicWeights {
  explicit CubicWeights(Real u) {
    const Real v = 1 - u;
    of[0] = v * v * v;
    of[1] = 3 * u * v * v;
    of[2] = 3 * u * u * v;
    of[3] = u * u * u;
  }
  // Of the points from `first` on, forwards or backwards.
  Real place(const Real *first, int step) const {
    Real sum = of[0] * first[0];
    for (int k = 1; k < kPoints; ++k) sum += of[k] * first[k * step];
    return sum;
  }
  Real of[kPoints];
};

template <typename Real>
struct Region {
  UprightBin<Real> bin(std::int64_t i, std::int64_t j) const {
    const CubicWeights<Real> weights(static_cast<Real>(j) / many_columns);
    const Real v = static_cast<Real>(i) / many_rows;
    return {rows, columns, centre(weights, y, v) - height / 2, centre(weights, x, v) - width / 2, height, width};
  }

  Real centre(const CubicWeights<Real> &weights, const Real *points, Real v) const {
    return v * weights.place(points + 2 * kPoints - 1, -1) + (1 - v) * weights.place(points, 1) - shift;
  }

  std::int64_t image, rows, columns;
  Real mean;
  Real height, width;            // of a bin
  Real many_rows, many_columns;  // of bins
  Real shift;
  Real x[2 * kPoints], y[2 * kPoints];
};

template <typename T>
struct Regions {
  using Real = SumOf<T>;

  Region<Real> of(std::int64_t number) const {
    const T *row = static_cast<const T *>(rois) + number * (1 + 4 * kPoints);
    const Real scale = static_cast<Real>(g.spatial_scale), image = read_real(row);
    Region<Real> region{};
    region.mean = 1;
    bool finite = true;
    for (int k = 0; k < 2 * kPoints; ++k) {
      region.x[k] = read_real(row + 1 + 2 * k) * scale;
      region.y[k] = read_real(row + 2 + 2 * k) * scale;
      finite = finite && is_finite(region.x[k]) && is_finite(region.y[k]);
    }
    Real width = larger_distance(region.x), height = larger_distance(region.y);
    region.image = finite && is_finite(width) && is_finite(height) ? image_number(image, g.batches) : -1;
    if (region.image < 0) return region;
    if (!g.aligned) {
      width = larger<Real>(width, 1);
      height = larger<Real>(height, 1);
    }
    region.shift = static_cast<Real>(g.aligned ? 0.5 : 0);
    region.many_rows = static_cast<Real>(g.rows);
    region.many_columns = static_cast<Real>(g.columns);
    region.height = height / region.many_rows;
    region.width = width / region.many_columns;
    const SampleGrid grid(g.sampling_ratio, region.height, region.width);
    region.rows = grid.rows;
    region.columns = grid.columns;
    region.mean = static_cast<Real>(grid.count());
    return region;
  }

  // Between the ends of a curve.
  static Real larger_distance(const Real *points) {
    const Real upper = points[0] - points[3], lower = points[7] - points[4];
    return larger<Real>(upper < 0 ? -upper : upper, lower < 0 ? -lower : lower);
  }

  const BezierAlignGeometry &g;
  const void *rois;
};

template <typename T>
mluOpStatus_t forward(const BezierAlignProblem &problem) {
  const Regions<T> regions{problem.geometry, problem.rois};
  MeanForward<T, Regions<T>>(PoolSizes(problem.geometry), regions, problem.source, problem.result).run();
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t backward(const BezierAlignProblem &problem) {
  const Regions<T> regions{problem.geometry, problem.rois};
  return mean_backward<T>(problem.function, PoolSizes(problem.geometry), regions, problem.source, problem.result);
}

}  // namespace

mluOpStatus_t bezier_align_forward(const BezierAlignProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return forward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? forward<Half>(problem) : forward<float>(problem);
}

mluOpStatus_t bezier_align_backward(const BezierAlignProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_bezier_align_forward, bezier_align_forward, BezierAlignProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_bezier_align_backward, bezier_align_backward, BezierAlignProblem, problem.function);
