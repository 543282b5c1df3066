#include "ops/sync_batch_norm/arguments.h"

namespace mluops {
namespace sync_batch_norm {

mluOpStatus_t Arguments::need_objects(mluOpHandle_t handle) const {
  MLUOPS_TRY(need_handle(function_, handle));
  for (const Argument &one : *this) MLUOPS_TRY(need_descriptors(function_, {one.tensor}));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t Arguments::need_shapes(int channel) const {
  for (const Argument &one : *this) {
    if (one.role == Role::kChannel) MLUOPS_TRY(need_rank(function_, one.tensor, 1, "[C]"));
    if (one.role == Role::kCounts) MLUOPS_TRY(need_rank(function_, one.tensor, 1, "[D]"));
  }
  for (const Argument &one : *this) {
    if (one.role == Role::kValues) MLUOPS_TRY(need_same_shape(function_, one.tensor, values()));
    if (one.role == Role::kChannel) MLUOPS_TRY(need_same_dim(function_, one.tensor, 0, values(), channel));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t Arguments::need_packed_tensors() const {
  for (const Argument &one : *this) MLUOPS_TRY(need_packed(function_, {one.tensor}));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t Arguments::need_types() const {
  const bool in_double = values().desc->dtype == MLUOP_DTYPE_DOUBLE;
  for (const Argument &one : *this) {
    if (one.role == Role::kValues) MLUOPS_TRY(need_same_dtype(function_, one.tensor, values()));
    if (one.role == Role::kChannel)
      MLUOPS_TRY(need_dtype(function_, one.tensor, in_double ? MLUOP_DTYPE_DOUBLE : MLUOP_DTYPE_FLOAT));
    if (one.role == Role::kCounts) MLUOPS_TRY(need_dtype(function_, one.tensor, MLUOP_DTYPE_INT32));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t Arguments::need_tensor_data() const {
  for (const Argument &one : *this) {
    if (one.tensor.desc->count > 0) MLUOPS_TRY(need_data(function_, {one.tensor}));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t Arguments::need_own_memory() const {
  for (const Argument *one = begin(); one != end(); ++one) {
    if (!one->written) continue;
    for (const Argument *other = begin(); other != end(); ++other) {
      if (other == one || (other->written && other < one)) continue;
      MLUOPS_TRY(require_no_overlap(function_, {one->tensor}, {other->tensor}));
    }
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace sync_batch_norm
}  // namespace mluops
