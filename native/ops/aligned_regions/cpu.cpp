// RoiAlign on the CPU. Means are those of cpu/region_samples.h; here are the places of the samples,
// and the largest of them.
#include "cpu/region_samples.h"
#include "ops/aligned_regions/aligned_regions.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <typename Real>
struct Region {
  UprightBin<Real> bin(std::int64_t i, std::int64_t j) const {
    return {rows, columns, top + static_cast<Real>(i) * height, left + static_cast<Real>(j) * width, height, width};
  }
  std::int64_t image, rows, columns;
  Real mean;
  Real top, left, height, width;  // of the region, and of a bin
};

template <typename T>
struct Regions {
  using Real = SumOf<T>;
  Region<Real> of(std::int64_t number) const {
    const T *row = static_cast<const T *>(rois) + number * 5;
    const Real scale = static_cast<Real>(g.spatial_scale), shift = static_cast<Real>(g.aligned ? 0.5 : 0);
    const Real image = read_real(row);
    const Real x1 = read_real(row + 1) * scale - shift, y1 = read_real(row + 2) * scale - shift;
    Real width = (read_real(row + 3) * scale - shift) - x1, height = (read_real(row + 4) * scale - shift) - y1;
    Region<Real> region{};
    region.mean = 1;
    region.image =
        is_finite(width) && is_finite(height) && is_finite(x1) && is_finite(y1) ? image_number(image, g.batches) : -1;
    if (region.image < 0) return region;
    if (!g.aligned) {
      width = larger<Real>(width, 1);
      height = larger<Real>(height, 1);
    }
    region.top = y1;
    region.left = x1;
    region.height = height / static_cast<Real>(g.rows);
    region.width = width / static_cast<Real>(g.columns);
    const SampleGrid grid(g.sampling_ratio, region.height, region.width);
    region.rows = grid.rows;
    region.columns = grid.columns;
    region.mean = static_cast<Real>(grid.count());
    return region;
  }
  const RoiAlignGeometry &g;
  const void *rois;
};

// The largest samples of some channels so far, and where they are.
template <typename T>
class Largest {
 public:
  using Real = SumOf<T>;
  using Sums = typename Channels<T>::Sums;
  static constexpr std::int64_t kWidth = Channels<T>::kWidth;
  static constexpr std::int64_t kMost = 256;

  Largest(const T *image, std::int64_t channels, std::int64_t count, Real begin)
      : image_(image), channels_(channels), count_(count) {
    for (std::int64_t i = 0; i < kMost; ++i) {
      best_[i] = begin;
      y_[i] = x_[i] = -1;
    }
  }

  // Of equal samples the first one stays. A NaN is never larger. One beside the map is 0.
  void take(Real y, Real x, std::int64_t height, std::int64_t width) {
    const BilinearPlace<Real> place(y, x, height, width);
    for (std::int64_t c = 0; c < count_; c += kWidth) {
      Sums value = {};
      if (place.inside) value = place.of(image_ + c, channels_, count_ - c);
      for (std::int64_t i = c; i < smaller(c + kWidth, count_); ++i) {
        const bool wins = value[i - c] > best_[i];
        best_[i] = wins ? value[i - c] : best_[i];
        y_[i] = wins ? y : y_[i];
        x_[i] = wins ? x : x_[i];
      }
    }
  }

  void write(T *best, T *y, T *x) const {
    for (std::int64_t c = 0; c < count_; c += kWidth) {
      Channels<T>::store(best + c, Channels<Real>::load(best_ + c, count_ - c), count_ - c);
      Channels<T>::store(y + c, Channels<Real>::load(y_ + c, count_ - c), count_ - c);
      Channels<T>::store(x + c, Channels<Real>::load(x_ + c, count_ - c), count_ - c);
    }
  }

 private:
  const T *const image_;
  const std::int64_t channels_, count_;
  alignas(kCacheLine) Real best_[kMost], y_[kMost], x_[kMost];
};

template <typename T>
class LargestForward {
 public:
  using Real = SumOf<T>;
  explicit LargestForward(const RoiAlignForwardProblem &problem)
      : problem_(problem), g_(problem.geometry), regions_{g_, problem.rois} {}

  // Bins are counted through all regions.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t bin = begin; bin < end; ++bin) {
      const Region<Real> region = regions_.of(bin / g_.columns / g_.rows);
      for (std::int64_t c = 0; c < g_.channels; c += Largest<T>::kMost) {
        if (!pool(region, bin, c, poll)) return;
      }
    }
  }

  void run() {
    constexpr std::int64_t kValuesPerPiece = 16384;
    parallel_for(g_.regions * g_.rows * g_.columns, kValuesPerPiece / (16 * g_.channels) + 1, *this);
  }

 private:
  bool pool(const Region<Real> &region, std::int64_t bin, std::int64_t c, InterruptPoll &poll) const {
    constexpr float kLowest = -3.402823466e+38f;
    const std::int64_t count = smaller(Largest<T>::kMost, g_.channels - c), place = bin * g_.channels + c;
    const std::int64_t image = larger<std::int64_t>(region.image, 0);
    Largest<T> largest(static_cast<const T *>(problem_.input) + image * g_.height * g_.width * g_.channels + c,
                       g_.channels, count, region.image < 0 ? 0 : static_cast<Real>(kLowest));
    if (poll.interrupted(count)) return false;
    if (region.image >= 0 && !look(region.bin(bin / g_.columns % g_.rows, bin % g_.columns), largest, count, poll))
      return false;
    largest.write(static_cast<T *>(problem_.output) + place, static_cast<T *>(problem_.argmax_y) + place,
                  static_cast<T *>(problem_.argmax_x) + place);
    return true;
  }

  // Of samples that lie beside the map only the first one of a bin can be the largest.
  bool look(const UprightBin<Real> &bin, Largest<T> &largest, std::int64_t count, InterruptPoll &poll) const {
    bool beside = false;
    auto take = [&](const UprightRow<Real> &row, std::int64_t column) {
      largest.take(row.y(column), row.x(column), g_.height, g_.width);
    };
    const PoolSizes sizes(g_);
    const Span rows = rows_inside<Real>(bin, sizes);
    if (rows.begin > 0 && bin.columns > 0) {
      take(bin.row(0), 0);
      beside = true;
    }
    for (std::int64_t k = rows.begin; k < rows.end; ++k) {
      const UprightRow<Real> row = bin.row(k);
      const Span columns = columns_inside<Real>(row, bin.columns, sizes);
      const bool empty = columns.begin >= columns.end;
      if (!beside && (empty || columns.begin > 0) && bin.columns > 0) {
        take(row, 0);
        beside = true;
      }
      for (std::int64_t l = columns.begin; l < columns.end; ++l) {
        if (poll.interrupted(8 * count)) return false;
        take(row, l);
      }
      if (!beside && columns.end < bin.columns) {
        take(row, columns.end);
        beside = true;
      }
    }
    if (!beside && rows.end < bin.rows && bin.columns > 0) take(bin.row(rows.end), 0);
    return true;
  }

  const RoiAlignForwardProblem &problem_;
  const RoiAlignGeometry &g_;
  const Regions<T> regions_;
};

template <typename T>
mluOpStatus_t forward(const RoiAlignForwardProblem &problem) {
  if (problem.geometry.largest) {
    LargestForward<T>(problem).run();
    return MLUOP_STATUS_SUCCESS;
  }
  const Regions<T> regions{problem.geometry, problem.rois};
  MeanForward<T, Regions<T>>(PoolSizes(problem.geometry), regions, problem.input, problem.output).run();
  return MLUOP_STATUS_SUCCESS;
}

// Each gradient goes to the pixels around the largest sample.
template <typename T>
mluOpStatus_t largest_backward(const RoiAlignBackwardProblem &problem) {
  using Real = SumOf<T>;
  const RoiAlignGeometry &g = problem.geometry;
  const PoolSizes sizes(g);
  const Regions<T> regions{g, problem.rois};
  const MapBands<T> bands(sizes, problem.grad_input);
  return for_bands(problem.function, bands, [&](const typename MapBands<T>::Band &band, InterruptPoll &poll) {
    auto move_back = [&](const Region<Real> &, std::int64_t bin, std::int64_t, std::int64_t) {
      for (std::int64_t c = 0; c < g.channels; ++c) {
        const std::int64_t at = bin * g.channels + c;
        const Real y = read_real(static_cast<const T *>(problem.argmax_y) + at);
        if (y == -1) continue;
        const BilinearPlace<Real> place(y, read_real(static_cast<const T *>(problem.argmax_x) + at), g.height, g.width);
        const Real gradient = to_sum(static_cast<const T *>(problem.gradient)[at]);
        for (int corner = 0; corner < kCorners && place.inside; ++corner) {
          if (band.has(place.pixel[corner]))
            band.sums[(place.pixel[corner] - band.begin) * g.channels + c] += gradient * place.weight[corner];
        }
      }
      return !poll.interrupted(8 * g.channels);
    };
    return for_bins_of_image(sizes, regions, band.image, poll, move_back);
  });
}

template <typename T>
mluOpStatus_t backward(const RoiAlignBackwardProblem &problem) {
  if (problem.geometry.largest) return largest_backward<T>(problem);
  const Regions<T> regions{problem.geometry, problem.rois};
  return mean_backward<T>(problem.function, PoolSizes(problem.geometry), regions, problem.gradient, problem.grad_input);
}

}  // namespace

mluOpStatus_t roi_align_forward(const RoiAlignForwardProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return forward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? forward<Half>(problem) : forward<float>(problem);
}

mluOpStatus_t roi_align_backward(const RoiAlignBackwardProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_align_forward, roi_align_forward, RoiAlignForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_align_backward, roi_align_backward, RoiAlignBackwardProblem, problem.function);
