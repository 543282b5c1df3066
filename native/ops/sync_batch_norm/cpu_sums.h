// Blocks of few values and what they add to the sums of their channel.
#ifndef MLUOPS_OPS_SYNC_BATCH_NORM_CPU_SUMS_H_
#define MLUOPS_OPS_SYNC_BATCH_NORM_CPU_SUMS_H_

#include "cpu/tiles.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

constexpr std::int64_t kChannelsOfPiece = 64;  // rows: whose partial sums stay in the cache
constexpr std::int64_t kColumnsOfPiece = 512;  // columns: likewise
constexpr int kLanesOfSum = 16;                // on every level
constexpr int kVectors = kLanesOfSum / kDoubleLanes;
constexpr std::int64_t kBlock = 128;       // values of a row that are added before they go to the partial sums
constexpr std::int64_t kRowsOfBlock = 32;  // columns: rows that are added before they go to the partial sums

// The next values, as many as a vector of doubles has.
inline DoubleVector widen(const float *from) {
  typedef float Narrow __attribute__((vector_size(kDoubleLanes * sizeof(float))));
  Narrow vector;
  std::memcpy(&vector, from, sizeof vector);
  return __builtin_convertvector(vector, DoubleVector);
}

inline DoubleVector widen(const double *from) { return load_some(from, kDoubleLanes); }

inline double exact(float value) { return value; }
inline double exact(double value) { return value; }
inline double exact(Half value) { return to_float(value); }

// The first `count` values, the others 0.
template <typename T>
inline DoubleVector widen_some(const T *from, std::int64_t count) {
  T values[kDoubleLanes] = {};
  for (std::int64_t i = 0; i < smaller<std::int64_t>(count, kDoubleLanes); ++i) values[i] = from[i];
  return widen(values);
}

// The first `count` lanes, the others 0.
inline DoubleVector first_lanes(DoubleVector vector, std::int64_t count) {
  for (int i = 0; i < kDoubleLanes; ++i) vector[i] = i < count ? vector[i] : 0;
  return vector;
}

inline Vector first_lanes(Vector vector, std::int64_t count) { return masked(vector, window_bits(0, count)); }

// The types in which a block of few values is summed up, before its two sums go to those of the
// channel, which are double. `own` is a number of the channel that the terms need.
template <typename T>
struct Terms {
  typedef typename Arithmetic<T>::Value Real;
  typedef typename Arithmetic<T>::Vector Vector;
  static constexpr int kWidth = Arithmetic<T>::kWidth;
};

// For mean and variance: distances from a value of the block, and their squares. That value is
// within sqrt(n) deviations of the mean of the block, and n is small, so the squares keep the
// variance of the block, however far from 0 the values are. The sums of a channel are of distances
// from a value of the channel, which in double keeps the variance of the whole likewise.
template <typename T>
struct Moments : Terms<T> {
  using typename Terms<T>::Real;
  using typename Terms<T>::Vector;
  using Terms<T>::kWidth;
  const T *x;

  // The distances are from values of the block, which begins at `at`.
  Vector constant(std::int64_t at, const Real *) const {
    const Vector value = load_some(x + at, kWidth);
    return value - value == Vector{} ? value : Vector{};  // no distance from an infinity is finite
  }
  Real one_constant(std::int64_t at, Real) const {
    const Real value = widened(x[at]);
    return value - value == 0 ? value : 0;
  }
  void get(std::int64_t at, Vector shift, Vector &first, Vector &second) const {
    first = load_some(x + at, kWidth) - shift;
    second = first * first;
  }
  void get_some(std::int64_t at, std::int64_t count, Vector shift, Vector &first, Vector &second) const {
    first = first_lanes(load_some(x + at, count) - shift, count);
    second = first * first;
  }
  void get_one(std::int64_t at, Real shift, Real &first, Real &second) const {
    first = widened(x[at]) - shift;
    second = first * first;
  }
  // Changes sums of distances from `shift` to those of distances from `own`; of `count` values
  // `first_rest` and `second_rest` are to be added.
  template <typename Number>
  static void change(Number shift, Number own, double count, Number &first, Number &second, Number &first_rest,
                     Number &second_rest) {
    const Number apart = shift - own;
    second += 2 * apart * first;
    first_rest = apart * count;
    second_rest = apart * first_rest;
  }
};

// For the gradients: the gradient, and its products with distances from the mean.
template <typename T>
struct Products : Terms<T> {
  using typename Terms<T>::Real;
  using typename Terms<T>::Vector;
  using Terms<T>::kWidth;
  const T *dz;
  const T *x;

  Vector constant(std::int64_t, const Real *means) const { return load_some(means, kWidth); }
  Real one_constant(std::int64_t, Real mean) const { return mean; }
  void get(std::int64_t at, Vector mean, Vector &first, Vector &second) const {
    first = load_some(dz + at, kWidth);
    second = first * (load_some(x + at, kWidth) - mean);
  }
  void get_some(std::int64_t at, std::int64_t count, Vector mean, Vector &first, Vector &second) const {
    first = load_some(dz + at, count);
    second = first_lanes(first * (load_some(x + at, count) - mean), count);
  }
  void get_one(std::int64_t at, Real mean, Real &first, Real &second) const {
    first = widened(dz[at]);
    second = first * (widened(x[at]) - mean);
  }
  template <typename Number>
  static void change(Number, Number, double, Number &, Number &, Number &first_rest, Number &second_rest) {
    first_rest = second_rest = Number{};
  }
};

// The partial sums of a channel: lanes, and what belongs to no lane.
struct Sums {
  DoubleVector first[kVectors] = {};
  DoubleVector second[kVectors] = {};
  double first_rest = 0;
  double second_rest = 0;
};

// Halves the number of lanes until one is left.
inline double total(const DoubleVector *vectors) {
  DoubleVector sums[kVectors];
  std::memcpy(sums, vectors, sizeof sums);
  for (int half = kVectors / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  double lanes[kDoubleLanes];
  std::memcpy(lanes, sums, sizeof lanes);
  for (int half = kDoubleLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// At most kBlock values of a row.
template <typename Kind>
inline void add_block(const Kind &terms, std::int64_t at, std::int64_t count, typename Kind::Real own, Sums *to) {
  typedef typename Kind::Real Real;
  typedef typename Kind::Vector Vector;
  constexpr int kWidth = Kind::kWidth, kCount = kLanesOfSum / kWidth;
  const Real constant = terms.one_constant(at, own);
  const Vector constants = Arithmetic<Real>::everywhere(constant);
  Vector firsts[kCount] = {}, seconds[kCount] = {}, first, second;
  std::int64_t i = 0;
  for (; i + kLanesOfSum <= count; i += kLanesOfSum) {
#pragma GCC unroll 8
    for (int v = 0; v < kCount; ++v) {
      terms.get(at + i + v * kWidth, constants, first, second);
      firsts[v] += first;
      seconds[v] += second;
    }
  }
  if (i < count) {
#pragma GCC unroll 8
    for (int v = 0; v < kCount; ++v) {
      const std::int64_t left = count - i - v * kWidth;
      if (left > 0) {
        terms.get_some(at + i + v * kWidth, left, constants, first, second);
        firsts[v] += first;
        seconds[v] += second;
      }
    }
  }
  const Real *const first_lane = reinterpret_cast<const Real *>(firsts);
  const Real *const second_lane = reinterpret_cast<const Real *>(seconds);
  const DoubleVector shift = DoubleVector{} + static_cast<double>(constant);
  const DoubleVector owns = DoubleVector{} + static_cast<double>(own);
  DoubleVector first_rest, second_rest;
  for (int v = 0; v < kVectors; ++v) {
    DoubleVector one = widen(first_lane + v * kDoubleLanes), another = widen(second_lane + v * kDoubleLanes);
    Kind::change(shift, owns, static_cast<double>(count), one, another, first_rest, second_rest);
    to->first[v] += one;
    to->second[v] += another;
  }
  to->first_rest += first_rest[0];
  to->second_rest += second_rest[0];
}

// Some columns of a block of rows, added one after another, as they lie in memory, to sums that
// stay in the cache. Reading rows together is slower where they are a power of two apart.
template <typename Kind>
class ColumnBlock {
 public:
  typedef typename Kind::Real Real;
  typedef typename Kind::Vector Vector;

  ColumnBlock(const Kind &terms, std::int64_t stride, std::int64_t columns)
      : terms_(terms), stride_(stride), columns_(columns), whole_(columns / kWidth * kWidth) {}

  void add(std::int64_t at, std::int64_t rows, const Real *own, double *firsts, double *seconds) {
    for (std::int64_t c = 0; c < whole_; c += kWidth)
      store_some(constants_ + c, terms_.constant(at + c, own + c), kWidth);
    for (std::int64_t c = whole_; c < columns_; ++c) constants_[c] = terms_.one_constant(at + c, own[c]);
    for (std::int64_t c = 0; c < columns_; ++c) firsts_[c] = seconds_[c] = 0;
    for (std::int64_t row = 0; row < rows; ++row) add_row(at + row * stride_);
    std::int64_t c = 0;
    DoubleVector first_rest, second_rest;
    for (; c + kDoubleLanes <= columns_; c += kDoubleLanes) {
      DoubleVector first = widen(firsts_ + c), second = widen(seconds_ + c);
      Kind::change(widen(constants_ + c), widen(own + c), static_cast<double>(rows), first, second, first_rest,
                   second_rest);
      store_some(firsts + c, load_some(firsts + c, kDoubleLanes) + first + first_rest, kDoubleLanes);
      store_some(seconds + c, load_some(seconds + c, kDoubleLanes) + second + second_rest, kDoubleLanes);
    }
    for (; c < columns_; ++c) {
      double first = exact(firsts_[c]), second = exact(seconds_[c]), rest, other_rest;
      Kind::change(exact(constants_[c]), exact(own[c]), static_cast<double>(rows), first, second, rest, other_rest);
      firsts[c] = firsts[c] + first + rest;
      seconds[c] = seconds[c] + second + other_rest;
    }
  }

 private:
  static constexpr int kWidth = Kind::kWidth;

  // Works on copies, since the compiler must take a store for a change of any member.
  void add_row(std::int64_t at) {
    const Kind terms = terms_;
    const std::int64_t whole = whole_, columns = columns_;
    for (std::int64_t c = 0; c < whole; c += kWidth) {
      Vector first, second;
      terms.get(at + c, load_some(constants_ + c, kWidth), first, second);
      store_some(firsts_ + c, load_some(firsts_ + c, kWidth) + first, kWidth);
      store_some(seconds_ + c, load_some(seconds_ + c, kWidth) + second, kWidth);
    }
    for (std::int64_t c = whole; c < columns; ++c) {
      Real first, second;
      terms.get_one(at + c, constants_[c], first, second);
      firsts_[c] += first;
      seconds_[c] += second;
    }
  }

  const Kind &terms_;
  const std::int64_t stride_, columns_, whole_;
  alignas(kCacheLine) Real constants_[kColumnsOfPiece];
  alignas(kCacheLine) Real firsts_[kColumnsOfPiece];
  alignas(kCacheLine) Real seconds_[kColumnsOfPiece];
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_SYNC_BATCH_NORM_CPU_SUMS_H_
