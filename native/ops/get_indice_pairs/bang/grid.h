// A tile of the output space as a dense grid in NRAM, into which the outputs of filter cells are
// scattered and from which they are gathered.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_BANG_GRID_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_BANG_GRID_H_

#include <bang.h>

#include "ops/get_indice_pairs/bang/rows.h"
#include "ops/get_indice_pairs/bang/site.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// NRAM of the kernels with a grid. Vectors have tile_rows elements. Offsets are bytes.
struct TileScratch {
  int *grid;  // [grid_sites]
  int *iota, *constant;
  int *reach[kSpaceDims];  // of the current sorted rows; the first becomes a mask
  int *base, *row;         // of the current sorted rows; `row` holds offsets
  int *offset, *led;       // of the rows with an output: offsets in the grid, and of the row
  int *value;
  int *target, *number;  // of a tile's outputs: offsets in the grid, and output rows
  SiteList sites;        // of a tile's outputs
  int *done, *ahead;     // [volume]: for each cell, the numbers of sorted rows before the tile and before its end
};

__mlu_func__ TileScratch make_tile_scratch(const SparsePlan &plan, int *next) {
  const int rows = plan.tile_rows;
  TileScratch tile;
  tile.iota = allocate(&next, rows);
  tile.constant = allocate(&next, rows);
  for (int w = 0; w < kSpaceDims; ++w) tile.reach[w] = allocate(&next, rows);
  tile.base = allocate(&next, rows);
  tile.row = allocate(&next, rows);
  tile.offset = allocate(&next, rows);
  tile.led = allocate(&next, rows);
  tile.value = allocate(&next, rows);
  tile.target = allocate(&next, rows);
  tile.number = allocate(&next, rows);
  tile.sites.low = allocate(&next, rows);
  tile.sites.high = allocate(&next, rows);
  if (plan.words_out == 1) tile.sites.high = nullptr;
  tile.grid = allocate(&next, plan.grid_sites);
  tile.done = allocate(&next, plan.volume);
  tile.ahead = next;
  count_up(tile.iota, rows);
  return tile;
}

__mlu_func__ void scatter(void *to, int *from, int *offsets, int count, mluMemcpyDirection_t direction) {
  __scatter(to, from, reinterpret_cast<unsigned int *>(offsets), 4, direction, 4, count);
}

// ---- Filter cells -------------------------------------------------------------------------------

// Bits of one word of the rows' reach.
struct ReachBits {
  int word;
  unsigned int bits;
};

// A cell of the filter, while the grid holds the tile that starts at some site.
struct TileCell {
  ReachBits needed[kSpaceDims];  // bits of a row's reach that must be set for the cell to lead it to an output
  int words;                     // number of words with these bits
  int shift;                     // from the base of a row to the grid offset of its output
};

__mlu_func__ TileCell tile_cell(const SparsePlan &plan, const Cell &cell, std::int64_t first_site) {
  TileCell tile;
  tile.words = 0;
  int first = 0;
  for (int a = 0; a < kSpaceDims; ++a) {
    const int bit = first + cell.at[a];
    first += plan.axis[a].cells;
    if (tile.words == 0 || tile.needed[tile.words - 1].word != bit / kWordBits) {
      tile.needed[tile.words++] = {bit / kWordBits, 0};
    }
    tile.needed[tile.words - 1].bits |= 1u << bit % kWordBits;
  }
  tile.shift = static_cast<int>(0u - 4u * (shift_of(plan, cell) + static_cast<unsigned int>(first_site)));
  return tile;
}

// Computes which of the sorted rows [at, at + count) the cell leads to outputs, in
// scratch.reach[0]; their grid offsets in scratch.offset and, if requested, row offsets in
// scratch.led. Returns their number.
__mlu_func__ int lead_rows(const SparsePlan &plan, const TileCell &cell, int at, int count, bool number_rows,
                           const TileScratch &scratch) {
  __sync();  // waits for earlier uses of the vectors that are loaded now
  for (int w = 0; w < cell.words; ++w) {
    const int *const words = plan.memory.reach + static_cast<std::int64_t>(cell.needed[w].word) * plan.rows;
    __memcpy_async(scratch.reach[w], words + at, count * 4, GDRAM2NRAM);
  }
  __memcpy_async(scratch.base, plan.memory.base + at, count * 4, GDRAM2NRAM);
  if (number_rows) __memcpy_async(scratch.row, plan.memory.row_bytes + at, count * 4, GDRAM2NRAM);
  __sync();
  int *const mask = scratch.reach[0];
  for (int w = 0; w < cell.words; ++w) {
    const int bits = static_cast<int>(cell.needed[w].bits);
    __bang_band_scalar(scratch.reach[w], scratch.reach[w], bits, count);
    __bang_eq_scalar(scratch.reach[w], scratch.reach[w], bits, count);
    if (w != 0) __bang_band(mask, mask, scratch.reach[w], count);
  }
  const int led = filter(scratch.offset, scratch.base, mask, count);
  if (led == 0) return 0;
  __bang_add_scalar(scratch.offset, scratch.offset, cell.shift, led);
  if (number_rows) filter(scratch.led, scratch.row, mask, count);
  return led;
}

// Marks the outputs to which the cell leads the sorted rows [begin, end).
__mlu_func__ void mark_rows(const SparsePlan &plan, const TileCell &cell, int begin, int end,
                            const TileScratch &scratch) {
  for (int at = begin; at < end; at += plan.tile_rows) {
    const int led = lead_rows(plan, cell, at, least(plan.tile_rows, end - at), false, scratch);
    if (led != 0) scatter(scratch.grid, scratch.constant, scratch.offset, led, NRAM2NRAM);
  }
}

// Stores the kernel map of the cell for the sorted rows [begin, end).
__mlu_func__ void map_rows(const SparsePlan &plan, const TileCell &cell, int *kernel_map, int begin, int end,
                           const TileScratch &scratch) {
  for (int at = begin; at < end; at += plan.tile_rows) {
    const int led = lead_rows(plan, cell, at, least(plan.tile_rows, end - at), true, scratch);
    if (led == 0) continue;
    __gather(scratch.value, scratch.grid, reinterpret_cast<unsigned int *>(scratch.offset), 4, NRAM2NRAM, 4, led);
    int *const mask = scratch.reach[0];
    __bang_ge_scalar(mask, scratch.value, 0, led);
    const int found = filter(scratch.base, scratch.value, mask, led);
    if (found == 0) continue;
    filter(scratch.offset, scratch.led, mask, led);
    scatter(kernel_map, scratch.base, scratch.offset, found, NRAM2GDRAM);
  }
}

// ---- Outputs of default mode --------------------------------------------------------------------

// The first output site to which a cell can lead a sorted row or a later one.
__mlu_func__ std::int64_t first_output_of(const SparsePlan &plan, const RowFinder &finder, int row, const Cell &cell) {
  return first_output(plan, input_site(plan, number_at(finder.rows, row)), cell);
}

// First output site of task `task`: the ranges of tasks are contiguous and have similar numbers of
// rows.
__mlu_func__ std::int64_t first_site_of(const SparsePlan &plan, const RowFinder &finder, int task) {
  if (task == 0) return 0;
  if (task == taskDim) return plan.output_sites;
  Cell middle;
  for (int a = 0; a < kSpaceDims; ++a) middle.at[a] = plan.axis[a].cells / 2;
  return first_output_of(plan, finder, static_cast<int>(static_cast<std::int64_t>(plan.rows) * task / taskDim), middle);
}

// The first output site to which unprocessed rows can lead.
__mlu_func__ std::int64_t next_site(const SparsePlan &plan, const RowFinder &finder, const TileScratch &scratch) {
  std::int64_t next = plan.output_sites;
  for (int k = 0; k < plan.volume; ++k) {
    if (scratch.done[k] == plan.rows) continue;
    const std::int64_t first = first_output_of(plan, finder, scratch.done[k], cell_of(plan, k));
    if (first < next) next = first;
  }
  return next;
}

// Finds the rows that lead into the tile that starts at `site` and ends at `end` or before. Returns
// the number of its sites to examine: the last row of each cell bounds the last site reached. The
// sites of a tile share their higher word.
__mlu_func__ int find_tile(const SparsePlan &plan, RowFinder &finder, std::int64_t site, std::int64_t end,
                           const TileScratch &scratch) {
  const std::int64_t word_end = (site | 0xffffffff) + 1;
  if (end > word_end) end = word_end;
  if (end - site > plan.grid_sites) end = site + plan.grid_sites;
  const Site behind = output_site(plan, end);
  std::int64_t last = site;
  for (int k = 0; k < plan.volume; ++k) {
    const Cell cell = cell_of(plan, k);
    scratch.ahead[k] = rows_below(plan, finder, first_input(plan, behind, cell));
    if (scratch.ahead[k] == scratch.done[k]) continue;
    const std::int64_t reached = first_output_of(plan, finder, scratch.ahead[k] - 1, cell);
    if (reached > last) last = reached;
  }
  return static_cast<int>((last < end ? last + 1 : end) - site);
}

// Lists the marked sites among `extent` output sites from `first` on, after `listed` others.
// Returns the new number of listed sites.
__mlu_func__ int list_marked(const SparsePlan &plan, std::int64_t first, int extent, int *part, int listed,
                             const TileScratch &scratch) {
  for (int at = 0; at < extent; at += plan.tile_rows) {
    const int marked = filter(scratch.value, scratch.iota, scratch.grid + at, least(plan.tile_rows, extent - at));
    if (marked == 0) continue;
    __bang_add_scalar(scratch.value, scratch.value, static_cast<int>(first + at), marked);
    store(part + listed, scratch.value, marked);
    if (plan.words_out > 1) {
      __bang_write_value(scratch.value, marked, static_cast<int>(first >> 32));
      store(part + static_cast<std::int64_t>(plan.volume) * plan.rows + listed, scratch.value, marked);
    }
    listed += marked;
  }
  return listed;
}

// ---- Outputs of either mode ---------------------------------------------------------------------

// The outputs of a task.
struct Part {
  SiteList sites;  // in device memory
  int begin, end;
  int number;  // default mode: the output row of sites[0]
};

__mlu_func__ Part part_of(const SparsePlan &plan, int side) {
  Part part;
  part.number = 0;
  if (plan.sub_manifold) {
    const Share share = share_of(plan.rows);
    part.sites.low = sorted_field(plan, side, 0);
    part.sites.high = plan.words_in > 1 ? sorted_field(plan, side, 1) : nullptr;
    part.begin = share.begin;
    part.end = share.end;
    return part;
  }
  const int *const parts = plan.memory.parts;
  for (int task = 0; task < taskId; ++task) part.number += parts[task * 2 + 1];
  part.sites.low = plan.memory.outputs + parts[taskId * 2];
  part.sites.high = plan.words_out > 1 ? part.sites.low + static_cast<std::int64_t>(plan.volume) * plan.rows : nullptr;
  part.begin = 0;
  part.end = parts[taskId * 2 + 1];
  return part;
}

// Loads the sites [at, at + count) of a part.
__mlu_func__ void load_sites(const Part &part, int at, int count, const SiteList &sites) {
  load(sites.low, part.sites.low + at, count);
  if (sites.high != nullptr) load(sites.high, part.sites.high + at, count);
}

// Writes the output rows of the sites [at, at + count) of a part, which are in scratch.sites, into
// the grid; of equal sites only the first. Returns the number of offsets in scratch.target.
__mlu_func__ int place_outputs(const SparsePlan &plan, const Part &part, int at, int count,
                               const TileScratch &scratch) {
  const unsigned int first = static_cast<unsigned int>(scratch.sites.low[0]);
  __bang_add_scalar(scratch.target, scratch.sites.low, static_cast<int>(0u - first), count);
  __bang_mul_scalar(scratch.target, scratch.target, 4, count);
  int placed = count;
  if (plan.sub_manifold) {
    int *const mask = scratch.reach[0];
    load(scratch.value, plan.memory.first_of_site + at, count);
    __bang_ge_scalar(mask, scratch.value, 0, count);
    placed = filter(scratch.number, scratch.value, mask, count);
    filter(scratch.target, scratch.target, mask, count);
  } else {
    __bang_add_scalar(scratch.number, scratch.iota, part.number + at, count);
  }
  if (placed != 0) scatter(scratch.grid, scratch.number, scratch.target, placed, NRAM2NRAM);
  return placed;
}

// ---- Pairs --------------------------------------------------------------------------------------

// A chunk of the input rows under one cell.
struct CellChunk {
  int cell, chunk;
  int at, count;  // rows
};

__mlu_func__ CellChunk cell_chunk(const SparsePlan &plan, int number) {
  CellChunk piece;
  piece.cell = number / plan.chunks;
  piece.chunk = number % plan.chunks;
  piece.at = piece.chunk * plan.chunk;
  piece.count = least(plan.chunk, plan.rows - piece.at);
  return piece;
}

// Loads a piece of the kernel map, and marks rows that have an output.
__mlu_func__ void load_kernel_map(const SparsePlan &plan, const CellChunk &piece, int *kernel_map, int *mask) {
  load(kernel_map, plan.memory.kernel_map + static_cast<std::int64_t>(piece.cell) * plan.rows + piece.at, piece.count);
  __bang_ge_scalar(mask, kernel_map, 0, piece.count);
}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_BANG_GRID_H_
