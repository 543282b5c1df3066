// What correlation in both directions shares on the CPU: rows of the maps of an image in the type
// of sums, with zeros around them, so that a displaced row is read as vectors too.
#ifndef MLUOPS_OPS_CORRELATION_CPU_ROWS_H_
#define MLUOPS_OPS_CORRELATION_CPU_ROWS_H_

#include "cpu/bilinear.h"
#include "cpu/tiles.h"
#include "ops/correlation/correlation.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr int kMostVectors = 4;  // side by side, that a loop over rows computes

// The displacements along an axis that are shorter than the map: others have no products.
struct Displacements {
  explicit Displacements(const CorrelationAxis &axis) : step(axis.dilation_patch) {
    while (begin < axis.patch && axis.displacement(begin) <= -axis.size) ++begin;
    end = begin;
    while (end < axis.patch && axis.displacement(end) < axis.size) ++end;
    first = begin < axis.patch ? axis.displacement(begin) : 0;
    const std::int64_t last = first + (end - begin - 1) * step;
    if (end > begin) farthest = larger(larger(-first, first), larger(-last, last));
  }
  std::int64_t count() const { return end - begin; }
  std::int64_t of(std::int64_t i) const { return first + i * step; }  // counted from `begin`

  std::int64_t step, begin = 0, end, first;
  std::int64_t farthest = 0;  // without its sign
};

// Rows of width `pitch`, of which the map's pixels are those from `left` on.
template <typename Real>
struct RowLayout {
  static constexpr std::int64_t kLanesOfReal = Arithmetic<Real>::kWidth;

  RowLayout(const CorrelationGeometry &g, const Displacements &x)
      : left(x.farthest),
        width((g.x.size + kMostVectors * kLanesOfReal - 1) / (kMostVectors * kLanesOfReal) * kMostVectors *
              kLanesOfReal),
        pitch(2 * left + width) {}

  std::int64_t left;
  std::int64_t width;  // of the map, as whole vectors
  std::int64_t pitch;
};

// The rows of a map of some images: [images, height, channels, pitch].
template <typename T>
class Rows {
 public:
  using Real = SumOf<T>;

  Rows(const CorrelationGeometry &g, const RowLayout<Real> &layout, Real *memory)
      : g_(g), layout_(layout), memory_(memory) {}

  // Values of an image.
  static std::int64_t size(const CorrelationGeometry &g, const RowLayout<Real> &layout) {
    return g.y.size * g.channels * layout.pitch;
  }
  // Images at a time: several small ones, which threads share better than one.
  static std::int64_t images(const CorrelationGeometry &g, const RowLayout<Real> &layout) {
    constexpr std::int64_t kValues = 1 << 20;
    return smaller(g.batches, kValues / size(g, layout) + 1);
  }

  // The pixel at the left rim of the first channel. Rows are counted through the images.
  const Real *row(std::int64_t number) const { return memory_ + number * g_.channels * layout_.pitch + layout_.left; }

  // Takes a row of a map [batches, channels, height, width], of which `first` is the first image
  // here, and tells whether all of it is finite.
  bool take(const void *maps, std::int64_t first, std::int64_t number, InterruptPoll &poll) const {
    const T *const map =
        static_cast<const T *>(maps) + (first + number / g_.y.size) * g_.channels * g_.y.size * g_.x.size;
    const std::int64_t y = number % g_.y.size;
    using Row = Channels<Real>;
    typename Row::Sums odd = {};
    for (std::int64_t c = 0; c < g_.channels && !poll.interrupted(layout_.pitch); ++c) {
      const T *const from = map + (c * g_.y.size + y) * g_.x.size;
      Real *const to = memory_ + (number * g_.channels + c) * layout_.pitch;
      std::memset(to, 0, static_cast<std::size_t>(layout_.pitch) * sizeof(Real));
      for (std::int64_t x = 0; x < g_.x.size; x += Row::kWidth) {
        const typename Row::Sums values = Channels<T>::load(from + x, g_.x.size - x);
        odd += values - values;  // 0, or NaN
        Row::store(to + layout_.left + x, values, g_.x.size - x);
      }
    }
    for (std::int64_t i = 0; i < Row::kWidth; ++i) {
      if (!(odd[i] == 0)) return false;
    }
    return true;
  }

 private:
  const CorrelationGeometry &g_;
  const RowLayout<Real> &layout_;
  Real *const memory_;
};

// The numbers of results whose cell of a kernel is a pixel of the map: result k is at k * stride +
// `start`.
struct ResultsInside {
  ResultsInside(const CorrelationAxis &axis, std::int64_t cell) : start(cell * axis.dilation - axis.pad) {
    begin = start >= 0 ? 0 : (-start + axis.stride - 1) / axis.stride;
    end = start >= axis.size ? 0 : smaller(axis.result, (axis.size - 1 - start) / axis.stride + 1);
  }
  std::int64_t start, begin, end;
};

// Calls body(i, k) for the cells i of a kernel that are at pixel `at` for a result k of a range.
template <typename Body>
inline void for_results_at(const CorrelationAxis &axis, std::int64_t at, std::int64_t begin, std::int64_t end,
                           const Body &body) {
  for (std::int64_t i = 0; i < axis.kernel; ++i) {
    const std::int64_t moved = at + axis.pad - i * axis.dilation;
    if (moved < begin * axis.stride) return;  // later cells are further above
    if (moved % axis.stride == 0 && moved / axis.stride < end) body(i, moved / axis.stride);
  }
}

inline bool has_results(const CorrelationAxis &axis, std::int64_t at) {
  bool has = false;
  for_results_at(axis, at, 0, axis.result, [&](std::int64_t, std::int64_t) { has = true; });
  return has;
}

template <typename Real>
inline typename Arithmetic<Real>::Vector load_vector(const Real *from) {
  typename Arithmetic<Real>::Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <typename Real>
inline void store_vector(Real *to, typename Arithmetic<Real>::Vector vector) {
  std::memcpy(to, &vector, sizeof vector);
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_CORRELATION_CPU_ROWS_H_
