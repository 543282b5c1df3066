// The division of GetIndicePairs over the cores of a card, and the layout of NRAM and workspace.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_BANG_POLICY_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_BANG_POLICY_H_

#include <cstddef>
#include <cstdint>

#include "bang/policy.h"
#include "ops/get_indice_pairs/get_indice_pairs.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// The numbers of int32 vectors in NRAM: of kernels that process rows one after another, and of
// kernels with a grid.
constexpr int kRowVectors = 16;
constexpr int kTileVectors = 14;
// Share of NRAM of one vector of the kernels with a grid.
constexpr int kTileShare = 48;
constexpr int kVectorRows = 64;  // the length of vectors is a multiple of this

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
constexpr int kWordBits = 32;
constexpr int kMostWords = 2;
constexpr int kMostSamples = 2048;
constexpr int kMostTasks = 64;
constexpr std::uintptr_t kWorkspaceAlignment = 128;

// Minimum rows of a core, and of a block that is sorted in NRAM.
constexpr int kLeastRows = 64;
constexpr int kLeastBlock = 1024;

struct SparseAxis {
  int inputs, outputs, cells, pad, stride, dilation;
};

// Device memory; all but the first four are workspace. Sorted rows are in the order of their sites,
// those of a site in the order of their numbers.
struct SparseMemory {
  const int *indices;
  int *pairs, *out_indices, *counts;
  // Each [words_in + 1][rows]: words of the site's number, the lower one first, then the number of
  // the row.
  int *sorted[2];
  // [reach_words][rows]: for each cell of each axis, a bit of each sorted row that tells whether
  // the cell leads it to an output there.
  int *reach;
  // [rows]: the number of the output site of a sorted row under a cell without shift, times 4,
  // modulo 2^32.
  int *base;
  // [rows]: the number of the sorted row, times 4.
  int *row_bytes;
  // [rows], sub-manifold mode: the number of the sorted row if it is the first of its site, else
  // -1.
  int *first_of_site;
  // [volume][rows]: the output row of an input row under a cell, or -1.
  int *kernel_map;
  // [words_out][volume * rows], default mode: numbers of sites, ascending within each task's part.
  int *outputs;
  // [volume][chunks]: number of pairs from each chunk of input rows.
  int *pair_counts;
  // [blocks][kDigits]: number of rows with each digit.
  int *digit_counts;
  // [row_tasks]: the first bad row of each task's share, or -1.
  int *bad_rows;
  // [row_tasks][2]: the start of each task's part of the outputs, and its length.
  int *parts;
};

struct SparsePlan {
  SparseAxis axis[kSpaceDims];
  int batch, rows, volume;
  bool sub_manifold;
  std::int64_t output_sites;
  int site_bits;  // of the numbers of input sites
  // Words of a site number: one if all are below 2^31.
  int words_in, words_out;
  int reach_bits, reach_words;
  // The numbers of tasks of the launches that divide rows, blocks and lists.
  int row_tasks, block_tasks, list_tasks;
  int chunk, chunks;          // rows that pass through NRAM together
  int block, blocks;          // rows that are sorted together
  int tile_rows, grid_sites;  // rows and adjacent output sites that fit into NRAM with a grid
  int sample_step, samples;   // distance and number of the sorted rows kept in NRAM for searches
  int search_ints;            // ints of NRAM for these, and for the rows between two of them
  SparseMemory memory;
};

// Number of bits of the largest of `count` numbers from 0 on.
inline int bits_for(std::int64_t count) {
  int bits = 0;
  while (bits < 63 && (std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

inline std::int64_t sites_of(const SparseGeometry &geometry, const int (&space)[kSpaceDims]) {
  return std::int64_t{geometry.batch} * space[0] * space[1] * space[2];
}

inline int words_for(std::int64_t sites) { return sites <= std::int64_t{1} << 31 ? 1 : 2; }

inline void cut_rows(const Card &card, SparsePlan *plan) {
  const std::int64_t cores = smaller(std::int64_t{card.clusters} * card.cores_per_cluster, kMostTasks);
  const std::int64_t ints = usable_nram(card) / 4;
  plan->chunk = static_cast<int>(round_down(ints / kRowVectors, kVectorRows));
  plan->chunks = static_cast<int>(ceil_div(plan->rows, plan->chunk));
  plan->block = static_cast<int>(smaller(larger(ceil_div(plan->rows, cores), kLeastBlock), plan->chunk));
  plan->blocks = static_cast<int>(ceil_div(plan->rows, plan->block));
  plan->row_tasks = static_cast<int>(smaller(cores, ceil_div(plan->rows, kLeastRows)));
  plan->block_tasks = static_cast<int>(smaller(cores, plan->blocks));
  plan->list_tasks = static_cast<int>(smaller(cores, std::int64_t{plan->volume} * plan->chunks));
  plan->sample_step = static_cast<int>(ceil_div(plan->rows, kMostSamples));
  plan->samples = static_cast<int>(ceil_div(plan->rows, plan->sample_step));
  plan->tile_rows = static_cast<int>(round_down(ints / kTileShare, kVectorRows));
  plan->search_ints = static_cast<int>(round_up(plan->words_in * (plan->samples + plan->sample_step), kVectorRows));
  const std::int64_t taken =
      kTileVectors * plan->tile_rows + plan->search_ints + 2 * round_up(plan->volume, kVectorRows);
  plan->grid_sites = static_cast<int>(round_down(ints - taken, kVectorRows));
}

inline SparsePlan plan_for(const SparseGeometry &geometry, std::int64_t rows, const Card &card) {
  SparsePlan plan = {};
  plan.batch = geometry.batch;
  plan.rows = static_cast<int>(rows);
  plan.volume = 1;
  for (int a = 0; a < kSpaceDims; ++a) {
    plan.axis[a] = {geometry.input_space[a], geometry.output_space[a], geometry.filter_space[a],
                    geometry.pad[a],         geometry.stride[a],       geometry.dilation[a]};
    plan.volume *= geometry.filter_space[a];
    plan.reach_bits += geometry.filter_space[a];
  }
  plan.sub_manifold = geometry.sub_m != 0;
  plan.output_sites = sites_of(geometry, geometry.output_space);
  const std::int64_t input_sites = sites_of(geometry, geometry.input_space);
  plan.site_bits = bits_for(input_sites);
  plan.words_in = words_for(input_sites);
  plan.words_out = words_for(plan.output_sites);
  plan.reach_words = static_cast<int>(ceil_div(plan.reach_bits, kWordBits));
  cut_rows(card, &plan);
  return plan;
}

// Allocates parts of a workspace; it may be NULL if only the size is needed.
class WorkspaceDivider {
 public:
  explicit WorkspaceDivider(void *workspace) : next_(reinterpret_cast<std::uintptr_t>(workspace)) {}
  int *allocate(std::int64_t ints) {
    next_ = (next_ + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    int *const piece = reinterpret_cast<int *>(next_);
    next_ += static_cast<std::uintptr_t>(ints) * sizeof(int);
    return piece;
  }
  std::uintptr_t end() const { return next_; }

 private:
  std::uintptr_t next_;
};

// Returns the end of the last part.
inline std::uintptr_t divide_workspace(void *workspace, SparsePlan *plan) {
  WorkspaceDivider divider(workspace);
  const std::int64_t rows = plan->rows;
  SparseMemory &memory = plan->memory;
  for (int *&side : memory.sorted) side = divider.allocate((plan->words_in + 1) * rows);
  memory.reach = divider.allocate(plan->reach_words * rows);
  memory.base = divider.allocate(rows);
  memory.row_bytes = divider.allocate(rows);
  memory.first_of_site = divider.allocate(plan->sub_manifold ? rows : 0);
  memory.kernel_map = divider.allocate(plan->volume * rows);
  memory.outputs = divider.allocate(plan->sub_manifold ? 0 : plan->words_out * plan->volume * rows);
  memory.pair_counts = divider.allocate(std::int64_t{plan->volume} * plan->chunks);
  memory.digit_counts = divider.allocate(std::int64_t{plan->blocks} * kDigits);
  memory.bad_rows = divider.allocate(plan->row_tasks);
  memory.parts = divider.allocate(std::int64_t{2} * plan->row_tasks);
  return divider.end();
}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_BANG_POLICY_H_
