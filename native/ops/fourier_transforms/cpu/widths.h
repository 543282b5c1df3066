// Vectors that signals lie in: as wide as the instruction level allows for many signals, and of
// four lanes for few. What a lane computes is the same in both.
#ifndef MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_WIDTHS_H_
#define MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_WIDTHS_H_

#include <type_traits>

#include "ops/fourier_transforms/cpu/passes.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

struct Evens {
  static constexpr int of(int k) { return 2 * k; }
};
struct Odds {
  static constexpr int of(int k) { return 2 * k + 1; }
};
template <int kFirst>
struct Alternately {
  static constexpr int of(int k) { return (k % 2 == 0 ? 0 : kLanes) + kFirst + k / 2; }
};
struct Backwards {
  static constexpr int of(int k) { return kLanes - 1 - k; }
};

// Vectors of the level.
template <typename T>
struct Wide {
  typedef T Real;
  typedef mluops::MLUOPS_LEVEL::Vector Vector;
  static constexpr int kWidth = kLanes;

  // The first `count` values, if there are fewer than lanes.
  static Vector load(const float *from, std::int64_t count) { return load_some(from, count); }
  static void store(float *to, Vector vector, std::int64_t count) { store_some(to, vector, count); }

  // The values at even and at odd places of a and b.
  static Pair<Vector> separated(Vector a, Vector b) {
    return {pick<Evens>(a, b, AllLanes()), pick<Odds>(a, b, AllLanes())};
  }
  // The opposite: the first and the second half of them, as parts of a pair.
  static Pair<Vector> alternating(Vector even, Vector odd) {
    return {pick<Alternately<0>>(even, odd, AllLanes()), pick<Alternately<kLanes / 2>>(even, odd, AllLanes())};
  }
  static Vector backwards(Vector a) { return pick<Backwards>(a, a, AllLanes()); }
  static void turn_square(Vector (&rows)[kLanes]) { transpose(rows); }
};

template <>
struct Wide<double> {
  typedef double Real;
  typedef DoubleVector Vector;
  static constexpr int kWidth = kDoubleLanes;

  static Vector load(const double *from, std::int64_t count) { return load_some(from, count); }
  static void store(double *to, Vector vector, std::int64_t count) { store_some(to, vector, count); }

  static Pair<Vector> separated(Vector a, Vector b) {
    Pair<Vector> pair = {};
    for (int i = 0; i < kWidth; ++i) {
      pair.re[i] = 2 * i < kWidth ? a[2 * i] : b[2 * i - kWidth];
      pair.im[i] = 2 * i < kWidth ? a[2 * i + 1] : b[2 * i + 1 - kWidth];
    }
    return pair;
  }
  static Pair<Vector> alternating(Vector even, Vector odd) {
    Pair<Vector> pair = {};
    for (int i = 0; i < kWidth; ++i) {
      pair.re[i] = i % 2 == 0 ? even[i / 2] : odd[i / 2];
      pair.im[i] = i % 2 == 0 ? even[(i + kWidth) / 2] : odd[(i + kWidth) / 2];
    }
    return pair;
  }
  static Vector backwards(Vector a) {
    Vector turned = {};
    for (int i = 0; i < kWidth; ++i) turned[i] = a[kWidth - 1 - i];
    return turned;
  }
  static void turn_square(Vector (&rows)[kWidth]) {
    for (int i = 0; i < kWidth; ++i) {
      for (int j = 0; j < i; ++j) {
        const double value = rows[i][j];
        rows[i][j] = rows[j][i];
        rows[j][i] = value;
      }
    }
  }
};

// Vectors of four floats; doubles have those of the level.
template <typename T>
struct Narrow {
  typedef T Real;
  typedef float Vector __attribute__((vector_size(4 * sizeof(float))));
  static constexpr int kWidth = 4;

  static Vector load(const float *from, std::int64_t count) {
    Vector vector = {};
    if (count >= kWidth) {
      std::memcpy(&vector, from, sizeof vector);
    } else {
      for (std::int64_t i = 0; i < count; ++i) vector[i] = from[i];
    }
    return vector;
  }
  static void store(float *to, Vector vector, std::int64_t count) {
    if (count >= kWidth) {
      std::memcpy(to, &vector, sizeof vector);
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = vector[i];
    }
  }

  static Pair<Vector> separated(Vector a, Vector b) {
    return {__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7)};
  }
  static Pair<Vector> alternating(Vector even, Vector odd) {
    return {__builtin_shufflevector(even, odd, 0, 4, 1, 5), __builtin_shufflevector(even, odd, 2, 6, 3, 7)};
  }
  static Vector backwards(Vector a) { return __builtin_shufflevector(a, a, 3, 2, 1, 0); }
  static void turn_square(Vector (&rows)[kWidth]) {
    const Pair<Vector> even = alternating(rows[0], rows[2]), odd = alternating(rows[1], rows[3]);
    const Pair<Vector> low = alternating(even.re, odd.re), high = alternating(even.im, odd.im);
    rows[0] = low.re;
    rows[1] = low.im;
    rows[2] = high.re;
    rows[3] = high.im;
  }
};

template <>
struct Narrow<double> : Wide<double> {};

// ---- Complex numbers one after another, one for each lane ---------------------------------------

// The number of lanes, known when the code is compiled.
template <typename Width>
using AllOf = std::integral_constant<std::int64_t, Width::kWidth>;

// Calls body(count) with a count that the compiler knows if it is that of all lanes, so that loops
// look at it once.
template <typename Width, typename Body>
inline void in_lanes(std::int64_t count, const Body &body) {
  if (count == Width::kWidth) {
    body(AllOf<Width>());
  } else {
    body(count);
  }
}

// The first `numbers` parts, the others 0.
template <typename Width>
inline Pair<typename Width::Vector> load_parts(const typename Width::Real *from, std::int64_t numbers) {
  return Width::separated(Width::load(from, numbers), Width::load(from + Width::kWidth, numbers - Width::kWidth));
}

template <typename Width>
inline void store_parts(typename Width::Real *to, const Pair<typename Width::Vector> &pair, std::int64_t numbers) {
  const Pair<typename Width::Vector> both = Width::alternating(pair.re, pair.im);
  Width::store(to, both.re, numbers);
  Width::store(to + Width::kWidth, both.im, numbers - Width::kWidth);
}

// `count` is a number, or AllOf<Width>().
template <typename Width, typename Count = AllOf<Width>>
inline Pair<typename Width::Vector> load_complex(const typename Width::Real *from, Count count = Count()) {
  return load_parts<Width>(from, 2 * count);
}

template <typename Width, typename Count = AllOf<Width>>
inline void store_complex(typename Width::Real *to, const Pair<typename Width::Vector> &pair, Count count = Count()) {
  store_parts<Width>(to, pair, 2 * count);
}

template <typename Width>
inline Pair<typename Width::Vector> backwards(const Pair<typename Width::Vector> &a) {
  return {Width::backwards(a.re), Width::backwards(a.im)};
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_FOURIER_TRANSFORMS_CPU_WIDTHS_H_
