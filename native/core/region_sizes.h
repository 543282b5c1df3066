// Sizes of what operators read and write that pool regions of maps.
#ifndef MLUOPS_CORE_REGION_SIZES_H_
#define MLUOPS_CORE_REGION_SIZES_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Maps [batches, height, width, channels], and pooled values [regions, rows, columns, channels].
// It has no functions, as kernels of all instruction levels see it.
struct RegionSizes {
  mluOpDataType_t type;  // of all arrays but argmax: half, float or double
  std::int64_t batches;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  std::int64_t regions;
  std::int64_t rows;     // of bins
  std::int64_t columns;  // of bins
};

}  // namespace mluops

#endif  // MLUOPS_CORE_REGION_SIZES_H_
