// PrRoiPool on the CPU. A pixel's part of the map is the product of two tents, one along each axis,
// that are 1 on the pixel and 0 on its neighbours; so is its share of an integral.
#include "cpu/region_samples.h"
#include "ops/precise_regions/precise_regions.h"

MLUOPS_BEGIN_LEVEL
namespace {

// The integral of the tent of a pixel from `low` to `high`. Each slope is a trapezium; a difference
// of antiderivatives would lose the digits of small bins.
template <typename Real>
static inline Real share(Real low, Real high, std::int64_t pixel) {
  const Real begin = low - static_cast<Real>(pixel), end = high - static_cast<Real>(pixel);
  const Real up = larger<Real>(begin, -1), top = smaller<Real>(end, 0);
  const Real down = larger<Real>(begin, 0), bottom = smaller<Real>(end, 1);
  Real area = 0;
  if (top > up) area += (top - up) * (1 + (up + top) / 2);
  if (bottom > down) area += (bottom - down) * (1 - (down + bottom) / 2);
  return area;
}

// A part of an axis, and the pixels of the map that have a share in it.
template <typename Real>
struct Stretch {
  Stretch(Real low, Real high, std::int64_t extent) : low(low), high(high) {
    const Real most = static_cast<Real>(extent);
    begin = low <= 0 ? 0 : low >= most ? extent : static_cast<std::int64_t>(low);
    end = high <= -1 ? 0 : high >= most ? extent : smaller(samples_along(high) + 1, extent);
  }
  Real length() const { return high - low; }
  Real of(std::int64_t pixel) const { return share(low, high, pixel); }
  Real low, high;
  std::int64_t begin, end;
};

template <typename Real>
struct Bin {
  Stretch<Real> y, x;
  Real area;
  bool has_area() const { return area > 0 && is_finite(area); }
};

template <typename Real>
struct Region {
  Bin<Real> bin(std::int64_t i, std::int64_t j, const PoolSizes &sizes) const {
    const Real y = top + static_cast<Real>(i) * height, x = left + static_cast<Real>(j) * width;
    return {{y, y + height, sizes.height}, {x, x + width, sizes.width}, height * width};
  }
  std::int64_t image;
  Real top, left, height, width;  // of the region, and of a bin
};

template <typename T>
struct Regions {
  using Real = SumOf<T>;
  Region<Real> of(std::int64_t number) const {
    const T *row = static_cast<const T *>(rois) + number * 5;
    const Real scale = static_cast<Real>(g.spatial_scale), image = read_real(row);
    const Real x = read_real(row + 1) * scale, y = read_real(row + 2) * scale;
    const Real width = read_real(row + 3) * scale - x, height = read_real(row + 4) * scale - y;
    const bool finite = is_finite(x) && is_finite(y) && is_finite(width) && is_finite(height);
    return {finite ? image_number(image, g.batches) : -1, y, x, larger<Real>(height, 0) / static_cast<Real>(g.rows),
            larger<Real>(width, 0) / static_cast<Real>(g.columns)};
  }
  const PrRoiPoolGeometry &g;
  const void *rois;
};

// ---- Means --------------------------------------------------------------------------------------

template <typename Real>
struct WeighedPixel {
  template <typename T>
  typename Channels<T>::Sums of(const T *image, std::int64_t channels, std::int64_t count) const {
    return Channels<T>::load(image + pixel * channels, count) * weight;
  }
  bool inside;
  std::int64_t pixel;
  Real weight;
};

template <typename T>
class Forward {
 public:
  using Real = SumOf<T>;
  explicit Forward(const PrRoiPoolProblem &problem)
      : problem_(problem), sizes_(problem.geometry), regions_{problem.geometry, problem.rois} {}

  // Bins are counted through all regions.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t number = begin; number < end; ++number) {
      const Region<Real> region = regions_.of(number / sizes_.columns / sizes_.rows);
      const Bin<Real> bin = region.bin(number / sizes_.columns % sizes_.rows, number % sizes_.columns, sizes_);
      for (std::int64_t c = 0; c < sizes_.channels; c += Sums::kMost) {
        if (!pool(region, bin, number, c, poll)) return;
      }
    }
  }

  void run() {
    constexpr std::int64_t kValuesPerPiece = 16384;
    parallel_for(sizes_.bins(), kValuesPerPiece / (16 * sizes_.channels) + 1, *this);
  }

 private:
  using Sums = SampleSums<T, WeighedPixel<Real>>;

  // False if the call was interrupted.
  bool pool(const Region<Real> &region, const Bin<Real> &bin, std::int64_t number, std::int64_t c,
            InterruptPoll &poll) const {
    const std::int64_t count = smaller(Sums::kMost, sizes_.channels - c), image = larger<std::int64_t>(region.image, 0);
    Sums sums(static_cast<const T *>(problem_.source) + image * sizes_.height * sizes_.width * sizes_.channels + c,
              sizes_.channels, count);
    if (poll.interrupted(count)) return false;
    const bool empty = region.image < 0 || !bin.has_area();
    for (std::int64_t i = bin.y.begin; i < bin.y.end && !empty; ++i) {
      const Real row = bin.y.of(i);
      for (std::int64_t j = bin.x.begin; j < bin.x.end; ++j) {
        sums.add({true, i * sizes_.width + j, row * bin.x.of(j)});
        if (poll.interrupted(count)) return false;
      }
    }
    T *const output = static_cast<T *>(problem_.result) + number * sizes_.channels + c;
    sums.finish(empty ? 1 : bin.area, [&](std::int64_t first, const typename Channels<T>::Sums &means,
                                          std::int64_t left) { Channels<T>::store(output + first, means, left); });
    return true;
  }

  const PrRoiPoolProblem &problem_;
  const PoolSizes sizes_;
  const Regions<T> regions_;
};

// ---- Gradients ----------------------------------------------------------------------------------

// Each pixel gets its share of the gradients of the bins.
template <typename T>
mluOpStatus_t backward(const PrRoiPoolProblem &problem) {
  using Real = SumOf<T>;
  const PoolSizes sizes(problem.geometry);
  const Regions<T> regions{problem.geometry, problem.rois};
  const MapBands<T> bands(sizes, problem.result);
  return for_bands(problem.function, bands, [&](const typename MapBands<T>::Band &band, InterruptPoll &poll) {
    const std::int64_t top = band.begin / sizes.width, bottom = band.end / sizes.width;
    auto move_back = [&](const Region<Real> &region, std::int64_t number, std::int64_t i, std::int64_t j) {
      const Bin<Real> bin = region.bin(i, j, sizes);
      if (!bin.has_area()) return !poll.interrupted(8);
      const T *const gradient = static_cast<const T *>(problem.source) + number * sizes.channels;
      for (std::int64_t h = larger(bin.y.begin, top); h < smaller(bin.y.end, bottom); ++h) {
        const Real row = bin.y.of(h);
        for (std::int64_t w = bin.x.begin; w < bin.x.end; ++w) {
          add_scaled(band.sums + (h * sizes.width + w - band.begin) * sizes.channels, gradient,
                     row * bin.x.of(w) / bin.area, sizes.channels);
          if (poll.interrupted(sizes.channels)) return false;
        }
      }
      return !poll.interrupted(8);
    };
    return for_bins_of_image(sizes, regions, band.image, poll, move_back);
  });
}

// The gradient of the corners: where an edge of a bin moves, the integral along the edge is what
// the bin gains, and its mean is what it would have had to gain.
template <typename T>
class CornerGradients {
 public:
  using Real = SumOf<T>;
  explicit CornerGradients(const PrRoiPoolCoorProblem &problem)
      : problem_(problem), sizes_(problem.geometry), regions_{problem.geometry, problem.rois} {}

  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t r = begin; r < end; ++r) {
      double sums[4] = {};
      const Region<Real> region = regions_.of(r);
      if (poll.interrupted(64) || (region.image >= 0 && !add_bins(region, r, sums, poll))) return;
      T *const row = static_cast<T *>(problem_.grad_rois) + r * 5;
      store(row, 0);
      for (int k = 0; k < 4; ++k) store(row + 1 + k, static_cast<Real>(sums[k]));
    }
  }

  void run() { parallel_for(sizes_.regions, 1, *this); }

 private:
  // A corner moves an edge of a bin the more, the nearer it is. False if the call was interrupted.
  bool add_bins(const Region<Real> &region, std::int64_t r, double *sums, InterruptPoll &poll) const {
    const double rows = static_cast<double>(sizes_.rows), columns = static_cast<double>(sizes_.columns);
    for (std::int64_t i = 0; i < sizes_.rows; ++i) {
      for (std::int64_t j = 0; j < sizes_.columns; ++j) {
        double edges[4];  // left, top, right, bottom
        if (!look(region, (r * sizes_.rows + i) * sizes_.columns + j, i, j, edges, poll)) return false;
        const double x = static_cast<double>(j) / columns, next_x = static_cast<double>(j + 1) / columns;
        const double y = static_cast<double>(i) / rows, next_y = static_cast<double>(i + 1) / rows;
        sums[0] += edges[0] * (1 - x) + edges[2] * (1 - next_x);
        sums[1] += edges[1] * (1 - y) + edges[3] * (1 - next_y);
        sums[2] += edges[0] * x + edges[2] * next_x;
        sums[3] += edges[1] * y + edges[3] * next_y;
      }
    }
    return true;
  }

  // What moving each edge of a bin changes. False if the call was interrupted.
  bool look(const Region<Real> &region, std::int64_t number, std::int64_t i, std::int64_t j, double *edges,
            InterruptPoll &poll) const {
    edges[0] = edges[1] = edges[2] = edges[3] = 0;
    const Bin<Real> bin = region.bin(i, j, sizes_);
    if (poll.interrupted(8)) return false;
    if (!bin.has_area()) return true;
    const T *const gradient = static_cast<const T *>(problem_.gradient) + number * sizes_.channels;
    const T *const means = static_cast<const T *>(problem_.output) + number * sizes_.channels;
    const double mean = wanted(means, gradient);
    const double factor =
        static_cast<double>(static_cast<Real>(problem_.geometry.spatial_scale)) / static_cast<double>(bin.area);
    const double height = mean * static_cast<double>(bin.y.length()),
                 width = mean * static_cast<double>(bin.x.length());
    double along[4] = {};
    const bool done = integrate(region.image, gradient, bin.y, bin.x.low, true, &along[0], poll) &&
                      integrate(region.image, gradient, bin.x, bin.y.low, false, &along[1], poll) &&
                      integrate(region.image, gradient, bin.y, bin.x.high, true, &along[2], poll) &&
                      integrate(region.image, gradient, bin.x, bin.y.high, false, &along[3], poll);
    if (!done) return false;
    edges[0] = (height - along[0]) * factor;
    edges[1] = (width - along[1]) * factor;
    edges[2] = (along[2] - height) * factor;
    edges[3] = (along[3] - width) * factor;
    return true;
  }

  // The integral along a stretch of an axis, at a place of the other axis, of all channels times
  // their gradients.
  bool integrate(std::int64_t image, const T *gradient, const Stretch<Real> &stretch, Real at, bool upright,
                 double *total, InterruptPoll &poll) const {
    const std::int64_t across = upright ? 1 : sizes_.width, step = upright ? sizes_.width : 1;
    const Stretch<Real> near(at, at, upright ? sizes_.width : sizes_.height);
    const T *const map =
        static_cast<const T *>(problem_.input) + image * sizes_.height * sizes_.width * sizes_.channels;
    for (std::int64_t k = stretch.begin; k < stretch.end; ++k) {
      const Real length = stretch.of(k);
      for (std::int64_t l = near.begin; l < near.end; ++l) {
        const Real distance = at - static_cast<Real>(l), part = 1 - (distance < 0 ? -distance : distance);
        if (!(part > 0)) continue;
        if (poll.interrupted(sizes_.channels)) return false;
        const double sum = wanted(map + (k * step + l * across) * sizes_.channels, gradient);
        *total += static_cast<double>(length * part) * sum;
      }
    }
    return true;
  }

  // The sum of values times gradients, of the channels whose gradient is not 0.
  double wanted(const T *values, const T *gradient) const {
    ChannelSum<Real> sum;
    for (std::int64_t c = 0; c < sizes_.channels; c += Channels<T>::kWidth) {
      const auto factor = Channels<T>::load(gradient + c, sizes_.channels - c);
      const auto product = Channels<T>::load(values + c, sizes_.channels - c) * factor;
      sum.add(c, factor == 0 ? typename Channels<T>::Sums{} : product);
    }
    return sum.total();
  }

  const PrRoiPoolCoorProblem &problem_;
  const PoolSizes sizes_;
  const Regions<T> regions_;
};

template <typename T>
mluOpStatus_t forward(const PrRoiPoolProblem &problem) {
  Forward<T>(problem).run();
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t coor_backward(const PrRoiPoolCoorProblem &problem) {
  CornerGradients<T>(problem).run();
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t pr_roi_pool_forward(const PrRoiPoolProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return forward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? forward<Half>(problem) : forward<float>(problem);
}

mluOpStatus_t pr_roi_pool_backward(const PrRoiPoolProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

mluOpStatus_t pr_roi_pool_coor_backward(const PrRoiPoolCoorProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return coor_backward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? coor_backward<Half>(problem) : coor_backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_pr_roi_pool_forward, pr_roi_pool_forward, PrRoiPoolProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_pr_roi_pool_backward, pr_roi_pool_backward, PrRoiPoolProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_pr_roi_pool_coor_backward, pr_roi_pool_coor_backward, PrRoiPoolCoorProblem,
                          problem.function);
