// Real signals of an odd length in the lanes of vectors. A first pass makes one real column and
// (radix - 1) / 2 complex ones, whose conjugates are the others; the real column is divided again.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_REAL_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_REAL_H_

#include "ops/fourier_transforms/cpu/passes.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// `values` and `others` have room for the length, `spectrum` for half of it and one.
template <typename Vector, typename Real>
class OddTransform {
 public:
  typedef Pair<Vector> Lanes;

  OddTransform(const FftAxis<Real> &axis, Lanes *values, Lanes *others, Lanes *spectrum)
      : axis_(axis), values_(values), others_(others), spectrum_(spectrum) {}

  // From the real parts of the values to the spectrum.
  void forward(Real weight) const {
    for (int number = 0; number < axis_.level_count; ++number) {
      const FftLevel<Real> &level = axis_.levels[number];
      switch (level.pass.radix) {
        case 3:
          divide<3>(level.pass);
          break;
        case 5:
          divide<5>(level.pass);
          break;
        case 7:
          divide<7>(level.pass);
          break;
        case 9:
          divide<9>(level.pass);
          break;
        default:
          divide<0>(level.pass);
      }
      const std::int64_t half = level.pass.radix / 2, count = level.pass.inside;
      for (std::int64_t k = 1; k <= half; ++k) {
        const Lanes *const column = run_steps(level.steps, others_ + k * count, values_ + k * count);
        for_column(level.pass, k, [&](std::int64_t i, std::int64_t place, bool mirrored) {
          const Lanes value = {column[i].re * weight, column[i].im * weight};
          spectrum_[place] = mirrored ? conjugate(value) : value;
        });
      }
    }
    spectrum_[0] = {values_[0].re, Vector{}};
  }

  // From the spectrum to the real parts of the values, without a factor.
  void inverse(Real weight) const {
    values_[0] = {spectrum_[0].re, Vector{}};
    for (int number = axis_.level_count - 1; number >= 0; --number) {
      const FftLevel<Real> &level = axis_.levels[number];
      const std::int64_t half = level.pass.radix / 2, count = level.pass.inside;
      const Lanes *columns = nullptr;
      for (std::int64_t k = 1; k <= half; ++k) {
        Lanes *const column = others_ + k * count;
        for_column(level.pass, k, [&](std::int64_t i, std::int64_t place, bool mirrored) {
          const Lanes &value = spectrum_[place];
          const Lanes weighted = {value.re * weight, (mirrored ? -value.im : value.im) * weight};
          column[i] = swapped(weighted);  // the inverse exchanges parts before and after
        });
        columns = run_steps(level.steps, column, values_ + k * count) - k * count;
      }
      switch (level.pass.radix) {
        case 3:
          unite<3>(level.pass, columns);
          break;
        case 5:
          unite<5>(level.pass, columns);
          break;
        case 7:
          unite<7>(level.pass, columns);
          break;
        case 9:
          unite<9>(level.pass, columns);
          break;
        default:
          unite<0>(level.pass, columns);
      }
    }
  }

 private:
  // Calls body(i, place, mirrored) for the frequencies k + radix * i of a level: where the spectrum
  // has them, or their conjugates.
  template <typename Body>
  void for_column(const FftPass<Real> &pass, std::int64_t k, const Body &body) const {
    const std::int64_t all = pass.radix * pass.inside;
    std::int64_t i = 0, frequency = k;
    for (; 2 * frequency < all; ++i, frequency += pass.radix) body(i, frequency * pass.before, false);
    for (; i < pass.inside; ++i, frequency += pass.radix) body(i, (all - frequency) * pass.before, true);
  }

  template <int kRadix>
  void divide(const FftPass<Real> &pass) const {
    const int radix = kRadix > 0 ? kRadix : static_cast<int>(pass.radix), half = radix / 2;
    const std::int64_t count = pass.inside;
    const Real *twiddles = pass.twiddles;
    for (std::int64_t i = 0; i < count; ++i, twiddles += 2 * half) {
      Lanes *const x = values_ + i, *const to = others_ + i;
      Vector sum[kMostRadix / 2], difference[kMostRadix / 2], first = x[0].re, all = first;
#pragma GCC unroll 4
      for (int j = 0; j < half; ++j) {
        const Vector one = x[(j + 1) * count].re, other = x[(radix - 1 - j) * count].re;
        sum[j] = one + other;
        difference[j] = one - other;
        all += sum[j];
      }
      x[0].re = all;
#pragma GCC unroll 4
      for (int k = 1; k <= half; ++k) {
        Lanes value = {first, Vector{}};
#pragma GCC unroll 4
        for (int j = 0, at = k; j < half; ++j, at = at + k < radix ? at + k : at + k - radix) {
          value.re += sum[j] * pass.roots[2 * at];
          value.im -= difference[j] * pass.roots[2 * at + 1];
        }
        to[k * count] = times(value, twiddles[2 * k - 2], twiddles[2 * k - 1]);
      }
    }
  }

  template <int kRadix>
  void unite(const FftPass<Real> &pass, const Lanes *columns) const {
    const int radix = kRadix > 0 ? kRadix : static_cast<int>(pass.radix), half = radix / 2;
    const std::int64_t count = pass.inside;
    const Real *twiddles = pass.twiddles;
    for (std::int64_t i = 0; i < count; ++i, twiddles += 2 * half) {
      Lanes *const x = values_ + i, turned[kMostRadix / 2];
      const Vector first = x[0].re;
      Vector all = first;
#pragma GCC unroll 4
      for (int k = 1; k <= half; ++k) {
        const Lanes value = swapped(columns[k * count + i]), twice = {value.re + value.re, value.im + value.im};
        turned[k - 1] = times(twice, twiddles[2 * k - 2], -twiddles[2 * k - 1]);
        all += turned[k - 1].re;
      }
      x[0].re = all;
#pragma GCC unroll 4
      for (int j = 1; j <= half; ++j) {
        Vector even = first, odd = {};
#pragma GCC unroll 4
        for (int k = 0, at = j; k < half; ++k, at = at + j < radix ? at + j : at + j - radix) {
          even += turned[k].re * pass.roots[2 * at];
          odd += turned[k].im * pass.roots[2 * at + 1];
        }
        x[j * count].re = even - odd;
        x[(radix - j) * count].re = even + odd;
      }
    }
  }

  const FftAxis<Real> &axis_;
  Lanes *const values_;
  Lanes *const others_;
  Lanes *const spectrum_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_REAL_H_
