// Features of points by their indices, of single points and of groups, and the gradient with
// respect to the features.
#ifndef MLUOPS_OPS_GROUP_POINTS_GROUP_POINTS_H_
#define MLUOPS_OPS_GROUP_POINTS_GROUP_POINTS_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Forward: result[b, c, i] = source[b, c, indices[b, i]]. Backward: result[b, c, n] is the sum of
// source[b, c, i] over all i with indices[b, i] == n, in this order. An index that is no point
// gives 0, and takes no part in a sum. Every extent is at least 1.
struct GroupPointsProblem {
  const char *function;  // of the entry point, for messages
  mluOpDataType_t type;  // half, float or double
  std::int64_t batches;
  std::int64_t channels;
  std::int64_t points;   // N
  std::int64_t indexed;  // indices of a batch
  const void *source;
  const std::int32_t *indices;  // [batches, indexed]
  void *result;
};

// The same for stacked rows, forward: result[m, c, s] = source[first + indices[m, s], c], where
// `first` is the first row of the batch that group m belongs to. An index must be a row of its
// batch.
struct StackGroupPointsProblem {
  const char *function;
  mluOpDataType_t type;
  std::int64_t batches;
  const std::int64_t *feature_rows;  // where the rows of each batch begin, and end
  const std::int64_t *group_rows;
  std::int64_t points;  // N, of all batches
  std::int64_t groups;  // M, of all batches
  std::int64_t channels;
  std::int64_t samples;
  const void *source;
  const std::int32_t *indices;  // [groups, samples]
  void *result;
};

mluOpStatus_t launch_group_points_forward(mluOpHandle_t handle, const GroupPointsProblem &problem);
mluOpStatus_t launch_group_points_backward(mluOpHandle_t handle, const GroupPointsProblem &problem);
mluOpStatus_t launch_stack_group_points_forward(mluOpHandle_t handle, const StackGroupPointsProblem &problem);
mluOpStatus_t launch_stack_group_points_backward(mluOpHandle_t handle, const StackGroupPointsProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_GROUP_POINTS_GROUP_POINTS_H_
