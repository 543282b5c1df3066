// What rows of GetIndicePairs meet in default mode on the CPU: output cells, each through one filter cell.
//
// Along each axis a row reaches now one output and now two, as the stride has it: no branch could foresee that. So everything
// that a row may reach is put on a list, and where there is nothing the next one takes its place.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_MEETINGS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_MEETINGS_H_

#include "cpu/vector.h"
#include "ops/get_indice_pairs/cpu_grid_axes.h"

namespace mluops {
namespace MLUOPS_LEVEL {

struct Meeting {
  std::uint64_t cell;  // of the output space
  std::int32_t row;
  std::int32_t filter_cell;
};

// A list for filters that send no coordinate to more than kMost outputs on any axis.
template <int kMost>
class MeetingList {
 public:
  explicit MeetingList(const GridAxes &axes) : axes_(axes) {
    for (int i = 0; i < kPerRow; ++i) {
      const int at[kSpaceDims] = {i / kMost / kMost, i / kMost % kMost, i % kMost};
      std::int64_t further = 0;
      for (int axis = 0; axis < kSpaceDims; ++axis) {
        below_[i] += static_cast<std::uint64_t>(at[axis]) * axes[axis].output_step;
        further += at[axis] * axes[axis].filter_step;
        for (int count = at[axis] + 1; count <= kMost; ++count) bits_[axis][count] |= 1 << i;
      }
      further_[i] = static_cast<std::int32_t>(further);
    }
  }

  bool has_room() const { return count_ <= kRoom - kRoomPerRow; }

  // Puts everything on the list that a row meets.
  void add(const Row &row, std::int32_t number) {
    const GridAxis::Entry depth = axes_.depth(row), height = axes_.height(row), width = axes_.width(row);
    const std::uint64_t cell = axes_.batch(row) + depth.output + height.output + width.output;
    const std::int32_t filter_cell = depth.filter_cell + height.filter_cell + width.filter_cell;
    const int met = bits_[kDepth][depth.count] & bits_[kHeight][height.count] & bits_[kWidth][width.count];
#if defined(__AVX512VL__)
    for (int i = 0; i < kPerRow; i += 8) {
      const __mmask8 some = static_cast<__mmask8>(met >> i);
      const __m512i cells =
          _mm512_sub_epi64(_mm512_set1_epi64(static_cast<long long>(cell)), _mm512_loadu_si512(below_ + i));
      const __m256i filter_cells = _mm256_add_epi32(
          _mm256_set1_epi32(filter_cell), _mm256_loadu_si256(reinterpret_cast<const __m256i *>(further_ + i)));
      _mm512_storeu_si512(cell_ + count_, _mm512_maskz_compress_epi64(some, cells));
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(filter_cell_ + count_),
                          _mm256_maskz_compress_epi32(some, filter_cells));
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(row_ + count_), _mm256_set1_epi32(number));
      count_ += __builtin_popcount(some);
    }
#else
    for (int i = 0; i < kPerRow; ++i) {
      cell_[count_] = cell - below_[i];
      filter_cell_[count_] = filter_cell + further_[i];
      row_[count_] = number;
      count_ += met >> i & 1;
    }
#endif
  }

  // Calls visit(meeting) for all, in the order of the rows, and clears the list.
  template <typename Visit>
  void visit(const Visit &visit) {
    for (std::int64_t i = 0; i < count_; ++i) visit(Meeting{cell_[i], row_[i], filter_cell_[i]});
    count_ = 0;
  }

 private:
  static constexpr int kPerRow = kMost * kMost * kMost;
  static constexpr int kRoomPerRow = (kPerRow + 7) / 8 * 8;  // what is written for a row at the most
  static constexpr std::int64_t kRoom = 512;

  const GridAxes axes_;
  std::int64_t count_ = 0;
  // Of the i-th that a row may meet: how far its cell is below that of the first, and its filter cell behind that of the first.
  std::uint64_t below_[kRoomPerRow] = {};
  std::int32_t further_[kRoomPerRow] = {};
  // A bit for each that is met if a coordinate is sent to so many outputs.
  int bits_[kSpaceDims][kMost + 1] = {};

  std::uint64_t cell_[kRoom];
  std::int32_t row_[kRoom];
  std::int32_t filter_cell_[kRoom];
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_MEETINGS_H_
