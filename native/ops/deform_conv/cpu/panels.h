// The filter as panels that the product of rows reads one after another.
#ifndef MLUOPS_OPS_DEFORM_CONV_CPU_PANELS_H_
#define MLUOPS_OPS_DEFORM_CONV_CPU_PANELS_H_

#include "cpu/row_product.h"
#include "ops/deform_conv/deform_conv.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Which way the channels go: from those of the input to those of the output, or back.
enum class Way {
  kForward,
  kBack
};

// For each group, cell and tile of target channels a panel [source channels, vectors of the tile],
// padded with zeros.
template <typename T>
class FilterPanels {
 public:
  typedef typename Arithmetic<T>::Value Value;

  FilterPanels(const DeformConvGeometry &g, const void *filter, Way way)
      : g_(g),
        filter_(static_cast<const T *>(filter)),
        sources_(way == Way::kForward ? g.group_channels() : g.group_outputs()),
        targets_(way == Way::kForward ? g.group_outputs() : g.group_channels()),
        source_stride_(way == Way::kForward ? 1 : g.cells() * g.group_channels()),
        target_stride_(way == Way::kForward ? g.cells() * g.group_channels() : 1),
        padded_((targets_ + kWidth - 1) / kWidth * kWidth),
        panels_(g.conv_groups * g.cells() * padded_ * sources_) {}

  bool exists() const { return panels_.data() != nullptr; }
  std::int64_t sources() const { return sources_; }
  std::int64_t targets() const { return targets_; }

  void fill() const {
    auto fill_some = [&](std::int64_t begin, std::int64_t end) {
      InterruptPoll poll;
      for (std::int64_t number = begin; number < end; ++number) {
        const std::int64_t group = number / g_.cells(), cell = number % g_.cells();
        for (std::int64_t first = 0; first < targets_; first += kTileVectors * kWidth) {
          if (!fill_tile(group, cell, Tile<T>(targets_, first), poll)) return;
        }
      }
    };
    constexpr std::int64_t kValuesPerPiece = 1 << 14;
    parallel_for(g_.conv_groups * g_.cells(), kValuesPerPiece / (sources_ * targets_) + 1, fill_some);
  }

  // Adds the product of some rows of a group with a cell to as many targets; both begin at the
  // first channel of the group.
  void multiply(std::int64_t group, std::int64_t cell, int rows, const Value *const *sources,
                Value *const *targets) const {
    for (std::int64_t first = 0; first < targets_; first += kTileVectors * kWidth) {
      const Tile<T> tile(targets_, first);
      const Value *const panel = place(group, cell, tile);
      for (int r = 0; r < rows; r += kTileRows)
        multiply_tile(smaller(kTileRows, rows - r), sources + r, targets + r, panel, tile);
    }
  }

 private:
  static constexpr std::int64_t kWidth = Tile<T>::kWidth;

  Value *place(std::int64_t group, std::int64_t cell, const Tile<T> &tile) const {
    return panels_.data() + ((group * g_.cells() + cell) * padded_ + tile.begin) * sources_;
  }

  void multiply_tile(int rows, const Value *const *sources, Value *const *targets, const Value *panel,
                     const Tile<T> &tile) const {
    const bool whole = tile.columns == tile.vectors * kWidth;
    if (tile.vectors == kTileVectors) {
      if (whole) return multiply_group<T, kTileVectors, true>(rows, sources, targets, panel, sources_, tile);
      return multiply_group<T, kTileVectors, false>(rows, sources, targets, panel, sources_, tile);
    }
    if (whole) return multiply_group<T, 1, true>(rows, sources, targets, panel, sources_, tile);
    multiply_group<T, 1, false>(rows, sources, targets, panel, sources_, tile);
  }

  bool fill_tile(std::int64_t group, std::int64_t cell, const Tile<T> &tile, InterruptPoll &poll) const {
    const std::int64_t outputs = g_.group_outputs(), channels = g_.group_channels();
    const T *from = filter_ + group * outputs * g_.cells() * channels + cell * channels + tile.begin * target_stride_;
    Value *to = place(group, cell, tile);
    const std::int64_t width = tile.vectors * kWidth;
    for (std::int64_t s = 0; s < sources_; ++s, from += source_stride_, to += width) {
      if (poll.interrupted(width)) return false;
      for (std::int64_t t = 0; t < tile.columns; ++t) to[t] = widened(from[t * target_stride_]);
      for (std::int64_t t = tile.columns; t < width; ++t) to[t] = 0;
    }
    return true;
  }

  const DeformConvGeometry &g_;
  const T *const filter_;
  const std::int64_t sources_, targets_, source_stride_, target_stride_, padded_;
  const Scratch<Value> panels_;
};

// Positions that are multiplied together: as many as let `values` for each stay in the L2 cache,
// and no more than give every thread some.
inline std::int64_t positions_together(std::int64_t positions, std::int64_t values) {
  constexpr std::int64_t kMost = 48, kValues = 1 << 18;
  const std::int64_t shared = positions / (2 * thread_count()) + 1;
  const std::int64_t wanted = smaller(smaller(kMost, kValues / (values + 1) + 1), shared);
  return (wanted + kTileRows - 1) / kTileRows * kTileRows;
}
constexpr int kMostTogether = 56;  // 48, rounded up to whole tiles

// Pointers to rows that stand `stride` values apart.
template <typename Value>
inline void rows_of(Value *first, std::int64_t stride, std::int64_t rows, Value **found) {
  for (std::int64_t r = 0; r < rows; ++r) found[r] = first + r * stride;
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_DEFORM_CONV_CPU_PANELS_H_
