// How the CPU kernel of GetIndicePairs divides its workspace.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_WORKSPACE_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_WORKSPACE_H_

#include <cstddef>
#include <cstdint>

#include "ops/get_indice_pairs/descriptor.h"

namespace mluops {

// A sortable record: of an input row (key: its cell, a: its number), of a link (key: output line, a: its place) or of an output
// line (key: the line, a: where its columns start, b: outputs before it).
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
  std::uint32_t begin;           // first of its sorted rows; the next run's tells the end
  std::uint32_t begin_distinct;  // likewise among the rows that are the first of their place
};

// Which columns a run has, roughly: a bit for each of up to 64 stretches of its line, and one for each column modulo 64.
struct SparseSketch {
  std::uint64_t stretches;
  std::uint64_t residues;
};

// An input run meets an output line.
struct SparseLink {
  std::uint32_t run;
  std::uint32_t line;
};

// Where SortedPairs has its parts: offsets in bytes from an aligned start. L rows, T = filter depth * height, K = T * filter width.
struct SortedWorkspace {
  std::size_t rows;        // L sortable rows, then sorted
  std::size_t rows_other;  // as many, for sorting; later the columns and numbers of the sorted rows
  std::size_t runs;        // SparseRun[L + 1]
  std::size_t run_line;    // uint64[L]
  std::size_t run_sketch;  // uint64[L], sub-manifold mode only
  std::size_t
      distinct;  // int32[2][L], sub-manifold mode only: columns and numbers of rows that are the first of their place
  std::size_t links;         // SparseLink[T][L]
  std::size_t lines;         // SparseRecord[T * L], default mode only
  std::size_t lines_other;   // SparseRecord[T * L], default mode only; later where columns stand in their lines
  std::size_t columns;       // int32[K * L], default mode only
  std::size_t matches;       // per slot: int32[filter width][L], then uint64[filter width][(L + 63) / 64]
  std::size_t matches_size;  // bytes of one slot
  std::int64_t slots;        // filter planes that can be worked on at the same time
  std::size_t total;         // bytes in all, with room to align the start
};

constexpr std::size_t kWorkspaceAlignment = 64;

// Input rows of one kind, which the same filter cells send to outputs.
struct RowBlock {
  static constexpr std::int64_t kCapacity = 64;

  std::uint64_t cells[kCapacity];    // of the output space, that the first of those filter cells sends them to
  std::int32_t rows[kCapacity];      // their numbers
  std::uint32_t reached[kCapacity];  // bits of those filter cells that send them into the output space
  std::int32_t count;
  std::int32_t kind;
};

// 64 cells that follow one another.
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

// Where DefaultGrid and SubManifoldGrid have their parts.
struct GridWorkspace {
  std::int64_t word_count;            // of 64 cells each, that the grid has
  std::size_t axes;                   // GridAxis::Entry or BrickReach[coordinates on all axes of the input space]
  bool dense;                         // all words are there, and no groups
  std::int64_t groups;                // of 64 words, 0 if dense
  std::size_t words;                  // SparseWord[all, or as many as there may be with marks]
  std::int64_t most_private_bitmaps;  // default mode only: if dense, as many threads can mark at the same time
  std::size_t private_bitmaps;        // uint64[most_private_bitmaps][words]
  std::size_t group_bits;             // uint64[groups + 1]; what the last one holds does not matter
  std::size_t group_before;           // uint32[groups]
  std::size_t slots;                  // uint64[L], sub-manifold mode only
  std::size_t numbers;                // int32[L], sub-manifold mode only
  std::int64_t chunks;                // of the input rows
  std::int64_t kinds;                 // default mode only: of rows, 0 if they are not put into blocks by kind
  std::int64_t most_blocks;           // of a chunk
  std::size_t rows;                   // int32[L][4], default mode only: of the input, if they are not put into blocks
  std::size_t blocks;                 // RowBlock[chunks][most_blocks]
  std::size_t block_counts;           // int64[chunks]
  std::size_t ends;                   // int32[chunks][K]
  std::size_t total;                  // bytes in all, with room to align the start
};

// Filter cells of an axis that lie strides apart are a group: a coordinate is sent to outputs by those of one group only.
constexpr std::int64_t kMostInGroup = 10, kMostKinds = 64;  // if rows are put into blocks by kind

// Whether a grid is the better way. Like the size of the workspace, this depends on geometry and number of rows only.
bool grid_pays(const SparseGeometry &geometry, std::int64_t rows);

SortedWorkspace divide_for_sorting(const SparseGeometry &geometry, std::int64_t rows);
GridWorkspace divide_for_grid(const SparseGeometry &geometry, std::int64_t rows);

}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_WORKSPACE_H_
