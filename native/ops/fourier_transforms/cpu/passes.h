// Transforms of as many signals as a vector has lanes: one pass for each factor of the length, in
// the order of Stockham, which needs no permutation.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_PASSES_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_PASSES_H_

#include "cpu/tiles.h"
#include "ops/fourier_transforms/tables.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// A complex number in each lane.
template <typename Vector>
struct Pair {
  Vector re;
  Vector im;
};

template <typename Vector>
inline Pair<Vector> operator+(const Pair<Vector> &a, const Pair<Vector> &b) {
  return {a.re + b.re, a.im + b.im};
}

template <typename Vector>
inline Pair<Vector> operator-(const Pair<Vector> &a, const Pair<Vector> &b) {
  return {a.re - b.re, a.im - b.im};
}

template <typename Vector>
inline Pair<Vector> conjugate(const Pair<Vector> &a) {
  return {a.re, -a.im};
}

template <typename Vector>
inline Pair<Vector> swapped(const Pair<Vector> &a) {
  return {a.im, a.re};
}

// a * -i
template <typename Vector>
inline Pair<Vector> turned(const Pair<Vector> &a) {
  return {a.im, -a.re};
}

template <typename Vector, typename Factor>
inline Pair<Vector> times(const Pair<Vector> &a, const Factor &re, const Factor &im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}

// Transforms of `kRadix` values in place. `roots` are cosines and sines of positive angles.
template <int kRadix>
struct Butterfly {
  static_assert(kRadix % 2 == 1, "even ones are special");
  template <typename Vector, typename Real>
  [[gnu::always_inline]] static inline void run(Pair<Vector> *x, const Real *roots) {
    constexpr int kHalf = kRadix / 2;
    Pair<Vector> sum[kHalf], difference[kHalf], first = x[0];
#pragma GCC unroll 16
    for (int j = 0; j < kHalf; ++j) {
      sum[j] = x[j + 1] + x[kRadix - 1 - j];
      difference[j] = x[j + 1] - x[kRadix - 1 - j];
      x[0] = x[0] + sum[j];
    }
#pragma GCC unroll 16
    for (int k = 1; k <= kHalf; ++k) {
      Pair<Vector> a = first, b = {};
#pragma GCC unroll 16
      for (int j = 0; j < kHalf; ++j) {
        const int at = (j + 1) * k % kRadix;
        a.re += sum[j].re * roots[2 * at];
        a.im += sum[j].im * roots[2 * at];
        b.re += difference[j].re * roots[2 * at + 1];
        b.im += difference[j].im * roots[2 * at + 1];
      }
      b = turned(b);
      x[k] = a + b;
      x[kRadix - k] = a - b;
    }
  }
};

template <>
struct Butterfly<2> {
  template <typename Vector, typename Real>
  [[gnu::always_inline]] static inline void run(Pair<Vector> *x, const Real *) {
    const Pair<Vector> first = x[0];
    x[0] = first + x[1];
    x[1] = first - x[1];
  }
};

template <>
struct Butterfly<4> {
  template <typename Vector, typename Real>
  [[gnu::always_inline]] static inline void run(Pair<Vector> *x, const Real *) {
    const Pair<Vector> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  }
};

template <>
struct Butterfly<8> {
  template <typename Vector, typename Real>
  [[gnu::always_inline]] static inline void run(Pair<Vector> *x, const Real *roots) {
    Pair<Vector> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    Butterfly<4>::run(even, roots);
    Butterfly<4>::run(odd, roots);
    const Real diagonal = roots[2];  // cos(pi / 4)
    const Pair<Vector> one = odd[1], three = odd[3];
    odd[1] = {(one.re + one.im) * diagonal, (one.im - one.re) * diagonal};
    odd[2] = turned(odd[2]);
    odd[3] = {(three.im - three.re) * diagonal, (three.re + three.im) * -diagonal};
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      x[k] = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  }
};

template <>
struct Butterfly<9> {
  template <typename Vector, typename Real>
  [[gnu::always_inline]] static inline void run(Pair<Vector> *x, const Real *roots) {
    const Real thirds[6] = {roots[0], roots[1], roots[6], roots[7], roots[12], roots[13]};
    Pair<Vector> columns[3][3];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i) columns[j][i] = x[3 * i + j];
      Butterfly<3>::run(columns[j], thirds);
#pragma GCC unroll 3
      for (int k = 1; k < 3 && j > 0; ++k)
        columns[j][k] = times(columns[j][k], roots[2 * j * k], -roots[2 * j * k + 1]);
    }
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      Pair<Vector> row[3] = {columns[0][k], columns[1][k], columns[2][k]};
      Butterfly<3>::run(row, thirds);
#pragma GCC unroll 3
      for (int q = 0; q < 3; ++q) x[k + 3 * q] = row[q];
    }
  }
};

template <int kRadix, bool kTwiddled, typename Vector, typename Real>
[[gnu::always_inline]] inline void run_butterfly(const FftPass<Real> &pass, const Real *twiddles,
                                                 const Pair<Vector> *from, Pair<Vector> *to) {
  Pair<Vector> x[kRadix];
#pragma GCC unroll 16
  for (int j = 0; j < kRadix; ++j) x[j] = from[j * pass.inside];
  Butterfly<kRadix>::run(x, pass.roots);
  const std::int64_t step = pass.inside * pass.before;
  to[0] = x[0];
#pragma GCC unroll 16
  for (int j = 1; j < kRadix; ++j)
    to[j * step] = kTwiddled ? times(x[j], twiddles[2 * j - 2], twiddles[2 * j - 1]) : x[j];
}

template <int kRadix, typename Vector, typename Real>
[[gnu::noinline]] void run_pass(const FftPass<Real> &pass, const Pair<Vector> *from, Pair<Vector> *to) {
  for (std::int64_t k = 0; k < pass.before; ++k) {
    run_butterfly<kRadix, false>(pass, pass.twiddles, from, to);
    const Real *twiddles = pass.twiddles;
    for (std::int64_t i = 1; i < pass.inside; ++i) {
      twiddles += 2 * (kRadix - 1);
      run_butterfly<kRadix, true>(pass, twiddles, from + i, to + i);
    }
    from += kRadix * pass.inside;
    to += pass.inside;
  }
}

// Any odd factor, at most kMostRadix.
constexpr int kMostRadix = 61;

template <typename Vector, typename Real>
void run_long_butterfly(const FftPass<Real> &pass, const Real *twiddles, const Pair<Vector> *from, Pair<Vector> *to) {
  const int radix = static_cast<int>(pass.radix), half = radix / 2;
  const std::int64_t step = pass.inside * pass.before;
  Pair<Vector> sum[kMostRadix / 2], difference[kMostRadix / 2], all = from[0];
  for (int j = 0; j < half; ++j) {
    const Pair<Vector> a = from[(j + 1) * pass.inside], b = from[(radix - 1 - j) * pass.inside];
    sum[j] = a + b;
    difference[j] = a - b;
    all = all + sum[j];
  }
  for (int k = 1; k <= half; ++k) {
    Pair<Vector> a = from[0], b = {};
    int at = k;
    for (int j = 0; j < half; ++j) {
      const Real cosine = pass.roots[2 * at], sine = pass.roots[2 * at + 1];
      a.re += sum[j].re * cosine;
      a.im += sum[j].im * cosine;
      b.re += difference[j].re * sine;
      b.im += difference[j].im * sine;
      at += k;
      if (at >= radix) at -= radix;
    }
    b = turned(b);
    const Real *const one = twiddles + 2 * (k - 1), *const other = twiddles + 2 * (radix - k - 1);
    to[k * step] = times(a + b, one[0], one[1]);
    to[(radix - k) * step] = times(a - b, other[0], other[1]);
  }
  to[0] = all;
}

template <typename Vector, typename Real>
[[gnu::noinline]] void run_long_pass(const FftPass<Real> &pass, const Pair<Vector> *from, Pair<Vector> *to) {
  for (std::int64_t k = 0; k < pass.before; ++k) {
    for (std::int64_t i = 0; i < pass.inside; ++i)
      run_long_butterfly(pass, pass.twiddles + 2 * (pass.radix - 1) * i, from + k * pass.radix * pass.inside + i,
                         to + k * pass.inside + i);
  }
}

// Transforms `values`, and returns where the result is: there or in `others`.
template <typename Vector, typename Real>
Pair<Vector> *run_steps(const FftSteps<Real> &steps, Pair<Vector> *values, Pair<Vector> *others) {
  for (int number = 0; number < steps.count; ++number) {
    const FftPass<Real> &pass = steps.passes[number];
    switch (pass.radix) {
      case 2:
        run_pass<2>(pass, values, others);
        break;
      case 3:
        run_pass<3>(pass, values, others);
        break;
      case 4:
        run_pass<4>(pass, values, others);
        break;
      case 5:
        run_pass<5>(pass, values, others);
        break;
      case 7:
        run_pass<7>(pass, values, others);
        break;
      case 8:
        run_pass<8>(pass, values, others);
        break;
      case 9:
        run_pass<9>(pass, values, others);
        break;
      case 11:
        run_pass<11>(pass, values, others);
        break;
      case 13:
        run_pass<13>(pass, values, others);
        break;
      default:
        run_long_pass(pass, values, others);
    }
    Pair<Vector> *const result = others;
    others = values;
    values = result;
  }
  return values;
}

// A transform of any length, with room for `table.steps.length` values in both.
template <typename Vector, typename Real>
Pair<Vector> *run_length(const FftLength<Real> &table, Pair<Vector> *values, Pair<Vector> *others) {
  if (table.chirp == nullptr) return run_steps(table.steps, values, others);
  const std::int64_t n = table.length, length = table.steps.length;
  for (std::int64_t k = 0; k < n; ++k) values[k] = times(values[k], table.chirp[2 * k], table.chirp[2 * k + 1]);
  for (std::int64_t k = n; k < length; ++k) values[k] = Pair<Vector>{};
  Pair<Vector> *found = run_steps(table.steps, values, others);
  for (std::int64_t k = 0; k < length; ++k)
    found[k] = swapped(times(found[k], table.spectrum[2 * k], table.spectrum[2 * k + 1]));
  found = run_steps(table.steps, found, found == values ? others : values);
  for (std::int64_t k = 0; k < n; ++k) found[k] = times(swapped(found[k]), table.chirp[2 * k], table.chirp[2 * k + 1]);
  return found;
}

// ---- Half spectra -------------------------------------------------------------------------------

// The spectrum of 2 m real numbers from that of m complex ones. `root` is exp(-2 pi i k / (2 m));
// `one` is value k, `other` value m - k.
template <typename Values, typename Real, typename Factor>
[[gnu::always_inline]] inline void unfold(const Pair<Values> &one, const Pair<Values> &other, const Pair<Factor> &root,
                                          Real weight, Pair<Values> *to, Pair<Values> *to_other) {
  const Pair<Values> sum = one + conjugate(other);
  const Pair<Values> difference = times(turned(one - conjugate(other)), root.re, root.im);
  const Pair<Values> low = sum + difference, high = conjugate(sum - difference);
  const Real half = weight / 2;
  *to = {low.re * half, low.im * half};
  *to_other = {high.re * half, high.im * half};
}

// m complex numbers whose inverse transform has 2 m real ones as parts, from half a spectrum.
template <typename Values, typename Real, typename Factor>
[[gnu::always_inline]] inline void fold(const Pair<Values> &one, const Pair<Values> &other, const Pair<Factor> &root,
                                        Real weight, Pair<Values> *to, Pair<Values> *to_other) {
  const Pair<Values> a = {one.re * weight, one.im * weight}, b = {other.re * weight, -other.im * weight};
  const Pair<Values> sum = a + b;
  const Pair<Values> difference = times(a - b, root.re, -root.im);
  *to_other = conjugate(sum) - turned(conjugate(difference));
  *to = sum - turned(difference);
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_PASSES_H_
