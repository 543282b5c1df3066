// Some rows times a panel of a matrix: a tile of the sums stays in registers.
#ifndef MLUOPS_CPU_ROW_PRODUCT_H_
#define MLUOPS_CPU_ROW_PRODUCT_H_

#include "cpu/tiles.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Adds source @ panel to `columns` values of kRows targets. The panel has kVectors vectors for each
// source channel. kWhole: the columns fill the vectors.
template <typename T, int kRows, int kVectors, bool kWhole>
[[gnu::noinline]] void multiply_rows(const typename Arithmetic<T>::Value *const *sources,
                                     typename Arithmetic<T>::Value *const *targets,
                                     const typename Arithmetic<T>::Value *panel, std::int64_t channels, Tile<T> tile) {
  typedef typename Arithmetic<T>::Value Value;
  typedef typename Arithmetic<T>::Vector Vector;
  constexpr std::int64_t kWidth = Arithmetic<T>::kWidth;
  const std::int64_t columns = kWhole ? kVectors * kWidth : tile.columns;
  const Value *source[kRows];
  Vector sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    source[r] = sources[r];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = load_some(targets[r] + tile.begin + v * kWidth, columns - v * kWidth);
  }
  for (std::int64_t c = 0; c < channels; ++c, panel += kVectors * kWidth) {
    Vector factor[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) std::memcpy(&factor[v], panel + v * kWidth, sizeof factor[v]);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vector value = Arithmetic<T>::everywhere(source[r][c]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Arithmetic<T>::multiply_add(value, factor[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      store_some(targets[r] + tile.begin + v * kWidth, sum[r][v], columns - v * kWidth);
  }
}

template <typename T, int kVectors, bool kWhole, int kRows = kTileRows>
inline void multiply_group(int count, const typename Arithmetic<T>::Value *const *sources,
                           typename Arithmetic<T>::Value *const *targets, const typename Arithmetic<T>::Value *panel,
                           std::int64_t channels, const Tile<T> &tile) {
  if constexpr (kRows > 0) {
    if (count == kRows) return multiply_rows<T, kRows, kVectors, kWhole>(sources, targets, panel, channels, tile);
    multiply_group<T, kVectors, kWhole, kRows - 1>(count, sources, targets, panel, channels, tile);
  }
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_CPU_ROW_PRODUCT_H_
