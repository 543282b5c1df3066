// Signals on their way between tensors and the lanes of vectors.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_LANES_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_LANES_H_

#include "ops/fourier_transforms/cpu/widths.h"
#include "ops/fourier_transforms/fft.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// How a signal becomes complex numbers: they stand there, two real numbers in a row are one, or
// each real number is one.
enum class Form {
  kComplex,
  kPairs,
  kReal
};

// Where signals lie. Distances are in real numbers.
struct Side {
  const void *data;
  bool half;           // of float16
  std::int64_t outer;  // between signals
  std::int64_t inner;
  std::int64_t element;  // between complex numbers
  std::int64_t part;     // between their parts
  int parts;             // 1: the imaginary parts are 0
  std::int64_t whole;    // complex numbers that are there
  bool more;             // and a real part

  // Complex numbers one after another.
  bool packed() const { return dense() && parts == 2; }
  // Numbers one after another, real ones too.
  bool dense() const { return !half && element == parts && (parts == 1 || part == 1); }
};

inline Side side_of(const void *data, bool half, const FftLayout &layout, int dim, std::int64_t outer,
                    std::int64_t inner, Form form) {
  const std::int64_t step = layout.step[dim], count = layout.count[dim];
  if (form == Form::kComplex) return {data, half, 2 * outer, 2 * inner, 2 * step, 1, 2, count, false};
  if (form == Form::kPairs) return {data, half, outer, inner, 2 * step, step, 2, count / 2, count % 2 != 0};
  return {data, half, outer, inner, step, 0, 1, count, false};
}

template <typename Real>
inline Real read(const Side &side, std::int64_t at) {
  return side.half ? static_cast<Real>(to_float(static_cast<const Half *>(side.data)[at]))
                   : static_cast<const Real *>(side.data)[at];
}

template <typename Real>
inline void write(const Side &side, std::int64_t at, Real value) {
  void *const data = const_cast<void *>(side.data);
  if (side.half) {
    MLUOPS_LEVEL::store(static_cast<Half *>(data) + at, static_cast<float>(value));
  } else {
    static_cast<Real *>(data)[at] = value;
  }
}

// Some signals, one in each lane; lanes beyond `count` hold copies of the last one, or nothing.
template <typename Width>
class Group {
 public:
  typedef typename Width::Real Real;
  typedef typename Width::Vector Vector;
  static constexpr int kWidth = Width::kWidth;

  Group(const Side &side, std::int64_t first, std::int64_t count, std::int64_t inner)
      : side_(side), count_(static_cast<int>(count)) {
    const std::int64_t unit = side.parts == 2 && side.part == 1 ? 2 : 1;
    adjacent_ = !side.half && count_ == kWidth;
    std::int64_t row = first / inner, column = first - row * inner;
    for (int lane = 0; lane < count_; ++lane) {
      offsets_[lane] = row * side.outer + column * side.inner;
      if (++column == inner) ++row, column = 0;
      adjacent_ = adjacent_ && offsets_[lane] == offsets_[0] + lane * unit;
    }
    for (int lane = count_; lane < kWidth; ++lane) offsets_[lane] = offsets_[count_ - 1];
    in_squares_ = side.dense() && sizeof(Real) == sizeof(float) && 2 * count_ > kWidth;
  }

  // Fills n complex numbers, with zeros after those that are there.
  void load(std::int64_t n, bool swap, Pair<Vector> *to) const {
    const std::int64_t whole = smaller(side_.whole, n);
    if (adjacent_) {
      load_adjacent(whole, swap, to);
    } else if (in_squares_) {
      load_squares(whole, swap, to);
    }
    load_rest(adjacent_ || in_squares_ ? whole : 0, whole, n, swap, to);
  }

  void store(std::int64_t n, bool swap, Real scale, const Pair<Vector> *from) const {
    if (adjacent_) return store_adjacent(n, swap, scale, from);
    if (in_squares_) return store_squares(n, swap, scale, from);
    const Real *const values = reinterpret_cast<const Real *>(from);
    for (std::int64_t i = 0; i < n; ++i) {
      for (int part = 0; part < side_.parts; ++part) {
        const Real *const row = values + (2 * i + (part ^ (swap ? 1 : 0))) * kWidth;
        for (int lane = 0; lane < count_; ++lane)
          write(side_, offsets_[lane] + i * side_.element + part * side_.part, scaled(row[lane], scale));
      }
    }
  }

 private:
  const Real *address(int lane) const { return static_cast<const Real *>(side_.data) + offsets_[lane]; }

  template <typename Value>
  static Value scaled(Value value, Real scale) {
    return scale == Real{1} ? value : value * scale;
  }

  void load_adjacent(std::int64_t n, bool swap, Pair<Vector> *to) const {
    const Real *from = address(0);
    for (std::int64_t i = 0; i < n; ++i, from += side_.element) {
      Pair<Vector> pair = {};
      if (side_.part == 1 && side_.parts == 2) {
        pair = load_complex<Width>(from);
      } else {
        pair.re = Width::load(from, kWidth);
        if (side_.parts == 2) pair.im = Width::load(from + side_.part, kWidth);
      }
      to[i] = swap ? swapped(pair) : pair;
    }
  }

  void store_adjacent(std::int64_t n, bool swap, Real scale, const Pair<Vector> *from) const {
    Real *to = const_cast<Real *>(address(0));
    for (std::int64_t i = 0; i < n; ++i, to += side_.element) {
      const Pair<Vector> given = {scaled(from[i].re, scale), scaled(from[i].im, scale)};
      const Pair<Vector> pair = swap ? swapped(given) : given;
      if (side_.part == 1 && side_.parts == 2) {
        store_complex<Width>(to, pair);
      } else {
        Width::store(to, pair.re, kWidth);
        if (side_.parts == 2) Width::store(to + side_.part, pair.im, kWidth);
      }
    }
  }

  // Squares of as many real numbers as there are lanes.
  void load_squares(std::int64_t n, bool swap, Pair<Vector> *to) const {
    const std::int64_t all = n * side_.parts;
    for (std::int64_t i = 0; i < all; i += kWidth) {
      const std::int64_t count = smaller<std::int64_t>(kWidth, all - i);
      Vector rows[kWidth];
      if (count == kWidth) {
        for (int lane = 0; lane < kWidth; ++lane) rows[lane] = Width::load(address(lane) + i, kWidth);
      } else {
        for (int lane = 0; lane < kWidth; ++lane) rows[lane] = Width::load(address(lane) + i, count);
      }
      Width::turn_square(rows);
      if (side_.parts == 1) {
        for (int j = 0; j < count; ++j)
          to[i + j] = swap ? Pair<Vector>{Vector{}, rows[j]} : Pair<Vector>{rows[j], Vector{}};
        continue;
      }
      for (int j = 0; j < count / 2; ++j) {
        const Pair<Vector> pair = {rows[2 * j], rows[2 * j + 1]};
        to[i / 2 + j] = swap ? swapped(pair) : pair;
      }
    }
  }

  void store_squares(std::int64_t n, bool swap, Real scale, const Pair<Vector> *from) const {
    const std::int64_t all = n * side_.parts;
    for (std::int64_t i = 0; i < all; i += kWidth) {
      const std::int64_t count = smaller<std::int64_t>(kWidth, all - i);
      Vector rows[kWidth] = {};
      if (side_.parts == 1) {
        for (int j = 0; j < count; ++j) rows[j] = scaled(swap ? from[i + j].im : from[i + j].re, scale);
      } else {
        for (int j = 0; j < count / 2; ++j) {
          const Pair<Vector> pair = swap ? swapped(from[i / 2 + j]) : from[i / 2 + j];
          rows[2 * j] = scaled(pair.re, scale);
          rows[2 * j + 1] = scaled(pair.im, scale);
        }
      }
      Width::turn_square(rows);
      for (int lane = 0; lane < count_; ++lane) Width::store(const_cast<Real *>(address(lane)) + i, rows[lane], count);
    }
  }

  void load_rest(std::int64_t begin, std::int64_t whole, std::int64_t n, bool swap, Pair<Vector> *to) const {
    Real *const values = reinterpret_cast<Real *>(to);
    if (begin < n) std::memset(to + begin, 0, static_cast<std::size_t>(n - begin) * sizeof *to);
    for (std::int64_t i = begin; i < n; ++i) {
      const int parts = i < whole ? side_.parts : i == whole && side_.more ? 1 : 0;
      for (int part = 0; part < parts; ++part) {
        Real *const row = values + (2 * i + (part ^ (swap ? 1 : 0))) * kWidth;
        for (int lane = 0; lane < count_; ++lane)
          row[lane] = read<Real>(side_, offsets_[lane] + i * side_.element + part * side_.part);
      }
      if (parts == 0) return;
    }
  }

  const Side &side_;
  const int count_;
  bool adjacent_;
  bool in_squares_;
  std::int64_t offsets_[kWidth] = {};
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_LANES_H_
