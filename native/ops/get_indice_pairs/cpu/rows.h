// The input rows of GetIndicePairs on the CPU: bounds checks, and the outputs that the filter sends
// them to.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_ROWS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_ROWS_H_

#include <cstring>

#include "cpu/kernel.h"
#include "ops/get_indice_pairs/cpu/workspace.h"
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

// Number of a line of cells, which differ only in width.
static inline std::uint64_t line_of(std::int64_t batch, std::int64_t depth, std::int64_t depths, std::int64_t height,
                                    std::int64_t heights) {
  return static_cast<std::uint64_t>((batch * depths + depth) * heights + height);
}

// Whether the filter's centre is its middle cell on every axis.
static inline bool symmetric(const SparseGeometry &geometry) {
  for (int axis = 0; axis < kSpaceDims; ++axis) {
    if (geometry.pad[axis] * std::int64_t{2} != geometry.filter_space[axis] - 1) return false;
  }
  return true;
}

// The input rows. They were checked, but the caller may change them during the call: each row is
// read once, as one vector, and clamped to the space. The result is wrong then, but no access is
// out of bounds.
class InputRows {
 public:
  explicit InputRows(const GetIndicePairsProblem &problem)
      : indices_(problem.indices),
        last_{last(problem.geometry.batch), last(problem.geometry.input_space[kDepth]),
              last(problem.geometry.input_space[kHeight]), last(problem.geometry.input_space[kWidth])} {}

  Row operator[](std::int64_t number) const {
    const Numbers given = *reinterpret_cast<const volatile Numbers *>(indices_ + number * 4);
    const Numbers inside = given < last_ ? given : last_;  // a negative number is a large unsigned one
    Row row;
    std::memcpy(&row, &inside, sizeof row);
    return row;
  }

 private:
  // A row that is aligned like its numbers.
  typedef std::uint32_t Numbers __attribute__((vector_size(sizeof(Row)), aligned(alignof(Row)), may_alias));

  static std::uint32_t last(int extent) { return static_cast<std::uint32_t>(extent) - 1; }

  const std::int32_t *const indices_;
  const Numbers last_;
};

// Bounds check of many rows at once: a negative number is a large unsigned one.
class RowCheck {
 public:
  explicit RowCheck(const GetIndicePairsProblem &problem)
      : rows_(reinterpret_cast<const char *>(problem.indices)), extents_{} {
    const SparseGeometry &g = problem.geometry;
    const int extents[] = {g.batch, g.input_space[kDepth], g.input_space[kHeight], g.input_space[kWidth]};
    std::memcpy(&extents_, extents, sizeof extents_);
  }

  // The first bad row of begin .. end, or `end`.
  std::int64_t first_bad(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t first = begin; first < end; first += kTogether) {
      const std::int64_t last = smaller(first + kTogether, end);
      Numbers bad = {};
      for (std::int64_t l = first; l < last; ++l) bad |= is_bad(l);
      for (std::int64_t l = first; any(bad) && l < last; ++l) {
        if (any(is_bad(l))) return l;
      }
    }
    return end;
  }

 private:
  static constexpr std::int64_t kTogether = 256;
  typedef std::uint32_t Numbers __attribute__((vector_size(sizeof(Row))));

  // All bits set in the bad numbers.
  Numbers is_bad(std::int64_t row) const {
    Numbers numbers;
    std::memcpy(&numbers, rows_ + row * static_cast<std::int64_t>(sizeof(Row)), sizeof numbers);
    return reinterpret_cast<Numbers>(numbers >= extents_);
  }

  static bool any(Numbers bits) { return (bits[0] | bits[1] | bits[2] | bits[3]) != 0; }

  const char *rows_;
  Numbers extents_;
};

// The first row that lies outside batch or space, or -1.
static inline std::int64_t first_bad_row(const GetIndicePairsProblem &problem) {
  const RowCheck rows(problem);
  std::int64_t bad = problem.rows;
  auto check = [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t found = rows.first_bad(begin, end);
    if (found == end) return;
    std::int64_t known = __atomic_load_n(&bad, __ATOMIC_RELAXED);
    while (found < known &&
           !__atomic_compare_exchange_n(&bad, &known, found, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  };
  parallel_for(problem.rows, kRowsPerPiece, check);
  return bad < problem.rows ? bad : -1;
}

// Outputs of an input along one axis, by `count` filter cells. The first cell gives the highest
// output; each next cell is a stride further and its output a dilation lower.
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

  // Output that `cell` sends `input` to, or -1. For a multiple of the stride the floating-point
  // quotient is within 0.5 of the exact one, so rounding finds it; the product then verifies that
  // it was a multiple.
  std::int64_t output(std::int64_t input, std::int64_t cell) const {
    const std::int64_t scaled = input + pad - cell * dilation;
    if (scaled < 0) return -1;
    const std::int64_t quotient =
        stride == 1 ? scaled : static_cast<std::int64_t>(static_cast<double>(scaled) * inverse_stride + 0.5);
    return quotient * stride == scaled && quotient < outputs ? quotient : -1;
  }

  // All outputs that the filter sends `input` to.
  Reach reach(std::int64_t input) const {
    const std::int64_t scaled = input + pad;
    std::int64_t quotient = scaled;
    if (stride != 1) {
      quotient = static_cast<std::int64_t>(static_cast<double>(scaled) * inverse_stride);
      quotient -= quotient * stride > scaled;
      quotient += (quotient + 1) * stride <= scaled;
    }
    // Filter cells first, first + stride, ... send it to quotient, quotient - dilation, ...; stride
    // or dilation is 1.
    const std::int64_t first = scaled - quotient * stride;
    const std::int64_t skipped = quotient < outputs ? 0 : in_dilations(quotient - outputs) + 1;
    const std::int64_t senders = cells_per_stride + (first < cells_beyond);
    const std::int64_t count = smaller(in_dilations(quotient) + 1, senders) - skipped;
    return Reach{first + skipped * stride, quotient - skipped * dilation, larger<std::int64_t>(count, 0)};
  }

  std::int64_t in_dilations(std::int64_t distance) const { return dilation == 1 ? distance : distance / dilation; }

  std::int64_t pad, stride, dilation, outputs;
  std::int64_t cells_per_stride, cells_beyond;  // quotient and remainder of filter cells by stride
  double inverse_stride;
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_ROWS_H_
