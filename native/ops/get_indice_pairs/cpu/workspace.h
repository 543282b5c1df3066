// Layout of the workspace of the CPU kernels of GetIndicePairs.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_WORKSPACE_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_WORKSPACE_H_

#include <cstddef>
#include <cstdint>

#include "ops/get_indice_pairs/descriptor.h"

namespace mluops {

// A sortable record: of an input row (key: its cell, a: its number), of a link (key: output line,
// a: its place) or of an output line (key: the line, a: start of its columns, b: outputs before
// it).
struct SparseRecord {
  std::uint64_t key;
  std::uint32_t a;
  std::uint32_t b;
};

// Input rows that differ only in width.
struct SparseRun {
  std::int32_t batch;
  std::int32_t depth;
  std::int32_t height;
  std::uint32_t begin;           // first of its sorted rows; the next run's is the end
  std::uint32_t begin_distinct;  // likewise among the first rows of each place
};

// Approximate set of a run's columns: one bit per segment of its line, at most 64, and one per
// column modulo 64.
struct SparseSketch {
  std::uint64_t segments;
  std::uint64_t residues;
};

// A run of input rows that a filter plane sends to an output line.
struct SparseLink {
  std::uint32_t run;
  std::uint32_t line;
};

// Parts of SortedPairs: byte offsets from an aligned start. L rows, T = filter depth * height, K =
// T * filter width.
struct SortedWorkspace {
  std::size_t rows;          // L records, sorted in place or in rows_other
  std::size_t rows_other;    // the other buffer of the sort; later the columns and numbers of the sorted rows
  std::size_t runs;          // SparseRun[L + 1]
  std::size_t run_line;      // uint64[L]
  std::size_t run_sketch;    // uint64[L], sub-manifold mode only
  std::size_t distinct;      // int32[2][L], sub-manifold mode only: columns and numbers of each place's first row
  std::size_t links;         // SparseLink[T][L]
  std::size_t lines;         // SparseRecord[T * L], default mode only
  std::size_t lines_other;   // SparseRecord[T * L], default mode only; later the column index
  std::size_t columns;       // int32[K * L], default mode only
  std::size_t matches;       // per slot: int32[filter width][L], then uint64[filter width][(L + 63) / 64]
  std::size_t matches_size;  // bytes of one slot
  std::int64_t slots;        // filter planes processed concurrently
  std::size_t total;         // bytes in all, with room to align the start
};

constexpr std::size_t kWorkspaceAlignment = 64;

// Input rows of one kind, which the same filter cells send to outputs.
struct RowBlock {
  static constexpr std::int64_t kCapacity = 64;

  std::uint64_t cells[kCapacity];    // output cells of the first of those filter cells
  std::int32_t rows[kCapacity];      // their numbers
  std::uint32_t reached[kCapacity];  // bits of those filter cells whose output is inside the space
  std::int32_t count;
  std::int32_t kind;
};

// 64 consecutive cells.
struct SparseWord {
  std::uint64_t marks;   // a bit for each
  std::uint64_t before;  // marked cells before them
};

// The grid of SubManifoldGrid consists of bricks of 64 cells, with 2^shift of them along each axis.
struct BrickShape {
  int shift[kSpaceDims];

  std::int64_t bricks(const SparseGeometry &geometry, int axis) const {
    return ((std::int64_t{geometry.input_space[axis]} - 1) >> shift[axis]) + 1;
  }
};

BrickShape brick_shape(const SparseGeometry &geometry);

// Parts of DefaultGrid and SubManifoldGrid.
struct GridWorkspace {
  std::int64_t word_count;            // words of 64 cells in the grid
  std::size_t axes;                   // GridAxis::Entry or BrickReach[coordinates on all axes of the input space]
  bool dense;                         // all words are stored, without groups
  std::int64_t groups;                // of 64 words, 0 if dense
  std::size_t words;                  // SparseWord[all, or the most that can have marks]
  std::int64_t most_private_bitmaps;  // default mode only: if dense, threads that mark concurrently
  std::size_t private_bitmaps;        // uint64[most_private_bitmaps][words]
  std::size_t group_bits;             // uint64[groups + 1]; the last one's value is irrelevant
  std::size_t group_before;           // uint32[groups]
  std::size_t slots;                  // uint64[L], sub-manifold mode only
  std::size_t numbers;                // int32[L], sub-manifold mode only
  std::int64_t chunks;                // of the input rows
  std::int64_t kinds;                 // default mode only: kinds of rows, 0 without blocks
  std::int64_t most_blocks;           // of a chunk
  std::size_t rows;                   // int32[L][4], default mode only: the input rows, without blocks
  std::size_t blocks;                 // RowBlock[chunks][most_blocks]
  std::size_t block_counts;           // int64[chunks]
  std::size_t ends;                   // int32[chunks][K]
  std::size_t total;                  // bytes in all, with room to align the start
};

// Limits for blocks by kind. Filter cells of an axis whose distance is a multiple of the stride
// form a group; the cells of one group send a coordinate to outputs.
constexpr std::int64_t kMostInGroup = 10, kMostKinds = 64;

// Whether a grid is faster. Like the workspace size, this depends only on geometry and number of
// rows.
bool grid_pays(const SparseGeometry &geometry, std::int64_t rows);

SortedWorkspace divide_for_sorting(const SparseGeometry &geometry, std::int64_t rows);
GridWorkspace divide_for_grid(const SparseGeometry &geometry, std::int64_t rows);

}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_WORKSPACE_H_
