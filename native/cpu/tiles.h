// Vectors of the type that products of matrices are computed in: floats, for halves too, or
// doubles; and the tiles that such products are cut into.
#ifndef MLUOPS_CPU_TILES_H_
#define MLUOPS_CPU_TILES_H_

#include "cpu/vector.h"

namespace mluops {
namespace MLUOPS_LEVEL {

constexpr int kDoubleLanes = kLanes / 2;
typedef double DoubleVector __attribute__((vector_size(kDoubleLanes * sizeof(double))));

static inline DoubleVector load_some(const double *from, std::int64_t count) {
  DoubleVector vector = {};
  if (count >= kDoubleLanes) {
    std::memcpy(&vector, from, sizeof vector);
  } else {
    for (std::int64_t i = 0; i < count; ++i) vector[i] = from[i];
  }
  return vector;
}

static inline void store_some(double *to, DoubleVector vector, std::int64_t count) {
  if (count >= kDoubleLanes) {
    std::memcpy(to, &vector, sizeof vector);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = vector[i];
  }
}

namespace {

// T is the type of the tensors. Floats are multiplied and added with one rounding, which is the
// same on every level; doubles with two.
template <typename T>
struct Arithmetic {
  typedef float Value;
  typedef mluops::MLUOPS_LEVEL::Vector Vector;
  static constexpr int kWidth = kLanes;
  static Vector everywhere(float value) { return all_lanes(value); }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return fused_multiply_add(a, b, c); }
};

template <>
struct Arithmetic<double> {
  typedef double Value;
  typedef DoubleVector Vector;
  static constexpr int kWidth = kDoubleLanes;
  static Vector everywhere(double value) { return value - DoubleVector{}; }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return a * b + c; }
};

inline double widened(double value) { return value; }
inline float widened(float value) { return value; }
inline float widened(Half value) { return to_float(value); }

// Channels and rows that the inner loop keeps in registers: as many as there are without spilling.
#if defined(__AVX512F__)
constexpr int kTileRows = 8;
#elif defined(__AVX2__)
constexpr int kTileRows = 6;
#else
constexpr int kTileRows = 4;
#endif
constexpr int kTileVectors = 2;

// Tiles of channels: as many vectors as fit, but for the last one.
template <typename T>
struct Tile {
  static constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;

  Tile(std::int64_t channels, std::int64_t first)
      : begin(first),
        columns(smaller<std::int64_t>(channels - first, kTileVectors * kWidth)),
        vectors(static_cast<int>((columns + kWidth - 1) / kWidth)) {}

  std::int64_t begin;
  std::int64_t columns;
  int vectors;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_TILES_H_
