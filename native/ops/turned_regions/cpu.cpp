// RoiAlignRotated on the CPU: the places of the samples of cpu/region_samples.h, and the mixing of
// orientations.
#include "cpu/region_samples.h"
#include "ops/turned_regions/turned_regions.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <typename Real>
struct SampleRow {
  Real along(std::int64_t column) const {
    return start + (static_cast<Real>(column) + static_cast<Real>(0.5)) * step / many;
  }
  Real y(std::int64_t column) const { return across * cosine - along(column) * sine + centre_y; }
  Real x(std::int64_t column) const { return across * sine + along(column) * cosine + centre_x; }
  Real across, start, step, many, sine, cosine, centre_y, centre_x;
};

template <typename Real>
struct Bin {
  static constexpr bool kUpright = false;

  SampleRow<Real> row(std::int64_t number) const {
    const Real up = top + (static_cast<Real>(number) + static_cast<Real>(0.5)) * height / static_cast<Real>(rows);
    return {up, left, width, static_cast<Real>(columns), sine, cosine, centre_y, centre_x};
  }

  // The rows of samples that come near the map: those between the corners of the map, seen from the
  // region, and some more, as rounding moves places that are far away.
  Span rows_near(const PoolSizes &sizes) const {
    const Real x[2] = {-1 - centre_x, static_cast<Real>(sizes.width) - centre_x};
    const Real y[2] = {-1 - centre_y, static_cast<Real>(sizes.height) - centre_y};
    Real low = 0, high = 0, far = 1;
    for (int corner = 0; corner < 4; ++corner) {
      const Real up = y[corner / 2] * cosine + x[corner % 2] * sine, size = up < 0 ? -up : up;
      low = corner == 0 ? up : smaller(low, up);
      high = corner == 0 ? up : larger(high, up);
      far = larger(far, size);
    }
    const Real margin = 1 + (far + (whole < 0 ? -whole : whole)) * static_cast<Real>(1e-5);
    const Span span{first_that(rows, [&](std::int64_t k) { return row(k).across >= low - margin; }),
                    first_that(rows, [&](std::int64_t k) { return row(k).across > high + margin; })};
    return {span.begin, larger(span.begin, span.end)};
  }

  std::int64_t rows, columns;
  Real whole;  // where the region begins, from its centre
  Real top, left, height, width, sine, cosine, centre_y, centre_x;
};

template <typename Real>
struct Region {
  Bin<Real> bin(std::int64_t i, std::int64_t j) const {
    return {rows,
            columns,
            top,
            top + static_cast<Real>(i) * bin_height,
            left + static_cast<Real>(j) * bin_width,
            bin_height,
            bin_width,
            sine,
            cosine,
            centre_y,
            centre_x};
  }
  std::int64_t image, rows, columns;
  Real mean;
  Real top, left, bin_height, bin_width, sine, cosine, centre_y, centre_x;
};

template <typename T>
struct Regions {
  using Real = SumOf<T>;
  Region<Real> of(std::int64_t number) const {
    const T *row = static_cast<const T *>(rois) + number * 6;
    const Real scale = static_cast<Real>(g.spatial_scale), shift = static_cast<Real>(g.shift);
    const Real image = read_real(row), angle = read_real(row + 5);
    Real width = read_real(row + 3) * scale, height = read_real(row + 4) * scale;
    Region<Real> region{};
    region.centre_x = read_real(row + 1) * scale - shift;
    region.centre_y = read_real(row + 2) * scale - shift;
    region.mean = 1;
    const bool finite = is_finite(width) && is_finite(height) && is_finite(region.centre_x) &&
                        is_finite(region.centre_y) && is_finite(angle);
    if (!g.may_be_small) {
      width = larger<Real>(width, 1);
      height = larger<Real>(height, 1);
    }
    region.image = finite && width >= 0 && height >= 0 ? image_number(image, g.batches) : -1;
    if (region.image < 0) return region;
    turn(region, g.clockwise ? -angle : angle);
    region.top = -height / 2;
    region.left = -width / 2;
    region.bin_height = height / static_cast<Real>(g.rows);
    region.bin_width = width / static_cast<Real>(g.columns);
    const SampleGrid grid(g.sampling_ratio, region.bin_height, region.bin_width);
    region.rows = grid.rows;
    region.columns = grid.columns;
    region.mean = static_cast<Real>(grid.count());
    return region;
  }

  // Sine and cosine of double are the same on every level.
  static void turn(Region<Real> &region, Real angle) {
    region.sine = static_cast<Real>(__builtin_sin(static_cast<double>(angle)));
    region.cosine = static_cast<Real>(__builtin_cos(static_cast<double>(angle)));
  }

  const RoiAlignRotatedGeometry &g;
  const void *rois;
};

// ---- Orientations -------------------------------------------------------------------------------

// How much an angle is of each of the two orientations that it lies between.
template <typename Real>
struct Orientation {
  Orientation(Real angle, std::int64_t orientations) : first(0), part(0) {
    if (!(angle - angle == 0)) return;  // not finite: such a region has no values
    const double number = static_cast<double>(angle) * static_cast<double>(orientations) / 6.283185307179586;
    const double below = __builtin_floor(number);
    part = static_cast<Real>(number - below);
    const double turns =
        below - static_cast<double>(orientations) * __builtin_floor(below / static_cast<double>(orientations));
    first = static_cast<std::int64_t>(turns);
    if (first < 0 || first >= orientations) first = 0;
  }
  std::int64_t first;
  Real part;
};

// What mixes the orientations of the channels of bins: first all are pooled as they are.
template <typename T>
class Mixing {
 public:
  explicit Mixing(const RoiAlignRotatedProblem &problem) : problem_(problem), g_(problem.geometry) {}

  // Mixes pooled channels in place.
  void mix(T *pooled) const {
    for_bins([&](std::int64_t bin, const Orientation<T> &angle) {
      T *const values = pooled + bin * g_.channels;
      const std::int64_t n = g_.orientations;
      T room[kMostOrientations];
      for (std::int64_t c = 0; c < g_.channels; c += n) {
        std::memcpy(room, values + c, static_cast<std::size_t>(n) * sizeof(T));
        for (std::int64_t o = 0; o < n; ++o) {
          const std::int64_t first = (o - angle.first + n) % n, second = (first + 1) % n;
          values[c + o] = room[first] * (1 - angle.part) + room[second] * angle.part;
        }
      }
    });
  }

  // What the gradients of mixed channels are for the channels.
  void unmix(const T *gradient, T *to) const {
    for_bins([&](std::int64_t bin, const Orientation<T> &angle) {
      const T *const from = gradient + bin * g_.channels;
      T *const values = to + bin * g_.channels;
      const std::int64_t n = g_.orientations;
      for (std::int64_t c = 0; c < g_.channels; c += n) {
        for (std::int64_t o = 0; o < n; ++o) values[c + o] = 0;
        for (std::int64_t o = 0; o < n; ++o) {
          const std::int64_t first = (o - angle.first + n) % n, second = (first + 1) % n;
          values[c + first] += from[c + o] * (1 - angle.part);
          values[c + second] += from[c + o] * angle.part;
        }
      }
    });
  }

 private:
  template <typename Body>
  void for_bins(const Body &body) const {
    constexpr std::int64_t kValuesPerPiece = 16384;
    auto piece = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t bin = begin; bin < end && !poll.interrupted(2 * g_.channels); ++bin) {
        const T *row = static_cast<const T *>(problem_.rois) + bin / g_.columns / g_.rows * 6;
        body(bin, Orientation<T>(read_real(row + 5), g_.orientations));
      }
    };
    parallel_for(g_.regions * g_.rows * g_.columns, kValuesPerPiece / g_.channels + 1, piece);
  }

  const RoiAlignRotatedProblem &problem_;
  const RoiAlignRotatedGeometry &g_;
};

template <typename T>
mluOpStatus_t forward(const RoiAlignRotatedProblem &problem) {
  const RoiAlignRotatedGeometry &g = problem.geometry;
  const Regions<T> regions{g, problem.rois};
  MeanForward<T, Regions<T>>(PoolSizes(g), regions, problem.source, problem.result).run();
  if constexpr (sizeof(T) == sizeof(SumOf<T>)) {
    if (g.orientations > 1 && !interrupted()) Mixing<T>(problem).mix(static_cast<T *>(problem.result));
  }
  return MLUOP_STATUS_SUCCESS;
}

template <typename T>
mluOpStatus_t backward(const RoiAlignRotatedProblem &problem) {
  const RoiAlignRotatedGeometry &g = problem.geometry;
  const Regions<T> regions{g, problem.rois};
  if constexpr (sizeof(T) == sizeof(SumOf<T>)) {
    if (g.orientations > 1) {
      const Scratch<T> gradient(g.regions * g.rows * g.columns * g.channels);
      if (gradient.data() == nullptr) return out_of_memory(problem.function);
      Mixing<T>(problem).unmix(static_cast<const T *>(problem.source), gradient.data());
      if (interrupted()) return MLUOP_STATUS_SUCCESS;
      return mean_backward<T>(problem.function, PoolSizes(g), regions, gradient.data(), problem.result);
    }
  }
  return mean_backward<T>(problem.function, PoolSizes(g), regions, problem.source, problem.result);
}

}  // namespace

mluOpStatus_t roi_align_rotated_forward(const RoiAlignRotatedProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return forward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? forward<Half>(problem) : forward<float>(problem);
}

mluOpStatus_t roi_align_rotated_backward(const RoiAlignRotatedProblem &problem) {
  if (problem.geometry.type == MLUOP_DTYPE_DOUBLE) return backward<double>(problem);
  return problem.geometry.type == MLUOP_DTYPE_HALF ? backward<Half>(problem) : backward<float>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_align_rotated_forward, roi_align_rotated_forward, RoiAlignRotatedProblem,
                          problem.function);
MLUOPS_DEFINE_COLD_LAUNCH(launch_roi_align_rotated_backward, roi_align_rotated_backward, RoiAlignRotatedProblem,
                          problem.function);
