// What rows of GetIndicePairs meet in default mode on the CPU: output cells, each through one filter cell.
//
// Along each axis a row reaches now one output and now two, as the stride has it: no branch could foresee that. So what a row meets is
// put on a list whose end moves by a number that is looked up, and whole vectors of it are written, whatever is behind the end.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_CPU_MEETINGS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_CPU_MEETINGS_H_

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
    for (int counts = 0; counts < kKinds; ++counts) {
      kinds_[counts] = kind(counts / kSizes / kSizes, counts / kSizes % kSizes, counts % kSizes);
    }
  }

  bool has_room() const { return count_ <= kRoom - kRoomPerRow; }

  // Puts everything on the list that a row meets.
  void add(const Row &row, std::int32_t number) {
    const GridAxis::Entry depth = axes_.depth(row), height = axes_.height(row), width = axes_.width(row);
    const std::uint64_t cell = axes_.batch(row) + depth.output + height.output + width.output;
    const std::int32_t filter_cell = depth.filter_cell + height.filter_cell + width.filter_cell;
    const Kind &met = kinds_[(depth.count * kSizes + height.count) * kSizes + width.count];
    std::int64_t i = 0;
    do {  // eight at a time, whatever number is left
      for (int j = 0; j < kStep; ++j) cell_[count_ + i + j] = cell - met.below[i + j];
      for (int j = 0; j < kStep; ++j) filter_cell_[count_ + i + j] = filter_cell + met.further[i + j];
      for (int j = 0; j < kStep; ++j) row_[count_ + i + j] = number;
      i += kStep;
    } while (i < met.count);
    count_ += met.count;
  }

  // Calls visit(meeting) for all, in the order of the rows, and clears the list.
  template <typename Visit>
  void visit(const Visit &visit) {
    for (std::int64_t i = 0; i < count_; ++i) visit(Meeting{cell_[i], row_[i], filter_cell_[i]});
    count_ = 0;
  }

 private:
  static constexpr int kPerRow = kMost * kMost * kMost, kStep = 8;
  static constexpr int kRoomPerRow = (kPerRow + kStep - 1) / kStep * kStep;  // what is written for a row at the most
  static constexpr int kSizes = kMost + 1, kKinds = kSizes * kSizes * kSizes;
  static constexpr std::int64_t kRoom = 512;

  // What a row meets depends on the numbers of outputs that its coordinates are sent to.
  struct Kind {
    // How far the cell of each is below that of the first, and its filter cell behind that of the first.
    std::uint64_t below[kRoomPerRow];
    std::int32_t further[kRoomPerRow];
    std::int64_t count;
  };

  Kind kind(int depths, int heights, int widths) const {
    Kind kind = {};
    for (int d = 0; d < depths; ++d) {
      for (int h = 0; h < heights; ++h) {
        for (int w = 0; w < widths; ++w, ++kind.count) {
          const int at[kSpaceDims] = {d, h, w};
          std::int64_t further = 0;
          for (int axis = 0; axis < kSpaceDims; ++axis) {
            kind.below[kind.count] += static_cast<std::uint64_t>(at[axis]) * axes_[axis].output_step;
            further += at[axis] * axes_[axis].filter_step;
          }
          kind.further[kind.count] = static_cast<std::int32_t>(further);
        }
      }
    }
    return kind;
  }

  const GridAxes axes_;
  Kind kinds_[kKinds];
  std::int64_t count_ = 0;
  std::uint64_t cell_[kRoom];
  std::int32_t row_[kRoom];
  std::int32_t filter_cell_[kRoom];
};

}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_CPU_MEETINGS_H_
