// Sums of outer products of pairs of rows: a tile of the sums stays in registers.
#ifndef MLUOPS_CPU_OUTER_PRODUCT_H_
#define MLUOPS_CPU_OUTER_PRODUCT_H_

#include "cpu/tiles.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// The rows of some pairs.
template <typename Value>
struct ChunkRows {
  static constexpr std::int64_t kMost = 64;

  const Value *features[kMost];
  const Value *outputs[kMost];
  std::int64_t count = 0;
};

// Adds to sums[i, o] the products features[p][feature + i] * outputs[p][output + o] of all pairs,
// for kRows of i and kVectors vectors of o. Rows of the sums are `stride` values apart.
template <typename T, int kRows, int kVectors>
[[gnu::noinline]] void add_products(const ChunkRows<typename Arithmetic<T>::Value> &rows, std::int64_t feature,
                                    std::int64_t output, typename Arithmetic<T>::Value *sums, std::int64_t stride) {
  typedef typename Arithmetic<T>::Value Value;
  typedef typename Arithmetic<T>::Vector Vector;
  constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(&sum[r][v], sums + r * stride + v * kWidth, sizeof sum[r][v]);
  }
  const std::int64_t count = rows.count;
  std::int64_t p = 0;
  do {  // there is a pair; a loop that might run no times would keep a second copy of the sums in memory
    const Value *left = rows.features[p] + feature, *right = rows.outputs[p] + output;
    Vector factor[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(&factor[v], right + v * kWidth, sizeof factor[v]);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vector value = Arithmetic<T>::everywhere(left[r]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Arithmetic<T>::multiply_add(value, factor[v], sum[r][v]);
    }
  } while (++p < count);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(sums + r * stride + v * kWidth, &sum[r][v], sizeof sum[r][v]);
  }
}

// `features` is the number of features from `feature` on.
template <typename T, int kVectors, int kRows = kTileRows>
inline void add_tile(std::int64_t features, const ChunkRows<typename Arithmetic<T>::Value> &rows, std::int64_t feature,
                     std::int64_t output, typename Arithmetic<T>::Value *sums, std::int64_t stride) {
  if constexpr (kRows > 0) {
    if (features >= kRows) return add_products<T, kRows, kVectors>(rows, feature, output, sums, stride);
    add_tile<T, kVectors, kRows - 1>(features, rows, feature, output, sums, stride);
  }
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_OUTER_PRODUCT_H_
