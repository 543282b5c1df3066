// One real signal of an odd length after another: the length is a product of two. Two columns of
// real numbers are the parts of a complex one, and half of the rows are the conjugates of the
// others.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_ODD_SPLIT_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_ODD_SPLIT_H_

#include "ops/fourier_transforms/cpu/lanes.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Element i of column c has the number i * n2 + c in a signal of n1 * n2 numbers, and frequency j
// of row k the number k + n1 * j.
template <typename Real>
class OddSingle {
 public:
  typedef Wide<Real> Width;
  typedef typename Width::Vector Vector;
  static constexpr std::int64_t kWidth = Width::kWidth;

  OddSingle(const FftSplit<Real> &split, std::int64_t slots)
      : split_(split),
        slots_(slots),
        n1_(split.first.length),
        n2_(split.second.length),
        rows_(n1_ / 2 + 1),
        longest_(larger(n1_, n2_)) {}

  // Memory for one signal at a time; `slots` threads take part in each.
  void allocate(Arena *arena) {
    blocks_ = arena->allocate<Lanes>(larger(in_vectors(rows_) * n2_, in_vectors(n2_) * rows_));
    lanes_ = arena->allocate<Lanes>(2 * longest_ * slots_);
  }

  // Frequencies but the first have the weight, and all have the scale. `from` and `to` may be the
  // same.
  void forward(const Real *from, Real weight, Real scale, Real *to) const {
    in_tasks(in_vectors((n2_ + 1) / 2),
             [&](std::int64_t task, Lanes *values) { split_columns(from, 2 * kWidth * task, values); });
    in_tasks(in_vectors(rows_), [&](std::int64_t task, Lanes *values) {
      store_rows(task * kWidth, scale / 2, scale * weight / 2, values, to);
    });
  }

  void inverse(const Real *from, Real weight, Real scale, Real *to) const {
    in_tasks(in_vectors(rows_),
             [&](std::int64_t task, Lanes *values) { load_rows(from, task * kWidth, weight, values); });
    in_tasks(in_vectors((n2_ + 1) / 2),
             [&](std::int64_t task, Lanes *values) { unite_columns(2 * kWidth * task, scale, values, to); });
  }

 private:
  typedef Pair<Vector> Lanes;

  static std::int64_t in_vectors(std::int64_t count) { return (count + kWidth - 1) / kWidth; }

  template <typename Body>
  void in_tasks(std::int64_t tasks, const Body &body) const {
    if (interrupted()) return;
    parallel_slots(tasks, smaller(slots_, tasks), [&](int slot, std::int64_t task) {
      if (!interrupted()) body(task, lanes_ + 2 * longest_ * slot);
    });
  }

  // Roots of unity of some columns from `column` on, for the first row.
  const Real *roots_of(std::int64_t column) const {
    return split_.between + column / kFftBlock * n1_ * 2 * kFftBlock + column % kFftBlock;
  }

  static Lanes twiddled(const Lanes &value, const Real *roots) {
    const Vector cosine = Width::load(roots, kWidth), sine = Width::load(roots + kFftBlock, kWidth);
    return times(value, cosine, sine);
  }

  // ---- From numbers to frequencies --------------------------------------------------------------

  // Two vectors of columns, which become parts of the rows, twice as large.
  void split_columns(const Real *from, std::int64_t column, Lanes *values) const {
    const std::int64_t count = smaller(2 * kWidth, n2_ - column);
    if (count == 2 * kWidth) {
      for (std::int64_t i = 0; i < n1_; ++i) values[i] = load_parts<Width>(from + i * n2_ + column, 2 * kWidth);
    } else {
      for (std::int64_t i = 0; i < n1_; ++i) values[i] = load_parts<Width>(from + i * n2_ + column, count);
    }
    const Lanes *const found = run_steps(split_.first, values, values + longest_);
    for (std::int64_t k = 0; k < rows_; k += kWidth) {
      Vector re[2][kWidth] = {}, im[2][kWidth] = {};
      const std::int64_t some = smaller(kWidth, rows_ - k);
      for (std::int64_t j = 0; j < some; ++j) {
        // What the next task loads: the caches do not foresee columns.
        prefetch_value<0, 2>(from, (k + j) * n2_ + column + 4 * kWidth - 1);
        prefetch_value<0, 2>(from, (n1_ - 1 - k - j) * n2_ + column + 4 * kWidth - 1);
        const Lanes one = found[k + j], other = found[k + j == 0 ? 0 : n1_ - k - j];
        const Lanes even = one + conjugate(other), odd = turned(one - conjugate(other));
        const Pair<Vector> all_re = Width::alternating(even.re, odd.re), all_im = Width::alternating(even.im, odd.im);
        re[0][j] = all_re.re;
        re[1][j] = all_re.im;
        im[0][j] = all_im.re;
        im[1][j] = all_im.im;
      }
      for (std::int64_t part = 0; part < 2 && part * kWidth < count; ++part)
        store_block(re[part], im[part], k, column + part * kWidth);
    }
  }

  void store_block(Vector (&re)[kWidth], Vector (&im)[kWidth], std::int64_t row, std::int64_t column) const {
    const Real *roots = roots_of(column) + row * 2 * kFftBlock;
    for (std::int64_t j = 0; j < smaller(kWidth, rows_ - row); ++j, roots += 2 * kFftBlock) {
      const Lanes value = twiddled({re[j], im[j]}, roots);
      re[j] = value.re;
      im[j] = value.im;
    }
    Width::turn_square(re);
    Width::turn_square(im);
    Lanes *const to = blocks_ + row / kWidth * n2_ + column;
    for (std::int64_t j = 0; j < smaller(kWidth, n2_ - column); ++j) to[j] = {re[j], im[j]};
  }

  void store_rows(std::int64_t row, Real first, Real factor, Lanes *values, Real *to) const {
    const std::int64_t count = smaller(kWidth, rows_ - row);
    // Where the next task stores.
    for (std::int64_t j = 0; j <= n2_ / 2; ++j) {
      prefetch_value<1, 2>(to, 2 * (row + 2 * kWidth + n1_ * j) - 1);
      prefetch_value<1, 2>(to, 2 * (n1_ * (j + 1) - row - 2 * kWidth));
    }
    const Lanes *const found = run_steps(split_.second, blocks_ + row / kWidth * n2_, values);
    in_lanes<Width>(count, [&](auto some) {
      for (std::int64_t j = 0; j <= n2_ / 2; ++j)
        store_complex<Width>(to + 2 * (row + n1_ * j), Lanes{found[j].re * factor, found[j].im * factor}, some);
      for (std::int64_t j = n2_ / 2 + 1; j < n2_; ++j)
        store_mirrored({found[j].re * factor, found[j].im * -factor}, n1_ * (n2_ - j) - row, some, to);
    });
    if (row > 0) return;
    to[0] = found[0].re[0] * first;
    to[1] = Real{0} * first;
  }

  // Lane l goes to complex number place - l.
  static void store_mirrored(const Lanes &value, std::int64_t place, std::int64_t count, Real *to) {
    Real *const last = to + 2 * (place + 1);
    if (count == kWidth) {
      store_complex<Width>(last - 2 * kWidth, backwards<Width>(value));
      return;
    }
    Real numbers[2 * kWidth];
    store_complex<Width>(numbers, backwards<Width>(value));
    for (std::int64_t i = 1; i <= 2 * count; ++i) last[-i] = numbers[2 * kWidth - i];
  }

  // ---- From frequencies to numbers: with exchanged parts, as all inverse transforms -------------

  void load_rows(const Real *from, std::int64_t row, Real weight, Lanes *values) const {
    const std::int64_t count = smaller(kWidth, rows_ - row);
    in_lanes<Width>(count, [&](auto some) {
      for (std::int64_t j = 0; j <= n2_ / 2; ++j) {
        const Lanes value = load_complex<Width>(from + 2 * (row + n1_ * j), some);
        values[j] = {value.im * weight, value.re * weight};
      }
      for (std::int64_t j = n2_ / 2 + 1; j < n2_; ++j) {
        const Lanes value = load_mirrored(from, n1_ * (n2_ - j) - row, some);
        values[j] = {value.im * -weight, value.re * weight};
      }
    });
    if (row == 0) {
      values[0].re[0] = Real{0};
      values[0].im[0] = from[0];
    }
    const Lanes *const found = run_steps(split_.second, values, values + longest_);
    for (std::int64_t column = 0; column < n2_; column += kWidth) {
      Vector re[kWidth] = {}, im[kWidth] = {};
      for (std::int64_t j = 0; j < smaller(kWidth, n2_ - column); ++j) {
        prefetch_row(from, row + kWidth, column + j);
        re[j] = found[column + j].re;
        im[j] = found[column + j].im;
      }
      Width::turn_square(re);
      Width::turn_square(im);
      const Real *roots = roots_of(column) + row * 2 * kFftBlock;
      Lanes *const to = blocks_ + column / kWidth * rows_ + row;
      for (std::int64_t j = 0; j < count; ++j, roots += 2 * kFftBlock) to[j] = twiddled({re[j], im[j]}, roots);
    }
  }

  // What the next task loads of a frequency.
  [[gnu::always_inline]] void prefetch_row(const Real *from, std::int64_t row, std::int64_t j) const {
    prefetch_value<0, 2>(from, j <= n2_ / 2 ? 2 * (row + kWidth + n1_ * j) - 1 : 2 * (n1_ * (n2_ - j) - row - kWidth));
  }

  // Complex number place - l becomes lane l.
  static Lanes load_mirrored(const Real *from, std::int64_t place, std::int64_t count) {
    const Real *const last = from + 2 * (place + 1);
    if (count == kWidth) return backwards<Width>(load_complex<Width>(last - 2 * kWidth));
    Real numbers[2 * kWidth] = {};
    for (std::int64_t i = 1; i <= 2 * count; ++i) numbers[2 * kWidth - i] = last[-i];
    return backwards<Width>(load_complex<Width>(numbers));
  }

  void unite_columns(std::int64_t column, Real scale, Lanes *values, Real *to) const {
    const std::int64_t count = smaller(2 * kWidth, n2_ - column);
    const Lanes *const low = blocks_ + column / kWidth * rows_, *const high = count > kWidth ? low + rows_ : low;
    for (std::int64_t k = 0; k < rows_; ++k) {
      const Pair<Vector> re = Width::separated(low[k].re, high[k].re), im = Width::separated(low[k].im, high[k].im);
      const Lanes even = {re.re, im.re}, odd = {re.im, im.im};
      if (k == 0) {
        values[0] = {odd.im, even.im};
      } else {
        values[k] = {odd.im + even.re, even.im - odd.re};
        values[n1_ - k] = {odd.im - even.re, even.im + odd.re};
      }
    }
    // Where the next task stores.
    for (std::int64_t i = 0; i < n1_; ++i) prefetch_value<1, 2>(to, i * n2_ + column + 4 * kWidth - 1);
    const Lanes *const found = run_steps(split_.first, values, values + longest_);
    to += column;
    for (std::int64_t i = 0; i < n1_; ++i, to += n2_) {
      Lanes value = swapped(found[i]);
      if (scale != Real{1}) value = {value.re * scale, value.im * scale};
      if (count == 2 * kWidth) {
        store_parts<Width>(to, value, 2 * kWidth);
      } else {
        store_parts<Width>(to, value, count);
      }
    }
  }

  const FftSplit<Real> &split_;
  const std::int64_t slots_;
  const std::int64_t n1_;
  const std::int64_t n2_;
  const std::int64_t rows_;
  const std::int64_t longest_;
  Lanes *blocks_ = nullptr;
  Lanes *lanes_ = nullptr;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_ODD_SPLIT_H_
