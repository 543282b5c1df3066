// Bilinear samples of maps whose channels lie side by side, by the rule of the detectors: a place
// up to a pixel beside the map counts as on its rim, and one further away samples nothing.
#ifndef MLUOPS_CPU_BILINEAR_H_
#define MLUOPS_CPU_BILINEAR_H_

#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

// Channels of a type as vectors of the type that they are added up in. The last vector may have
// fewer than kWidth.
template <typename T>
struct Channels {
  using Sum = float;
  using Sums = Vector;
  static constexpr std::int64_t kWidth = kLanes;
  static Sums load(const T *from, std::int64_t count) { return load_some(from, count); }
  static void store(T *to, const Sums &sums, std::int64_t count) { store_some(to, sums, count); }
};

template <>
struct Channels<double> {
  using Sum = double;
  typedef double Sums __attribute__((vector_size(kLanes * sizeof(float))));
  static constexpr std::int64_t kWidth = kLanes / 2;
  static Sums load(const double *from, std::int64_t count) {
    Sums sums = {};
    if (count >= kWidth) {
      std::memcpy(&sums, from, sizeof sums);
    } else {
      for (std::int64_t i = 0; i < count; ++i) sums[i] = from[i];
    }
    return sums;
  }
  static void store(double *to, const Sums &sums, std::int64_t count) {
    if (count >= kWidth) {
      std::memcpy(to, &sums, sizeof sums);
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = sums[i];
    }
  }
};

template <typename T>
using SumOf = typename Channels<T>::Sum;

// The two pixels around a coordinate, and the distance from the lower one. A NaN is outside.
template <typename Real>
struct PixelsAround {
  PixelsAround(Real at, std::int64_t extent) : inside(at >= -1 && at <= static_cast<Real>(extent)) {
    const Real place = inside && at > 0 ? at : 0;
    low = static_cast<std::int64_t>(place);
    if (low >= extent - 1) {
      low = high = extent - 1;
    } else {
      high = low + 1;
      part = place - static_cast<Real>(low);
    }
  }
  bool inside;
  std::int64_t low, high;
  Real part = 0;
};

constexpr int kCorners = 4;  // [yl, xl], [yl, xh], [yh, xl], [yh, xh]

// The pixels around a place, and their weights.
template <typename Real>
struct BilinearPlace {
  BilinearPlace() = default;
  BilinearPlace(Real y, Real x, std::int64_t height, std::int64_t width) {
    const PixelsAround<Real> row(y, height), column(x, width);
    inside = row.inside && column.inside;
    const Real upper = 1 - row.part, left = 1 - column.part;
    pixel[0] = row.low * width + column.low;
    pixel[1] = row.low * width + column.high;
    pixel[2] = row.high * width + column.low;
    pixel[3] = row.high * width + column.high;
    weight[0] = upper * left;
    weight[1] = upper * column.part;
    weight[2] = row.part * left;
    weight[3] = row.part * column.part;
  }

  // A vector of channels of the sample. `image` is that of the first of them, and pixels are
  // `channels` apart.
  template <typename T>
  typename Channels<T>::Sums of(const T *image, std::int64_t channels, std::int64_t count) const {
    typename Channels<T>::Sums value = Channels<T>::load(image + pixel[0] * channels, count) * weight[0];
    for (int corner = 1; corner < kCorners; ++corner)
      value += Channels<T>::load(image + pixel[corner] * channels, count) * weight[corner];
    return value;
  }

  bool inside = false;
  std::int64_t pixel[kCorners] = {};
  Real weight[kCorners] = {};
};

// Adds `factor` times some values to sums.
template <typename T>
static inline void add_scaled(SumOf<T> *to, const T *values, SumOf<T> factor, std::int64_t count) {
  using Row = Channels<SumOf<T>>;
  for (std::int64_t c = 0; c < count; c += Row::kWidth) {
    const std::int64_t left = count - c;
    Row::store(to + c, Row::load(to + c, left) + Channels<T>::load(values + c, left) * factor, left);
  }
}

// A sum over channels. Vectors are not as long on every instruction level, so the number of a
// channel says which of the partial sums it belongs to.
template <typename Real>
class ChannelSum {
 public:
  using Row = Channels<Real>;
  // Channels from the `first` on, a multiple of the length of vectors.
  void add(std::int64_t first, const typename Row::Sums &values) {
    Real *const to = parts_ + first % kParts;
    Row::store(to, Row::load(to, Row::kWidth) + values, Row::kWidth);
  }
  double total() const {
    double sum = 0;
    for (int i = 0; i < kParts; ++i) sum += static_cast<double>(parts_[i]);
    return sum;
  }

 private:
  static constexpr int kParts = 16;
  static_assert(kParts % Row::kWidth == 0, "a vector's channels belong to parts side by side");
  Real parts_[kParts] = {};
};

// A number that an image has in an array of real numbers; -1 for none.
template <typename Real>
static inline std::int64_t image_number(Real number, std::int64_t images) {
  if (!(number > -1 && number < static_cast<Real>(images))) return -1;
  const std::int64_t image = static_cast<std::int64_t>(number);
  return image < images ? image : -1;
}

static inline float read_real(const float *place) { return read_once(place); }
static inline double read_real(const double *place) { return read_once(place); }
static inline float read_real(const Half *place) {
  return to_float(Half{__atomic_load_n(&place->bits, __ATOMIC_RELAXED)});
}

template <typename Real>
static inline bool is_finite(Real value) {
  return value - value == 0;
}

// The smallest whole number that is not below `value`, at most 2^31 - 1; 0 if it is not positive.
template <typename Real>
static inline std::int64_t samples_along(Real value) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  if (!(value > 0)) return 0;
  if (value >= static_cast<Real>(kMost)) return kMost;
  const std::int64_t whole = static_cast<std::int64_t>(value);
  return static_cast<Real>(whole) < value ? whole + 1 : whole;
}

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_BILINEAR_H_
