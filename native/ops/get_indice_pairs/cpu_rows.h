// The input rows of GetIndicePairs on the CPU: whether they lie inside their space, and where the filter sends them.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_ROWS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_ROWS_H_

#include "cpu/kernel.h"
#include "ops/get_indice_pairs/cpu_workspace.h"
#include "ops/get_indice_pairs/get_indice_pairs.h"

namespace mluops {
namespace MLUOPS_LEVEL {

constexpr int kDepth = 0, kHeight = 1, kWidth = 2;
constexpr std::int64_t kRowsPerPiece = 16384;

struct Row {
  std::int32_t batch, depth, height, width;
};

template <typename T>
static inline T *part(void *workspace, std::size_t offset) {
  return reinterpret_cast<T *>(static_cast<char *>(workspace) + offset);
}

static inline void *align(void *workspace) {
  const auto address = reinterpret_cast<std::uintptr_t>(workspace);
  return reinterpret_cast<void *>((address + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment);
}

// Number of a line of cells: those that differ only in width.
static inline std::uint64_t line_of(std::int64_t batch, std::int64_t depth, std::int64_t depths, std::int64_t height,
                                    std::int64_t heights) {
  return static_cast<std::uint64_t>((batch * depths + depth) * heights + height);
}

static inline bool within(std::int32_t coordinate, int extent) { return coordinate >= 0 && coordinate < extent; }

static inline const Row &row_of(const GetIndicePairsProblem &problem, std::int64_t number) {
  return reinterpret_cast<const Row *>(problem.indices)[number];
}

// The first row that lies outside batch or space, or -1.
static inline std::int64_t first_bad_row(const GetIndicePairsProblem &problem) {
  const SparseGeometry &g = problem.geometry;
  const std::int64_t rows = problem.rows;
  std::int64_t bad = rows;
  auto check = [&](std::int64_t begin, std::int64_t end) {
    const int (&space)[kSpaceDims] = g.input_space;
    for (std::int64_t l = begin; l < end; ++l) {
      const Row &r = row_of(problem, l);
      if (within(r.batch, g.batch) && within(r.depth, space[kDepth]) && within(r.height, space[kHeight]) &&
          within(r.width, space[kWidth])) {
        continue;
      }
      std::int64_t known = __atomic_load_n(&bad, __ATOMIC_RELAXED);
      while (l < known && !__atomic_compare_exchange_n(&bad, &known, l, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      }
      return;
    }
  };
  parallel_for(rows, kRowsPerPiece, check);
  return bad < rows ? bad : -1;
}

// What an input is sent to along one axis, by `count` filter cells. The first of them sends it the furthest; each next one lies a
// stride further on and sends it a dilation less far.
struct Reach {
  std::int64_t cell;
  std::int64_t output;
  std::int64_t count;
};

// One axis of the convolution.
struct Axis {
  explicit Axis(const SparseGeometry &g, int axis)
      : pad(g.pad[axis]),
        stride(g.stride[axis]),
        dilation(g.dilation[axis]),
        outputs(g.output_space[axis]),
        cells_per_stride(g.filter_space[axis] / g.stride[axis]),
        cells_beyond(g.filter_space[axis] % g.stride[axis]),
        inverse_stride(1.0 / static_cast<double>(g.stride[axis])) {}

  // Output that `cell` sends `input` to, or -1. The quotient of a multiple is within half of the true one even in floating
  // point, so that rounding finds it; the product then tells exactly whether it was a multiple.
  std::int64_t output(std::int64_t input, std::int64_t cell) const {
    const std::int64_t scaled = input + pad - cell * dilation;
    if (scaled < 0) return -1;
    const std::int64_t quotient =
        stride == 1 ? scaled : static_cast<std::int64_t>(static_cast<double>(scaled) * inverse_stride + 0.5);
    return quotient * stride == scaled && quotient < outputs ? quotient : -1;
  }

  // Everything that the filter sends `input` to.
  Reach reach(std::int64_t input) const {
    const std::int64_t scaled = input + pad;
    std::int64_t quotient = scaled;
    if (stride != 1) {
      quotient = static_cast<std::int64_t>(static_cast<double>(scaled) * inverse_stride);
      quotient -= quotient * stride > scaled;
      quotient += (quotient + 1) * stride <= scaled;
    }
    // Filter cells first, first + stride, ... send it to quotient, quotient - dilation, ...: one of the two steps is 1.
    const std::int64_t first = scaled - quotient * stride;
    const std::int64_t skipped = quotient < outputs ? 0 : in_dilations(quotient - outputs) + 1;
    const std::int64_t senders = cells_per_stride + (first < cells_beyond);
    const std::int64_t count = smaller(in_dilations(quotient) + 1, senders) - skipped;
    return Reach{first + skipped * stride, quotient - skipped * dilation, larger<std::int64_t>(count, 0)};
  }

  // More filter cells than these send no input anywhere.
  std::int64_t most_senders() const { return cells_per_stride + (cells_beyond != 0); }

  std::int64_t in_dilations(std::int64_t distance) const { return dilation == 1 ? distance : distance / dilation; }

  std::int64_t pad, stride, dilation, outputs;
  std::int64_t cells_per_stride, cells_beyond;  // quotient and remainder of filter cells by stride
  double inverse_stride;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_ROWS_H_
