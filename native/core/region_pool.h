// Checks that operators share which pool regions of maps: maps [B, H, W, C], regions [R, K], pooled
// values [R, ph, pw, C].
#ifndef MLUOPS_CORE_REGION_POOL_H_
#define MLUOPS_CORE_REGION_POOL_H_

#include "core/check.h"
#include "core/region_sizes.h"

namespace mluops {

// `map` is the input or its gradient, `pooled` the output or its gradient. Of these the one that is
// given comes first in checks of types.
struct RegionTensors {
  TensorArgument map;
  TensorArgument rois;
  TensorArgument pooled;
  bool forward;
  const TensorArgument &given() const { return forward ? map : pooled; }
  const TensorArgument &written() const { return forward ? pooled : map; }
};

// Tensors of one type that are like `pooled` otherwise.
struct LikePooled {
  std::initializer_list<TensorArgument> tensors;
  mluOpDataType_t dtype;  // MLUOP_DTYPE_INVALID: that of the maps
};

// Ranks, types, layouts, strides and shapes, in this order. `row` says what a region has, and
// `row_size` is the number of its values. Entries of mluops_ext.h take half, unless that is denied,
// float and double.
mluOpStatus_t check_region_tensors(const Entry &entry, const RegionTensors &t, const char *row, int row_size,
                                   const LikePooled &more = {{}, MLUOP_DTYPE_INVALID}, bool takes_half = true);
// That each has elements, fewer than 2^31, and data. `more` are others that are written, or read.
mluOpStatus_t need_region_data(const Entry &entry, const RegionTensors &t,
                               std::initializer_list<TensorArgument> more = {});
// The same, and that what is written has memory of its own.
mluOpStatus_t check_region_data(const Entry &entry, const RegionTensors &t,
                                std::initializer_list<TensorArgument> more = {});
// Of tensors that were checked.
RegionSizes region_sizes(const RegionTensors &t);

// Samples of a bin along an axis, 0 for one each pixel. More than 256 are refused, so that a call
// does not last for hours.
mluOpStatus_t need_sampling_ratio(const Entry &entry, const char *argument, int value);
mluOpStatus_t need_positive(const Entry &entry, const char *argument, double value);
mluOpStatus_t need_not_negative(const Entry &entry, const char *argument, double value);
mluOpStatus_t need_finite(const Entry &entry, const char *argument, double value);

}  // namespace mluops

#endif  // MLUOPS_CORE_REGION_POOL_H_
