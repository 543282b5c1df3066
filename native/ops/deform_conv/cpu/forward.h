// Forward. A task owns some positions of the output. Cell by cell it samples their columns, which
// stay in the cache, and adds their products with the panels of the cell.
#ifndef MLUOPS_OPS_DEFORM_CONV_CPU_FORWARD_H_
#define MLUOPS_OPS_DEFORM_CONV_CPU_FORWARD_H_

#include "ops/deform_conv/cpu/panels.h"
#include "ops/deform_conv/cpu/samples.h"

namespace mluops {
namespace MLUOPS_LEVEL {
namespace {

template <typename T>
class DeformConvForward {
 public:
  typedef typename Arithmetic<T>::Value Value;
  static constexpr bool kConverted = sizeof(T) != sizeof(Value);

  explicit DeformConvForward(const DeformConvForwardProblem &problem)
      : problem_(problem), g_(problem.geometry), samples_(problem), panels_(g_, problem.filter, Way::kForward) {}

  mluOpStatus_t run() const {
    const std::int64_t together = positions_together(g_.positions(), g_.channels);
    const std::int64_t tasks = (g_.positions() + together - 1) / together;
    const std::int64_t slots = useful_slots(tasks, together * g_.cells() * g_.channels);
    const std::int64_t room = together * (g_.channels + (kConverted ? g_.out_channels : 0));
    const Scratch<Value> memory(slots * room);
    if (memory.data() == nullptr || !panels_.exists()) return out_of_memory(problem_.function);
    panels_.fill();
    if (interrupted()) return MLUOP_STATUS_SUCCESS;
    parallel_slots(tasks, slots, [&](std::int64_t slot, std::int64_t task) {
      compute(task * together, smaller(together, g_.positions() - task * together), memory.data() + slot * room);
    });
    return MLUOP_STATUS_SUCCESS;
  }

 private:
  // `memory` has the columns of the positions and, for halves, their sums.
  void compute(std::int64_t first, std::int64_t rows, Value *memory) const {
    T *const output = static_cast<T *>(problem_.output) + first * g_.out_channels;
    Value *const sums = kConverted ? memory + rows * g_.channels : reinterpret_cast<Value *>(output);
    std::memset(sums, 0, static_cast<std::size_t>(rows * g_.out_channels) * sizeof *sums);
    InterruptPoll poll;
    for (std::int64_t cell = 0; cell < g_.cells(); ++cell) {
      for (std::int64_t r = 0; r < rows; ++r) {
        if (poll.interrupted(g_.channels)) return;
        samples_.sample(first + r, cell, memory + r * g_.channels);
      }
      for (std::int64_t group = 0; group < g_.conv_groups; ++group) {
        if (poll.interrupted(rows * panels_.sources() * panels_.targets() / kTileRows)) return;
        Value *sources[kMostTogether], *targets[kMostTogether];
        rows_of(memory + group * panels_.sources(), g_.channels, rows, sources);
        rows_of(sums + group * panels_.targets(), g_.out_channels, rows, targets);
        panels_.multiply(group, cell, static_cast<int>(rows), sources, targets);
      }
    }
    finish(rows, sums, output);
  }

  // Adds the bias and rounds.
  void finish(std::int64_t rows, const Value *sums, T *output) const {
    const T *const bias = static_cast<const T *>(problem_.bias);
    if (bias == nullptr && !kConverted) return;
    for (std::int64_t r = 0; r < rows; ++r, sums += g_.out_channels, output += g_.out_channels) {
      for (std::int64_t c = 0; c < g_.out_channels; ++c)
        store(output + c, bias == nullptr ? sums[c] : sums[c] + widened(bias[c]));
    }
  }

  const DeformConvForwardProblem &problem_;
  const DeformConvGeometry &g_;
  const Samples<T> samples_;
  const FilterPanels<T> panels_;
};

}  // namespace
}  // namespace MLUOPS_LEVEL
}  // namespace mluops

#endif  // MLUOPS_OPS_DEFORM_CONV_CPU_FORWARD_H_
