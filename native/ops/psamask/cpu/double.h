// Both directions for values of 8 bytes, a value at a time.
#ifndef MLUOPS_OPS_PSAMASK_CPU_DOUBLE_H_
#define MLUOPS_OPS_PSAMASK_CPU_DOUBLE_H_

#include "ops/psamask/cpu/map.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Fills lines of a result: calls value(batch, number of the line in it, number in the line) for
// each place.
template <typename Value>
inline void fill_lines(double *result, std::int64_t lines_per_batch, std::int64_t length, std::int64_t begin,
                       std::int64_t end, const Value &value) {
  for (std::int64_t line = begin; line < end && !interrupted(); ++line) {
    for_slices(0, length, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        result[line * length + i] = value(line / lines_per_batch, line % lines_per_batch, i);
    });
  }
}

struct DoubleForward {
  const Map &g;
  const double *mask;
  double *map;

  void operator()(std::int64_t begin, std::int64_t end) const {
    fill_lines(map, g.area, g.area, begin, end, [&](std::int64_t batch, std::int64_t line, std::int64_t i) {
      const bool collects = g.type == PsaType::kCollect;
      const std::int64_t position = collects ? line : i, target = collects ? i : line;
      const std::int64_t row = target / g.width - position / g.width + g.up;
      const std::int64_t column = target % g.width - position % g.width + g.left;
      const bool reaches = row >= 0 && row < g.mask_h && column >= 0 && column < g.mask_w;
      return reaches ? mask[(batch * g.area + position) * g.cells + row * g.mask_w + column] : 0;
    });
  }
};

struct DoubleBackward {
  const Map &g;
  const double *map;
  double *mask;

  void operator()(std::int64_t begin, std::int64_t end) const {
    fill_lines(mask, g.area, g.cells, begin, end, [&](std::int64_t batch, std::int64_t position, std::int64_t cell) {
      const std::int64_t row = position / g.width + cell / g.mask_w - g.up;
      const std::int64_t column = position % g.width + cell % g.mask_w - g.left;
      if (row < 0 || row >= g.height || column < 0 || column >= g.width) return 0.0;
      const std::int64_t target = row * g.width + column;
      const bool collects = g.type == PsaType::kCollect;
      const std::int64_t line = collects ? position : target, i = collects ? target : position;
      return map[(batch * g.area + line) * g.area + i];
    });
  }
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_PSAMASK_CPU_DOUBLE_H_
