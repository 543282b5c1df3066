// RoiPool on the CPU. The largest pixels of a vector of channels stay in registers.
#include "cpu/region_samples.h"
#include "ops/pooled_regions/pooled_regions.h"

MLUOPS_BEGIN_LEVEL
namespace {

constexpr float kLowest = -3.402823466e+38f;

// The whole number below a number that is not negative.
template <typename Real>
Real whole_below(Real value) {
  if (!(value < static_cast<Real>(std::int64_t{1} << 50))) return value;  // whole, or not finite
  return static_cast<Real>(static_cast<std::int64_t>(value));
}

// Half away from zero.
template <typename Real>
Real nearest_whole(Real value) {
  const Real size = value < 0 ? -value : value, whole = whole_below(size);
  const Real near = size - whole >= static_cast<Real>(0.5) ? whole + 1 : whole;
  return value < 0 ? -near : near;
}

// The first pixel at or behind a place, within a map.
template <typename Real>
std::int64_t pixel_at(Real place, std::int64_t extent) {
  if (!(place > 0)) return 0;
  return place < static_cast<Real>(extent) ? static_cast<std::int64_t>(place) : extent;
}

template <typename Real>
std::int64_t pixel_behind(Real place, std::int64_t extent) {
  const std::int64_t pixel = pixel_at(place, extent);
  return pixel < extent && static_cast<Real>(pixel) < place ? pixel + 1 : pixel;
}

// One axis of a region.
template <typename Real>
struct Axis {
  Axis(Real low, Real high, const RoiPoolGeometry &g, std::int64_t bins) : rounded(g.rounded) {
    const Real scale = static_cast<Real>(g.spatial_scale);
    Real size;
    if (rounded) {
      start = nearest_whole(low * scale);
      size = nearest_whole(high * scale) - start + 1;
    } else {
      start = low * scale;
      size = (high + 1) * scale - start;
    }
    // A size of minus infinity must not become that of a pixel.
    finite = is_finite(start) && is_finite(size);
    step = (rounded && size < 1 ? 1 : size) / static_cast<Real>(bins);
  }
  bool has_pixels() const { return finite && step > 0; }

  Span bin(std::int64_t number, std::int64_t extent) const {
    const Real low = static_cast<Real>(number) * step, high = static_cast<Real>(number + 1) * step;
    if (!rounded) return {pixel_at(start + low, extent), pixel_behind(start + high, extent)};
    const Real last = whole_below(high);
    return {pixel_at(whole_below(low) + start, extent), pixel_at((last < high ? last + 1 : last) + start, extent)};
  }

  bool rounded, finite;
  Real start, step;
};

template <typename T>
class Forward {
 public:
  using Real = SumOf<T>;
  using Sums = typename Channels<T>::Sums;
  using Numbers = decltype(Sums{} > Sums{});  // as wide as the values
  using Number = decltype(Numbers{}[0] + 0);
  explicit Forward(const RoiPoolForwardProblem &problem) : problem_(problem), g_(problem.geometry) {}

  // Bins are counted through all regions.
  void operator()(std::int64_t begin, std::int64_t end) const {
    InterruptPoll poll;
    for (std::int64_t bin = begin; bin < end; ++bin) {
      const T *row = static_cast<const T *>(problem_.rois) + bin / g_.columns / g_.rows * 5;
      const std::int64_t image = image_number(read_real(row), g_.batches);
      const Axis<Real> x(read_real(row + 1), read_real(row + 3), g_, g_.columns);
      const Axis<Real> y(read_real(row + 2), read_real(row + 4), g_, g_.rows);
      Span rows{0, 0}, columns{0, 0};
      if (image >= 0 && x.has_pixels() && y.has_pixels()) {
        rows = y.bin(bin / g_.columns % g_.rows, g_.height);
        columns = x.bin(bin % g_.columns, g_.width);
      }
      if (!pool(bin, larger<std::int64_t>(image, 0), rows, columns, poll)) return;
    }
  }

  void run() {
    constexpr std::int64_t kValuesPerPiece = 16384;
    parallel_for(g_.regions * g_.rows * g_.columns, kValuesPerPiece / (16 * g_.channels) + 1, *this);
  }

 private:
  static constexpr std::int64_t kWidth = Channels<T>::kWidth;

  // False if the call was interrupted.
  bool pool(std::int64_t bin, std::int64_t image, const Span &rows, const Span &columns, InterruptPoll &poll) const {
    const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
    for (std::int64_t c = 0; c < g_.channels; c += kWidth) {
      const std::int64_t left = g_.channels - c, place = bin * g_.channels + c;
      const T *const from = static_cast<const T *>(problem_.input) + image * g_.height * g_.width * g_.channels + c;
      Sums best = Sums{} + static_cast<Real>(empty ? 0 : kLowest);
      Numbers number = Numbers{} - 1;
      for (std::int64_t h = rows.begin; h < rows.end && !empty; ++h) {
        if (poll.interrupted((columns.end - columns.begin) * kWidth)) return false;
        for (std::int64_t w = columns.begin; w < columns.end; ++w)
          take(Channels<T>::load(from + (h * g_.width + w) * g_.channels, left), h * g_.width + w, best, number);
      }
      if (poll.interrupted(kWidth)) return false;
      Channels<T>::store(static_cast<T *>(problem_.output) + place, best, left);
      for (std::int64_t i = 0; i < smaller(kWidth, left); ++i)
        problem_.argmax[place + i] = static_cast<std::int32_t>(number[i]);
    }
    return true;
  }

  // Of equal pixels the first one stays.
  void take(const Sums &value, std::int64_t pixel, Sums &best, Numbers &number) const {
    const Numbers wins = g_.rounded ? (number < 0) | ~(best >= value) : value > best;
    best = wins ? value : best;
    number = wins ? Numbers{} + static_cast<Number>(pixel) : number;
  }

  const RoiPoolForwardProblem &problem_;
  const RoiPoolGeometry &g_;
};

// What the backward direction knows of a region.
template <typename T>
struct Images {
  struct Region {
    std::int64_t image;
  };
  Region of(std::int64_t number) const {
    return {image_number(read_real(static_cast<const T *>(rois) + number * 5), batches)};
  }
  const void *rois;
  std::int64_t batches;
};

template <typename T>
mluOpStatus_t backward(const RoiPoolBackwardProblem &problem) {
  const RoiPoolGeometry &g = problem.geometry;
  const PoolSizes sizes(g);
  const Images<T> images{problem.rois, g.batches};
  const MapBands<T> bands(sizes, problem.grad_input);
  return for_bands(problem.function, bands, [&](const typename MapBands<T>::Band &band, InterruptPoll &poll) {
    auto move_back = [&](const auto &, std::int64_t bin, std::int64_t, std::int64_t) {
      const T *const gradient = static_cast<const T *>(problem.gradient) + bin * g.channels;
      for (std::int64_t c = 0; c < g.channels; ++c) {
        const std::int64_t pixel = read_once(problem.argmax + bin * g.channels + c);
        if (band.has(pixel)) band.sums[(pixel - band.begin) * g.channels + c] += to_sum(gradient[c]);
      }
      return !poll.interrupted(2 * g.channels);
    };
    return for_bins_of_image(sizes, images, band.image, poll, move_back);
  });
}

}  // namespace

mluOpStatus_t roi_pool_forward(const RoiPoolForwardProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) {
    Forward<double>(problem).run();
  } else if (problem.geometry.type == MLUOP_DTYPE_HALF) {
    Forward<Half>(problem).run();
  } else {
    Forward<float>(problem).run();
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t roi_pool_backward(const RoiPoolBackwardProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_pool_forward, roi_pool_forward, RoiPoolForwardProblem, problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_pool_backward, roi_pool_backward, RoiPoolBackwardProblem, problem.function);
