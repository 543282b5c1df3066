// Sites of the spaces of GetIndicePairs on a core of the device: their numbers, their images under
// filter cells, and their places among sorted rows.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_BANG_SITE_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_BANG_SITE_H_

#include <bang.h>

#include "ops/get_indice_pairs/bang/policy.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// Sites of a space are numbered in ascending order of (batch, depth, height, width); the number
// after the last one is valid too, as the end of a range.
struct Site {
  std::int64_t batch;
  std::int64_t at[kSpaceDims];
};

// A cell of the filter.
struct Cell {
  int at[kSpaceDims];
};

__mlu_func__ Site site_of(std::int64_t number, std::int64_t depth, std::int64_t height, std::int64_t width) {
  Site site;
  site.at[2] = number % width;
  number /= width;
  site.at[1] = number % height;
  number /= height;
  site.at[0] = number % depth;
  site.batch = number / depth;
  return site;
}

__mlu_func__ Site input_site(const SparsePlan &plan, std::int64_t number) {
  return site_of(number, plan.axis[0].inputs, plan.axis[1].inputs, plan.axis[2].inputs);
}

__mlu_func__ Site output_site(const SparsePlan &plan, std::int64_t number) {
  return site_of(number, plan.axis[0].outputs, plan.axis[1].outputs, plan.axis[2].outputs);
}

__mlu_func__ Cell cell_of(const SparsePlan &plan, int number) {
  Cell cell;
  cell.at[2] = number % plan.axis[2].cells;
  number /= plan.axis[2].cells;
  cell.at[1] = number % plan.axis[1].cells;
  cell.at[0] = number / plan.axis[1].cells;
  return cell;
}

// Number of the first input site that the cell leads to the output or, where possible, to a later
// one.
__mlu_func__ std::int64_t first_input(const SparsePlan &plan, const Site &output, const Cell &cell) {
  std::int64_t number = output.batch;
  bool past = false;  // set: the first site of a line or slab, for any remaining coordinates
  for (int a = 0; a < kSpaceDims; ++a) {
    const SparseAxis &axis = plan.axis[a];
    number *= axis.inputs;
    if (past) continue;
    const std::int64_t from =
        output.at[a] * axis.stride - axis.pad + static_cast<std::int64_t>(cell.at[a]) * axis.dilation;
    past = from < 0 || from >= axis.inputs;
    if (from > 0) number += past ? axis.inputs : from;
  }
  return number;
}

// Number of the first output to which the cell can lead this input site or a later one.
__mlu_func__ std::int64_t first_output(const SparsePlan &plan, const Site &input, const Cell &cell) {
  std::int64_t number = input.batch;
  bool past = false;
  for (int a = 0; a < kSpaceDims; ++a) {
    const SparseAxis &axis = plan.axis[a];
    number *= axis.outputs;
    if (past) continue;
    const std::int64_t scaled = input.at[a] + axis.pad - static_cast<std::int64_t>(cell.at[a]) * axis.dilation;
    past = scaled < 0;
    if (scaled <= 0) continue;
    const std::int64_t to = (scaled - 1) / axis.stride + 1;
    past = to >= axis.outputs || to * axis.stride != scaled;
    number += to >= axis.outputs ? axis.outputs : to;
  }
  return number;
}

// Shift of the cell in outputs, for divided coordinates: input, or (input + pad) / stride.
__mlu_func__ std::int64_t shift_of(const SparseAxis &axis, int cell) {
  if (axis.stride != 1) return cell / axis.stride;
  return static_cast<std::int64_t>(cell) * axis.dilation - axis.pad;
}

// The same for all axes, as a difference of numbers modulo 2^32.
__mlu_func__ unsigned int shift_of(const SparsePlan &plan, const Cell &cell) {
  unsigned int shift = 0;
  for (int a = 0; a < kSpaceDims; ++a) {
    shift = shift * static_cast<unsigned int>(plan.axis[a].outputs) +
            static_cast<unsigned int>(shift_of(plan.axis[a], cell.at[a]));
  }
  return shift;
}

// Numbers of sites in ascending order, as words.
struct SiteList {
  int *low;
  int *high;  // null if one word is enough
};

__mlu_func__ std::int64_t number_at(const SiteList &list, int i) {
  const std::int64_t low = static_cast<unsigned int>(list.low[i]);
  return list.high == nullptr ? low : (static_cast<std::int64_t>(list.high[i]) << 32) + low;
}

// Returns the number of values below `number` among the first `count`, which ascend.
__mlu_func__ int count_below(const SiteList &list, int count, std::int64_t number) {
  int below = 0;
  while (below < count) {
    const int middle = (below + count) / 2;
    if (number_at(list, middle) < number) {
      below = middle + 1;
    } else {
      count = middle;
    }
  }
  return below;
}

// One field of the sorted rows: a word of the number of the site, or the number of the row.
__mlu_func__ int *sorted_field(const SparsePlan &plan, int side, int field) {
  return plan.memory.sorted[side] + static_cast<std::int64_t>(field) * plan.rows;
}

// Finds sorted rows by site: first among samples in NRAM, then among the rows between two samples,
// which it loads.
struct RowFinder {
  SiteList rows;     // in device memory
  SiteList samples;  // one in sample_step of them
  SiteList window;   // the rows from sample `loaded` on
  int loaded;
};

// Uses search_ints ints at `next`.
__mlu_func__ RowFinder make_finder(const SparsePlan &plan, int side, int *next) {
  const bool wide = plan.words_in > 1;
  RowFinder finder;
  finder.rows.low = sorted_field(plan, side, 0);
  finder.samples.low = next;
  finder.window.low = finder.samples.low + plan.samples;
  finder.rows.high = wide ? sorted_field(plan, side, 1) : nullptr;
  finder.samples.high = wide ? finder.window.low + plan.sample_step : nullptr;
  finder.window.high = wide ? finder.samples.high + plan.samples : nullptr;
  finder.loaded = -1;
  const int step = plan.sample_step * 4;
  __memcpy(finder.samples.low, finder.rows.low, 4, GDRAM2NRAM, 4, step, plan.samples - 1);
  if (wide) __memcpy(finder.samples.high, finder.rows.high, 4, GDRAM2NRAM, 4, step, plan.samples - 1);
  return finder;
}

// Number of sorted rows whose sites are below `number`.
__mlu_func__ int rows_below(const SparsePlan &plan, RowFinder &finder, std::int64_t number) {
  const int sample = count_below(finder.samples, plan.samples, number) - 1;
  if (sample < 0) return 0;
  const int begin = sample * plan.sample_step;
  const int left = plan.rows - begin;
  const int count = left < plan.sample_step ? left : plan.sample_step;
  if (finder.loaded != sample) {
    __memcpy(finder.window.low, finder.rows.low + begin, count * 4, GDRAM2NRAM);
    if (finder.window.high != nullptr) {
      __memcpy(finder.window.high, finder.rows.high + begin, count * 4, GDRAM2NRAM);
    }
    finder.loaded = sample;
  }
  return begin + count_below(finder.window, count, number);
}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_BANG_SITE_H_
