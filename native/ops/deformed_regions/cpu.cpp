// DeformRoiPool on the CPU: the places of the samples of cpu/region_samples.h, and the gradient of
// the offsets.
#include "cpu/region_samples.h"
#include "ops/deformed_regions/deformed_regions.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <typename T>
struct Region {
  using Real = SumOf<T>;
  UprightBin<Real> bin(std::int64_t i, std::int64_t j) const {
    Real y = top, x = left;
    if (offset != nullptr) {
      const T *const own = offset + i * bins_across + j;
      x += move_x * read_real(own);
      y += move_y * read_real(own + bins_down * bins_across);
    }
    return {rows, columns, y + static_cast<Real>(i) * height, x + static_cast<Real>(j) * width, height, width};
  }
  std::int64_t image, rows, columns;
  Real mean;
  Real top, left, height, width;  // of the region, and of a bin
  Real move_y, move_x;            // what an offset of 1 is, in pixels of the map
  const T *offset;                // [2, bins_down, bins_across]
  std::int64_t bins_down, bins_across;
};

template <typename T>
struct Regions {
  using Real = SumOf<T>;
  Region<T> of(std::int64_t number) const {
    const T *row = static_cast<const T *>(rois) + number * 5;
    const Real scale = static_cast<Real>(g.spatial_scale), half = static_cast<Real>(0.5), image = read_real(row);
    const Real x = read_real(row + 1) * scale - half, y = read_real(row + 2) * scale - half;
    const Real width = (read_real(row + 3) * scale - half) - x, height = (read_real(row + 4) * scale - half) - y;
    const bool finite = is_finite(width) && is_finite(height) && is_finite(x) && is_finite(y);
    Region<T> region{};
    region.mean = 1;
    region.image = finite ? image_number(image, g.batches) : -1;
    if (region.image < 0) return region;
    region.top = y;
    region.left = x;
    region.height = height / static_cast<Real>(g.rows);
    region.width = width / static_cast<Real>(g.columns);
    const SampleGrid grid(g.sampling_ratio, region.height, region.width);
    region.rows = grid.rows;
    region.columns = grid.columns;
    region.mean = static_cast<Real>(grid.count());
    region.move_y = static_cast<Real>(g.gamma) * height;
    region.move_x = static_cast<Real>(g.gamma) * width;
    region.bins_down = g.rows;
    region.bins_across = g.columns;
    if (offset != nullptr) region.offset = static_cast<const T *>(offset) + number * 2 * g.rows * g.columns;
    return region;
  }
  const DeformRoiPoolGeometry &g;
  const void *rois;
  const void *offset;
};

// How a sample changes along each axis, as sums of the pixels around it with weights.
template <typename Real>
struct Slopes {
  BilinearPlace<Real> y, x;
};

// By the formula of the vendor, which takes the place as it is: beside the outermost pixels it is
// not the slope of the samples, which stay the same there.
template <typename Real>
static inline Slopes<Real> vendor_slopes(const PixelsAround<Real> &row, const PixelsAround<Real> &column, Real y,
                                         Real x, const BilinearPlace<Real> &place) {
  const Real below = y - static_cast<Real>(row.low), above = static_cast<Real>(row.high) - y;
  const Real right = x - static_cast<Real>(column.low), left = static_cast<Real>(column.high) - x;
  const Real by_y[kCorners] = {-left, -right, left, right}, by_x[kCorners] = {-above, above, -below, below};
  Slopes<Real> slopes{place, place};
  std::memcpy(slopes.y.weight, by_y, sizeof by_y);
  std::memcpy(slopes.x.weight, by_x, sizeof by_x);
  return slopes;
}

// A sample that does not move along an axis has no slope, and none of its pixels is looked at.
template <typename Real>
static inline Slopes<Real> exact_slopes(const PixelsAround<Real> &row, const PixelsAround<Real> &column, Real y, Real x,
                                        const BilinearPlace<Real> &place) {
  const Real upper = 1 - row.part, left = 1 - column.part;
  const Real by_y[kCorners] = {-left, -column.part, left, column.part};
  const Real by_x[kCorners] = {-upper, upper, -row.part, row.part};
  Slopes<Real> slopes{place, place};
  std::memcpy(slopes.y.weight, by_y, sizeof by_y);
  std::memcpy(slopes.x.weight, by_x, sizeof by_x);
  slopes.y.inside = y >= 0 && row.low < row.high;
  slopes.x.inside = x >= 0 && column.low < column.high;
  return slopes;
}

// The gradient of the offsets of a bin: the slopes of its samples are added up for each channel,
// and the sums multiplied with the gradients.
template <typename T>
class OffsetGradients {
 public:
  using Real = SumOf<T>;
  OffsetGradients(const DeformRoiPoolBackwardProblem &problem, const Regions<T> &regions)
      : problem_(problem), sizes_(problem.geometry), regions_(regions) {}

  // Bins are counted through all regions.
  void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t each = sizes_.rows * sizes_.columns;
    InterruptPoll poll;
    for (std::int64_t bin = begin; bin < end; ++bin) {
      const Region<T> region = regions_.of(bin / each);
      if (poll.interrupted(64)) return;
      double y = 0, x = 0;
      for (std::int64_t c = 0; c < sizes_.channels && region.image >= 0; c += Sums::kMost) {
        if (!add_channels(region, bin, c, &y, &x, poll)) return;
      }
      T *const own = static_cast<T *>(problem_.grad_offset) + bin / each * 2 * each + bin % each;
      store(own, static_cast<Real>(x) * region.move_x / region.mean);
      store(own + each, static_cast<Real>(y) * region.move_y / region.mean);
    }
  }

  void run() {
    constexpr std::int64_t kValuesPerPiece = 16384;
    parallel_for(sizes_.bins(), kValuesPerPiece / (16 * sizes_.channels) + 1, *this);
  }

 private:
  using Sums = SampleSums<T>;

  // Some channels, from `c` on. False if the call was interrupted.
  bool add_channels(const Region<T> &region, std::int64_t bin, std::int64_t c, double *y_sum, double *x_sum,
                    InterruptPoll &poll) const {
    const std::int64_t count = smaller(Sums::kMost, sizes_.channels - c);
    const T *const image =
        static_cast<const T *>(problem_.input) + region.image * sizes_.height * sizes_.width * sizes_.channels + c;
    const T *const gradient = static_cast<const T *>(problem_.gradient) + bin * sizes_.channels + c;
    Sums by_y(image, sizes_.channels, count), by_x(image, sizes_.channels, count);
    const std::int64_t i = bin / sizes_.columns % sizes_.rows, j = bin % sizes_.columns;
    const bool done = for_samples<Real>(region.bin(i, j), sizes_, poll, [&](Real y, Real x) {
      const BilinearPlace<Real> place(y, x, sizes_.height, sizes_.width);
      if (!place.inside) return !poll.interrupted(8);
      const PixelsAround<Real> row(y, sizes_.height), column(x, sizes_.width);
      const Slopes<Real> slopes =
          problem_.geometry.exact ? exact_slopes(row, column, y, x, place) : vendor_slopes(row, column, y, x, place);
      by_y.add(slopes.y);
      by_x.add(slopes.x);
      return !poll.interrupted(2 * kCorners * count);
    });
    if (!done) return false;
    *y_sum += times_gradient(by_y, gradient);
    *x_sum += times_gradient(by_x, gradient);
    return true;
  }

  static double times_gradient(Sums &sums, const T *gradient) {
    ChannelSum<Real> products;
    sums.finish(1, [&](std::int64_t first, const typename Channels<T>::Sums &sum, std::int64_t left) {
      products.add(first, sum * Channels<T>::load(gradient + first, left));
    });
    return products.total();
  }

  const DeformRoiPoolBackwardProblem &problem_;
  const PoolSizes sizes_;
  const Regions<T> &regions_;
};

template <typename T>
mluOpStatus_t forward(const DeformRoiPoolForwardProblem &problem) {
  const Regions<T> regions{problem.geometry, problem.rois, problem.offset};
  MeanForward<T, Regions<T>>(PoolSizes(problem.geometry), regions, problem.input, problem.output).run();
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t backward(const DeformRoiPoolBackwardProblem &problem) {
  const Regions<T> regions{problem.geometry, problem.rois, problem.offset};
  const PoolSizes sizes(problem.geometry);
  const mluOpStatus_t status = mean_backward<T>(problem.function, sizes, regions, problem.gradient, problem.grad_input);
  if (status != MLUOP_STATUS_SUCCESS || problem.offset == nullptr || interrupted()) return status;
  OffsetGradients<T>(problem, regions).run();
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t deform_roi_pool_forward(const DeformRoiPoolForwardProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return forward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? forward<Half>(problem) : forward<float>(problem);
}

mluOpStatus_t deform_roi_pool_backward(const DeformRoiPoolBackwardProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_deform_roi_pool_forward, deform_roi_pool_forward, DeformRoiPoolForwardProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_deform_roi_pool_backward, deform_roi_pool_backward, DeformRoiPoolBackwardProblem,
                          problem.function);
