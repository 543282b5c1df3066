// Rows in NRAM: reading, sorting, and describing them for the filter cells.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_BANG_ROWS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_BANG_ROWS_H_

#include <bang.h>

#include "ops/get_indice_pairs/bang/site.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// ---- Tasks and vectors --------------------------------------------------------------------------

__mlu_func__ int least(int a, int b) { return a < b ? a : b; }

// The range of `count` items that this task processes.
struct Share {
  int begin, end;
};

__mlu_func__ Share share_of(int count) {
  Share share;
  share.begin = static_cast<int>(static_cast<std::int64_t>(count) * taskId / taskDim);
  share.end = static_cast<int>(static_cast<std::int64_t>(count) * (taskId + 1) / taskDim);
  return share;
}

// The next `count` ints of NRAM.
__mlu_func__ int *allocate(int **next, int count) {
  int *const taken = *next;
  *next += count;
  return taken;
}

__mlu_func__ void load(int *to, const int *from, int count) { __memcpy(to, from, count * 4, GDRAM2NRAM); }
__mlu_func__ void store(int *to, int *from, int count) { __memcpy(to, from, count * 4, NRAM2GDRAM); }

// values[i] = i
__mlu_func__ void count_up(int *values, int count) {
  values[0] = 0;
  for (int done = 1; done < count; done *= 2) {
    __bang_add_scalar(values + done, values, done, least(done, count - done));
  }
}

// Compacts the values whose mask is nonzero to the front of `to`, and returns their number. The
// rest of `to` is lost.
__mlu_func__ int filter(int *to, int *from, int *mask, int count) {
  return __bang_filter(reinterpret_cast<float *>(to), reinterpret_cast<float *>(from), reinterpret_cast<float *>(mask),
                       count);
}

__mlu_func__ void shift_right(int *to, int *from, int bits, int count) {
  __bang_srl(reinterpret_cast<unsigned int *>(to), reinterpret_cast<unsigned int *>(from), bits, count);
}

// ---- Reading ------------------------------------------------------------------------------------

// The first of `count` sites with a coordinate outside of its extent, or -1. `coordinates` has a
// line for each axis.
__mlu_func__ int first_outside(const SparsePlan &plan, int *coordinates, int count, int *inside, int *scratch) {
  for (int a = 0; a <= kSpaceDims; ++a) {
    int *const line = coordinates + a * count;
    int *const above = a == 0 ? inside : scratch;
    __bang_ge_scalar(above, line, 0, count);
    if (a != 0) __bang_band(inside, inside, above, count);
    __bang_lt_scalar(scratch, line, a == 0 ? plan.batch : plan.axis[a - 1].inputs, count);
    __bang_band(inside, inside, scratch, count);
  }
  __bang_not(inside, inside, count);
  return static_cast<int>(__bang_findfirst1(reinterpret_cast<float *>(inside), count));
}

// Lower words of the numbers of sites; products and sums are right modulo 2^32.
__mlu_func__ void number_sites(const SparsePlan &plan, int *low, int *coordinates, int count) {
  for (int a = 0; a < kSpaceDims; ++a) {
    __bang_mul_scalar(low, a == 0 ? coordinates : low, plan.axis[a].inputs, count);
    __bang_add(low, low, coordinates + (a + 1) * count, count);
  }
}

__mlu_func__ void number_sites_high(const SparsePlan &plan, int *high, int *coordinates, int count) {
  for (int i = 0; i < count; ++i) {
    std::int64_t number = coordinates[i];
    for (int a = 0; a < kSpaceDims; ++a) number = number * plan.axis[a].inputs + coordinates[(a + 1) * count + i];
    high[i] = static_cast<int>(number >> 32);
  }
}

// ---- Sorting ------------------------------------------------------------------------------------

// Some rows in NRAM, field by field: the words of their sites' numbers, the lower one first, then
// the numbers of the rows.
struct Fields {
  int *field[kMostWords + 1];
};

__mlu_func__ Fields allocate_fields(int **next, int size) {
  Fields fields;
  for (int f = 0; f <= kMostWords; ++f) fields.field[f] = allocate(next, size);
  return fields;
}

__mlu_func__ void load_fields(const SparsePlan &plan, int side, int at, int count, const Fields &fields) {
  for (int f = 0; f <= plan.words_in; ++f) load(fields.field[f], sorted_field(plan, side, f) + at, count);
}

__mlu_func__ void store_fields(const SparsePlan &plan, int side, int at, int count, const Fields &fields) {
  for (int f = 0; f <= plan.words_in; ++f) store(sorted_field(plan, side, f) + at, fields.field[f], count);
}

// Moves the rows whose bit is 0 before the others; stable. `to` has space for twice as many.
__mlu_func__ void split(const Fields &to, const Fields &from, int fields, int word, int bit, int count, int *one,
                        int *zero) {
  shift_right(one, from.field[word], bit, count);
  __bang_band_scalar(one, one, 1, count);
  __bang_not(zero, one, count);
  for (int f = 0; f < fields; ++f) {
    const int zeros = filter(to.field[f], from.field[f], zero, count);
    filter(to.field[f] + zeros, from.field[f], one, count);
  }
}

// Scratch vectors of count_digits(), as long as the rows.
struct DigitScratch {
  int *digit, *change, *iota, *start, *value;
};

// Counts the sorted words of each digit.
__mlu_func__ void count_digits(int *counts, int *words, int first_bit, int bits, int count,
                               const DigitScratch &scratch) {
  shift_right(scratch.digit, words, first_bit, count);
  __bang_band_scalar(scratch.digit, scratch.digit, (1 << bits) - 1, count);
  __bang_write_value(scratch.change, 1, 1);
  if (count > 1) __bang_sub(scratch.change + 1, scratch.digit + 1, scratch.digit, count - 1);
  const int runs = filter(scratch.start, scratch.iota, scratch.change, count);
  filter(scratch.value, scratch.digit, scratch.change, count);
  __bang_write_value(counts, kDigits, 0);
  for (int i = 0; i < runs; ++i) {
    const int end = i + 1 < runs ? scratch.start[i + 1] : count;
    counts[scratch.value[i]] = end - scratch.start[i];
  }
}

// Places of the rows of each digit from block `block`: after those with lower digits, and after
// those of earlier blocks.
__mlu_func__ void find_places(const SparsePlan &plan, int block, int *places, int *totals, int *counts) {
  __bang_write_value(places, kDigits, 0);
  __bang_write_value(totals, kDigits, 0);
  for (int b = 0; b < plan.blocks; ++b) {
    load(counts, plan.memory.digit_counts + b * kDigits, kDigits);
    if (b < block) __bang_add(places, places, counts, kDigits);
    __bang_add(totals, totals, counts, kDigits);
  }
  int before = 0;
  for (int d = 0; d < kDigits; ++d) {
    places[d] += before;
    before += totals[d];
  }
}

// Copies the rows of a sorted block to the other buffer, those of each digit to their place.
__mlu_func__ void spread_digits(const SparsePlan &plan, int side, const Fields &fields, int *counts, int *places) {
  int from = 0;
  for (int d = 0; d < kDigits; ++d) {
    const int count = counts[d];
    if (count == 0) continue;
    for (int f = 0; f <= plan.words_in; ++f) {
      __memcpy_async(sorted_field(plan, 1 - side, f) + places[d], fields.field[f] + from, count * 4, NRAM2GDRAM);
    }
    from += count;
    places[d] += count;
  }
}

// ---- Describing ---------------------------------------------------------------------------------

// Sorted rows in NRAM, and scratch vectors.
struct DescribedRows {
  int *coordinates;  // a line for batch and each axis; those of the axes become quotients
  int *rests;        // a line for each axis, where the stride is not 1
  int *mask, *scratch;
  int count;

  __mlu_func__ int *line(int axis) const { return coordinates + (axis + 1) * count; }
};

// Divides the coordinates of an axis by its stride unless that is 1: `inputs` become (input + pad)
// / stride, `rests` the remainders.
__mlu_func__ void divide_axis(const SparseAxis &axis, int *inputs, int *rests, int count) {
  if (axis.stride == 1) return;
  __bang_add_scalar(inputs, inputs, axis.pad, count);  // up to 2^32 - 3: these are unsigned
  if ((axis.stride & (axis.stride - 1)) == 0) {
    int bits = 0;
    while ((1 << bits) < axis.stride) ++bits;
    __bang_band_scalar(rests, inputs, axis.stride - 1, count);
    shift_right(inputs, inputs, bits, count);
    return;
  }
  for (int i = 0; i < count; ++i) {
    const unsigned int scaled = static_cast<unsigned int>(inputs[i]);
    const unsigned int quotient = scaled / static_cast<unsigned int>(axis.stride);
    rests[i] = static_cast<int>(scaled - quotient * static_cast<unsigned int>(axis.stride));
    inputs[i] = static_cast<int>(quotient);
  }
}

// Divides all axes, and stores the bases of the rows from the sorted row `at` on.
__mlu_func__ void store_bases(const SparsePlan &plan, int at, const DescribedRows &rows, int *base) {
  for (int a = 0; a < kSpaceDims; ++a) {
    divide_axis(plan.axis[a], rows.line(a), rows.rests + a * rows.count, rows.count);
    __bang_mul_scalar(base, a == 0 ? rows.coordinates : base, plan.axis[a].outputs, rows.count);
    __bang_add(base, base, rows.line(a), rows.count);
  }
  __bang_mul_scalar(base, base, 4, rows.count);
  store(plan.memory.base + at, base, rows.count);
}

// Adds `bit` to the reach of the rows that a cell of the axis leads to an output.
__mlu_func__ void add_reach(const SparsePlan &plan, int a, int cell, unsigned int bit, const DescribedRows &rows,
                            int *reach) {
  constexpr std::int64_t kMost = 0x7fffffff;
  const SparseAxis &axis = plan.axis[a];
  const std::int64_t shift = shift_of(axis, cell);
  const std::int64_t end = shift + axis.outputs;
  if (end <= 0 || shift > kMost) return;
  __bang_ge_scalar(rows.mask, rows.line(a), static_cast<int>(shift < 0 ? 0 : shift), rows.count);
  __bang_lt_scalar(rows.scratch, rows.line(a), static_cast<int>(end < kMost ? end : kMost), rows.count);
  __bang_band(rows.mask, rows.mask, rows.scratch, rows.count);
  if (axis.stride != 1) {
    __bang_eq_scalar(rows.scratch, rows.rests + a * rows.count, cell % axis.stride, rows.count);
    __bang_band(rows.mask, rows.mask, rows.scratch, rows.count);
  }
  __bang_mul_scalar(rows.mask, rows.mask, static_cast<int>(bit), rows.count);
  __bang_add(reach, reach, rows.mask, rows.count);
}

// Stores the reach of the rows from the sorted row `at` on.
__mlu_func__ void store_reach(const SparsePlan &plan, int at, const DescribedRows &rows, int *reach) {
  int bit = 0;
  for (int a = 0; a < kSpaceDims; ++a) {
    for (int cell = 0; cell < plan.axis[a].cells; ++cell, ++bit) {
      if (bit % kWordBits == 0) __bang_write_value(reach, rows.count, 0);
      add_reach(plan, a, cell, 1u << bit % kWordBits, rows, reach);
      if (bit % kWordBits != kWordBits - 1 && bit != plan.reach_bits - 1) continue;
      store(plan.memory.reach + static_cast<std::int64_t>(bit / kWordBits) * plan.rows + at, reach, rows.count);
    }
  }
}

// Numbers of the rows, from the sorted row `at` on, that are the first of their sites; -1 for the
// others.
__mlu_func__ void find_firsts(const SparsePlan &plan, int side, int at, const DescribedRows &rows, int *firsts,
                              int *numbers) {
  const int before = at == 0 ? 0 : 1;  // the row in front is needed, too
  const int pairs = rows.count + before - 1;
  for (int w = 0; w < plan.words_in; ++w) {
    load(rows.mask, sorted_field(plan, side, w) + at - before, rows.count + before);
    int *const change = w == 0 ? firsts : rows.scratch;
    int *const behind = change + 1 - before;
    __bang_write_value(change, 1, 1);
    if (pairs > 0) {
      __bang_sub(behind, rows.mask + 1, rows.mask, pairs);
      __bang_ne_scalar(behind, behind, 0, pairs);
    }
    if (w != 0) __bang_bor(firsts, firsts, rows.scratch, rows.count);
  }
  __bang_mul(rows.mask, firsts, numbers, rows.count);
  __bang_add(firsts, firsts, rows.mask, rows.count);
  __bang_add_scalar(firsts, firsts, -1, rows.count);
}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_BANG_ROWS_H_
