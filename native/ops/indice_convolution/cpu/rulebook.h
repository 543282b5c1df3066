// The pairs of a rulebook, which are all checked before any result is written.
#ifndef MLUOPS_OPS_INDICE_CONVOLUTION_CPU_RULEBOOK_H_
#define MLUOPS_OPS_INDICE_CONVOLUTION_CPU_RULEBOOK_H_

#include "cpu/kernel.h"
#include "ops/indice_convolution/cpu/workspace.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

// Reads the pairs of a cell and finds pairs that name rows which do not exist.
class PairReader {
 public:
  // `rows` of side 0 and side 1.
  PairReader(const Rulebook &rulebook, std::int64_t cell, const std::int64_t (&rows)[2])
      : first_(rulebook.pairs + cell * 2 * rulebook.length),
        second_(first_ + rulebook.length),
        rows_{static_cast<std::uint32_t>(rows[0]), static_cast<std::uint32_t>(rows[1])} {}

  // Whether both rows exist; `pair` has one for each side.
  bool read(std::int64_t number, std::int32_t (&pair)[2]) const {
    pair[0] = read_once(first_ + number);
    pair[1] = read_once(second_ + number);
    return exists(pair[0], 0) && exists(pair[1], 1);
  }

  // Copies `count` pairs, at most kMost, and returns the number of pairs before a wrong one.
  template <std::int64_t kMost>
  std::int64_t read_some(std::int64_t begin, std::int64_t count, std::int32_t (&pairs)[2][kMost]) const {
    copy_once(pairs[0], first_ + begin, count);
    copy_once(pairs[1], second_ + begin, count);
    std::uint32_t wrong = 0;
    for (int side = 0; side < 2; ++side) {
      const std::uint32_t rows = rows_[side];
      for (std::int64_t i = 0; i < count; ++i) wrong |= static_cast<std::uint32_t>(pairs[side][i]) >= rows;
    }
    if (wrong == 0) return count;
    std::int64_t good = 0;
    while (exists(pairs[0][good], 0) && exists(pairs[1][good], 1)) ++good;
    return good;
  }

  bool exists(std::int32_t row, int side) const { return static_cast<std::uint32_t>(row) < rows_[side]; }

 private:
  const std::int32_t *first_;
  const std::int32_t *second_;
  const std::uint32_t rows_[2];
};

// Describes the fault of a pair.
inline PairFault fault_of(const PairReader &reader, const PairSegment &segment, std::int64_t number, std::int32_t first,
                          std::int32_t second) {
  const int side = reader.exists(first, 0) ? 1 : 0;
  return PairFault{segment.cell, side, number, side == 0 ? first : second};
}

// Calls body(pair) for pairs begin .. end of a segment until one of them is wrong, which becomes
// the segment's fault.
template <typename Body>
inline void read_pairs(const PairReader &reader, std::int64_t begin, std::int64_t end, PairSegment &segment,
                       const Body &body) {
  for (std::int64_t l = begin; l < end; ++l) {
    std::int32_t pair[2];
    if (!reader.read(l, pair)) {
      segment.fault = fault_of(reader, segment, l, pair[0], pair[1]);
      return;
    }
    body(pair);
  }
}

// The fault of the first segment that has one. Segments are in the order of cells and numbers.
inline PairFault first_fault(const PairSegment *segments, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (segments[i].fault.cell >= 0) return segments[i].fault;
  }
  return PairFault();
}

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_INDICE_CONVOLUTION_CPU_RULEBOOK_H_
