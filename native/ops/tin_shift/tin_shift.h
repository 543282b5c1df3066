// TinShift: groups of channels are shifted along time, each by its own number of steps.
#ifndef MLUOPS_OPS_TIN_SHIFT_TIN_SHIFT_H_
#define MLUOPS_OPS_TIN_SHIFT_TIN_SHIFT_H_

#include <cstddef>
#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// output[n, t, c, p] = input[n, t - s, c, p] with s = shifts[n, c / (channels / groups)], 0 where t
// - s is outside [0, times). Every extent is at least 1.
struct TinShiftProblem {
  const char *function;  // of the entry point, for messages: forward and backward are the same problem
  const void *input;
  const std::int32_t *shifts;
  void *output;
  std::int64_t batches;
  std::int64_t times;
  std::int64_t channels;
  std::int64_t pixels;
  std::int64_t groups;
  std::size_t element_size;
};

mluOpStatus_t launch_tin_shift(mluOpHandle_t handle, const TinShiftProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_TIN_SHIFT_TIN_SHIFT_H_
