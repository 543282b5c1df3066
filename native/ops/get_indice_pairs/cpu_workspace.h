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

// Offsets in bytes from an aligned start. L rows, T = filter depth * height, K = T * filter width.
struct SparseWorkspace {
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

SparseWorkspace divide_workspace(const SparseGeometry &geometry, std::int64_t rows);

}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_WORKSPACE_H_
