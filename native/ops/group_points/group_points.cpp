#include "ops/group_points/group_points.h"

#include "core/batch_rows.h"
#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/group_points.h"

namespace mluops {
namespace {

// `features` are [B, C, N], or their gradient; `picked` [B, C, M] or [B, C, M, S] what idx [B, M]
// or [B, M, S] picks of them, or its gradient.
struct Tensors {
  TensorArgument features;
  TensorArgument idx;
  TensorArgument picked;
};

std::int64_t extent(const TensorArgument &tensor, int dim) { return tensor.desc->dims[dim]; }

mluOpStatus_t check_types(const Entry &entry, const TensorArgument &given, const TensorArgument &made,
                          const TensorArgument &idx) {
  MLUOPS_TRY(need_packed(entry, {given, idx, made}));
  MLUOPS_TRY(need_real(entry, given));
  MLUOPS_TRY(need_dtype(entry, idx, MLUOP_DTYPE_INT32));
  return need_same_dtype(entry, made, given);
}

mluOpStatus_t check(const Entry &entry, mluOpHandle_t handle, const Tensors &t, int idx_rank, bool forward) {
  const TensorArgument &given = forward ? t.features : t.picked, &made = forward ? t.picked : t.features;
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {given, t.idx, made}));
  MLUOPS_TRY(need_rank(entry, t.features, 3, "[B, C, N]"));
  MLUOPS_TRY(need_rank(entry, t.idx, idx_rank, idx_rank == 2 ? "[B, M]" : "[B, M, S]"));
  MLUOPS_TRY(need_rank(entry, t.picked, idx_rank + 1, idx_rank == 2 ? "[B, C, M]" : "[B, C, M, S]"));
  MLUOPS_TRY(need_same_dim(entry, t.idx, 0, t.features, 0));
  MLUOPS_TRY(need_same_dim(entry, t.picked, 0, t.features, 0));
  MLUOPS_TRY(need_same_dim(entry, t.picked, 1, t.features, 1));
  for (int dim = 1; dim < idx_rank; ++dim) MLUOPS_TRY(need_same_dim(entry, t.picked, dim + 1, t.idx, dim));
  MLUOPS_TRY(check_types(entry, given, made, t.idx));
  for (const TensorArgument &tensor : {given, t.idx, made}) MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_indexable(entry, {given, t.idx, made}));
  MLUOPS_TRY(need_data(entry, {given, t.idx, made}));
  return require_no_overlap(entry, {made}, {given, t.idx});
}

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const Tensors &t, int idx_rank, bool forward) {
  MLUOPS_TRY(check(entry, handle, t, idx_rank, forward));
  GroupPointsProblem problem;
  problem.function = entry.function;
  problem.type = t.features.desc->dtype;
  problem.batches = extent(t.features, 0);
  problem.channels = extent(t.features, 1);
  problem.points = extent(t.features, 2);
  problem.indexed = t.idx.desc->count / problem.batches;
  problem.source = forward ? t.features.data : t.picked.data;
  problem.indices = static_cast<const std::int32_t *>(t.idx.data);
  problem.result = const_cast<void *>(forward ? t.picked.data : t.features.data);
  return forward ? launch_group_points_forward(handle, problem) : launch_group_points_backward(handle, problem);
}

// The same for stacked rows: features [N, C], idx [M, S], picked [M, C, S].
struct StackTensors {
  TensorArgument features;
  TensorArgument features_batch_cnt;
  TensorArgument idx;
  TensorArgument idx_batch_cnt;
  TensorArgument picked;
};

mluOpStatus_t check_stack(const Entry &entry, mluOpHandle_t handle, const StackTensors &t, bool forward) {
  const TensorArgument &given = forward ? t.features : t.picked, &made = forward ? t.picked : t.features;
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {given, t.features_batch_cnt, t.idx, t.idx_batch_cnt, made}));
  MLUOPS_TRY(need_rank(entry, t.features, 2, "[N, C]"));
  MLUOPS_TRY(need_rank(entry, t.features_batch_cnt, 1, "[B]"));
  MLUOPS_TRY(need_rank(entry, t.idx, 2, "[M, S]"));
  MLUOPS_TRY(need_rank(entry, t.idx_batch_cnt, 1, "[B]"));
  MLUOPS_TRY(need_rank(entry, t.picked, 3, "[M, C, S]"));
  MLUOPS_TRY(need_same_dim(entry, t.idx_batch_cnt, 0, t.features_batch_cnt, 0));
  MLUOPS_TRY(need_same_dim(entry, t.picked, 0, t.idx, 0));
  MLUOPS_TRY(need_same_dim(entry, t.picked, 1, t.features, 1));
  MLUOPS_TRY(need_same_dim(entry, t.picked, 2, t.idx, 1));
  MLUOPS_TRY(need_packed(entry, {t.features_batch_cnt, t.idx_batch_cnt}));
  MLUOPS_TRY(check_types(entry, given, made, t.idx));
  for (const TensorArgument &counts : {t.features_batch_cnt, t.idx_batch_cnt})
    MLUOPS_TRY(need_dtype(entry, counts, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {given, t.idx, made, t.idx_batch_cnt}) MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_indexable(entry, {given, t.features_batch_cnt, t.idx, t.idx_batch_cnt, made}));
  MLUOPS_TRY(need_data(entry, {given, t.features_batch_cnt, t.idx, t.idx_batch_cnt, made}));
  return require_no_overlap(entry, {made}, {given, t.features_batch_cnt, t.idx, t.idx_batch_cnt});
}

mluOpStatus_t run_stack(const Entry &entry, mluOpHandle_t handle, const StackTensors &t, bool forward) {
  MLUOPS_TRY(check_stack(entry, handle, t, forward));
  Array<std::int64_t> feature_rows, group_rows;
  MLUOPS_TRY(read_batch_rows(entry, t.features_batch_cnt, t.features, &feature_rows));
  MLUOPS_TRY(read_batch_rows(entry, t.idx_batch_cnt, t.idx, &group_rows));
  StackGroupPointsProblem problem;
  problem.function = entry.function;
  problem.type = t.features.desc->dtype;
  problem.batches = t.idx_batch_cnt.desc->count;
  problem.feature_rows = feature_rows.begin();
  problem.group_rows = group_rows.begin();
  problem.points = extent(t.features, 0);
  problem.groups = extent(t.idx, 0);
  problem.channels = extent(t.features, 1);
  problem.samples = extent(t.idx, 1);
  problem.source = forward ? t.features.data : t.picked.data;
  problem.indices = static_cast<const std::int32_t *>(t.idx.data);
  problem.result = const_cast<void *>(forward ? t.picked.data : t.features.data);
  return forward ? launch_stack_group_points_forward(handle, problem)
                 : launch_stack_group_points_backward(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtGatherPointsForward(mluOpHandle_t handle,
                                                         const mluOpTensorDescriptor_t features_desc,
                                                         const void *features, const mluOpTensorDescriptor_t idx_desc,
                                                         const void *idx, const mluOpTensorDescriptor_t output_desc,
                                                         void *output) {
  return mluops::guarded("mluopsExtGatherPointsForward", [&] {
    return mluops::run({"mluopsExtGatherPointsForward"}, handle,
                       {{"features", features_desc, features}, {"idx", idx_desc, idx}, {"output", output_desc, output}},
                       2, true);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtGatherPointsBackward(mluOpHandle_t handle,
                                                          const mluOpTensorDescriptor_t grad_output_desc,
                                                          const void *grad_output,
                                                          const mluOpTensorDescriptor_t idx_desc, const void *idx,
                                                          const mluOpTensorDescriptor_t grad_features_desc,
                                                          void *grad_features) {
  return mluops::guarded("mluopsExtGatherPointsBackward", [&] {
    return mluops::run({"mluopsExtGatherPointsBackward"}, handle,
                       {{"grad_features", grad_features_desc, grad_features},
                        {"idx", idx_desc, idx},
                        {"grad_output", grad_output_desc, grad_output}},
                       2, false);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtGroupPointsForward(mluOpHandle_t handle,
                                                        const mluOpTensorDescriptor_t features_desc,
                                                        const void *features, const mluOpTensorDescriptor_t idx_desc,
                                                        const void *idx, const mluOpTensorDescriptor_t output_desc,
                                                        void *output) {
  return mluops::guarded("mluopsExtGroupPointsForward", [&] {
    return mluops::run({"mluopsExtGroupPointsForward"}, handle,
                       {{"features", features_desc, features}, {"idx", idx_desc, idx}, {"output", output_desc, output}},
                       3, true);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtGroupPointsBackward(mluOpHandle_t handle,
                                                         const mluOpTensorDescriptor_t grad_output_desc,
                                                         const void *grad_output,
                                                         const mluOpTensorDescriptor_t idx_desc, const void *idx,
                                                         const mluOpTensorDescriptor_t grad_features_desc,
                                                         void *grad_features) {
  return mluops::guarded("mluopsExtGroupPointsBackward", [&] {
    return mluops::run({"mluopsExtGroupPointsBackward"}, handle,
                       {{"grad_features", grad_features_desc, grad_features},
                        {"idx", idx_desc, idx},
                        {"grad_output", grad_output_desc, grad_output}},
                       3, false);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtStackGroupPointsForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t features_batch_cnt_desc, const void *features_batch_cnt,
    const mluOpTensorDescriptor_t idx_desc, const void *idx, const mluOpTensorDescriptor_t idx_batch_cnt_desc,
    const void *idx_batch_cnt, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtStackGroupPointsForward", [&] {
    return mluops::run_stack({"mluopsExtStackGroupPointsForward"}, handle,
                             {{"features", features_desc, features},
                              {"features_batch_cnt", features_batch_cnt_desc, features_batch_cnt},
                              {"idx", idx_desc, idx},
                              {"idx_batch_cnt", idx_batch_cnt_desc, idx_batch_cnt},
                              {"output", output_desc, output}},
                             true);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtStackGroupPointsBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t idx_desc, const void *idx, const mluOpTensorDescriptor_t idx_batch_cnt_desc,
    const void *idx_batch_cnt, const mluOpTensorDescriptor_t features_batch_cnt_desc, const void *features_batch_cnt,
    const mluOpTensorDescriptor_t grad_features_desc, void *grad_features) {
  return mluops::guarded("mluopsExtStackGroupPointsBackward", [&] {
    return mluops::run_stack({"mluopsExtStackGroupPointsBackward"}, handle,
                             {{"grad_features", grad_features_desc, grad_features},
                              {"features_batch_cnt", features_batch_cnt_desc, features_batch_cnt},
                              {"idx", idx_desc, idx},
                              {"idx_batch_cnt", idx_batch_cnt_desc, idx_batch_cnt},
                              {"grad_output", grad_output_desc, grad_output}},
                             false);
  });
}
