#include "ops/three_nn/three_nn.h"

#include "core/batch_rows.h"
#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/three_nn.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument unknown;
  TensorArgument known;
  TensorArgument dist2;
  TensorArgument idx;
};

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.unknown, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.known, 3, "[B, M, 3]"));
  MLUOPS_TRY(need_rank(entry, t.dist2, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.idx, 3, "[B, N, 3]"));
  for (const TensorArgument &tensor : {t.known, t.dist2, t.idx})
    MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.unknown, 0));
  for (const TensorArgument &tensor : {t.dist2, t.idx}) MLUOPS_TRY(need_same_dim(entry, tensor, 1, t.unknown, 1));
  for (const TensorArgument &tensor : {t.unknown, t.known})
    MLUOPS_TRY(need_dim(entry, tensor, 2, "number of coordinates", 3));
  for (const TensorArgument &tensor : {t.dist2, t.idx})
    MLUOPS_TRY(need_dim(entry, tensor, 2, "number of neighbours", kNearest));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_float_or_half(entry, t.unknown));
  MLUOPS_TRY(need_same_dtype(entry, t.known, t.unknown));
  MLUOPS_TRY(need_same_dtype(entry, t.dist2, t.unknown));
  MLUOPS_TRY(need_dtype(entry, t.idx, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_packed(entry, {t.unknown, t.known, t.dist2, t.idx}));
  return need_indexable(entry, {t.unknown, t.known, t.dist2, t.idx});
}

mluOpStatus_t check_data(const Entry &entry, const Tensors &t, const void *workspace, std::size_t workspace_size) {
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(need_data(entry, {t.unknown, t.known, t.dist2, t.idx}));
  return require_no_overlap(entry, {t.dist2, t.idx}, {t.unknown, t.known});
}

// The kernel works in the caches of the CPU.
mluOpStatus_t workspace_size(const Entry &entry, mluOpHandle_t handle, const TensorArgument &known, std::size_t *size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {known}));
  MLUOPS_TRY(need_pointer(entry, "workspace_size", size));
  MLUOPS_TRY(need_rank(entry, known, 3, "[B, M, 3]"));
  *size = 0;
  return MLUOP_STATUS_SUCCESS;
}

struct StackTensors {
  TensorArgument unknown;
  TensorArgument unknown_batch_cnt;
  TensorArgument known;
  TensorArgument known_batch_cnt;
  TensorArgument dist2;
  TensorArgument idx;
};

mluOpStatus_t check_stack_shapes(const Entry &entry, const StackTensors &t) {
  MLUOPS_TRY(need_rank(entry, t.unknown, 2, "[N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.unknown_batch_cnt, 1, "[B]"));
  MLUOPS_TRY(need_rank(entry, t.known, 2, "[M, 3]"));
  MLUOPS_TRY(need_rank(entry, t.known_batch_cnt, 1, "[B]"));
  for (const TensorArgument &tensor : {t.dist2, t.idx}) MLUOPS_TRY(need_rank(entry, tensor, 2, "[N, 3]"));
  MLUOPS_TRY(need_same_dim(entry, t.known_batch_cnt, 0, t.unknown_batch_cnt, 0));
  for (const TensorArgument &tensor : {t.dist2, t.idx}) MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.unknown, 0));
  for (const TensorArgument &tensor : {t.unknown, t.known})
    MLUOPS_TRY(need_dim(entry, tensor, 1, "number of coordinates", 3));
  for (const TensorArgument &tensor : {t.dist2, t.idx})
    MLUOPS_TRY(need_dim(entry, tensor, 1, "number of neighbours", kNearest));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_stack(const Entry &entry, mluOpHandle_t handle, const StackTensors &t) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.unknown, t.unknown_batch_cnt, t.known, t.known_batch_cnt, t.dist2, t.idx}));
  MLUOPS_TRY(check_stack_shapes(entry, t));
  MLUOPS_TRY(need_packed(entry, {t.unknown, t.unknown_batch_cnt, t.known, t.known_batch_cnt, t.dist2, t.idx}));
  MLUOPS_TRY(need_real(entry, t.unknown));
  for (const TensorArgument &tensor : {t.known, t.dist2}) MLUOPS_TRY(need_same_dtype(entry, tensor, t.unknown));
  for (const TensorArgument &tensor : {t.unknown_batch_cnt, t.known_batch_cnt, t.idx})
    MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_elements(entry, t.unknown));
  MLUOPS_TRY(need_elements(entry, t.unknown_batch_cnt));
  MLUOPS_TRY(need_indexable(entry, {t.unknown, t.unknown_batch_cnt, t.known, t.known_batch_cnt, t.dist2, t.idx}));
  if (t.known.desc->count > 0) MLUOPS_TRY(need_data(entry, {t.known}));
  MLUOPS_TRY(need_data(entry, {t.unknown, t.unknown_batch_cnt, t.known_batch_cnt, t.dist2, t.idx}));
  return require_no_overlap(entry, {t.dist2, t.idx}, {t.unknown, t.unknown_batch_cnt, t.known, t.known_batch_cnt});
}

mluOpStatus_t stack_three_nn(const Entry &entry, mluOpHandle_t handle, const StackTensors &t) {
  MLUOPS_TRY(check_stack(entry, handle, t));
  Array<std::int64_t> unknown_rows, known_rows;
  MLUOPS_TRY(read_batch_rows(entry, t.unknown_batch_cnt, t.unknown, &unknown_rows));
  MLUOPS_TRY(read_batch_rows(entry, t.known_batch_cnt, t.known, &known_rows));
  ThreeNNForwardProblem problem;
  problem.function = entry.function;
  problem.batches = t.known_batch_cnt.desc->count;
  problem.unknowns = t.unknown.desc->dims[0];
  problem.knowns = t.known.desc->dims[0];
  problem.half = t.unknown.desc->dtype == MLUOP_DTYPE_HALF;
  problem.is_double = t.unknown.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.unknown = t.unknown.data;
  problem.known = t.known.data;
  problem.dist2 = const_cast<void *>(t.dist2.data);
  problem.indices = static_cast<std::int32_t *>(const_cast<void *>(t.idx.data));
  problem.unknown_rows = unknown_rows.begin();
  problem.known_rows = known_rows.begin();
  return launch_three_nn_forward(handle, problem);
}

}  // namespace

mluOpStatus_t three_nn_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &unknown,
                               const TensorArgument &known, void *workspace, std::size_t workspace_size,
                               const TensorArgument &dist2, const TensorArgument &idx) {
  const Tensors t{unknown, known, dist2, idx};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.known, t.unknown, t.dist2, t.idx}));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(need_elements(entry, t.unknown));
  if (t.known.desc->count > 0) {
    MLUOPS_TRY(check_data(entry, t, workspace, workspace_size));
  } else {
    // All results are missing neighbours; the workspace is not used.
    MLUOPS_TRY(need_data(entry, {t.unknown, t.dist2, t.idx}));
    MLUOPS_TRY(require_no_overlap(entry, {t.dist2, t.idx}, {t.unknown}));
  }

  ThreeNNForwardProblem problem;
  problem.function = entry.function;
  problem.batches = t.unknown.desc->dims[0];
  problem.unknowns = t.unknown.desc->dims[1];
  problem.knowns = t.known.desc->dims[1];
  problem.half = t.unknown.desc->dtype == MLUOP_DTYPE_HALF;
  problem.is_double = t.unknown.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.unknown = t.unknown.data;
  problem.known = t.known.data;
  problem.dist2 = const_cast<void *>(t.dist2.data);
  problem.indices = static_cast<std::int32_t *>(const_cast<void *>(t.idx.data));
  return launch_three_nn_forward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(ThreeNNForward);

mluOpStatus_t MLUOP_WIN_API mluOpGetThreeNNForwardWorkspaceSize(const mluOpHandle_t handle,
                                                                const mluOpTensorDescriptor_t known_desc,
                                                                size_t *workspace_size) {
  return mluops::guarded("mluOpGetThreeNNForwardWorkspaceSize", [&] {
    return mluops::workspace_size({"mluOpGetThreeNNForwardWorkspaceSize"}, handle, {"known", known_desc, nullptr},
                                  workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpThreeNNForward(const mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc,
                                                const void *unknown, const mluOpTensorDescriptor_t known_desc,
                                                const void *known, void *workspace, const size_t workspace_size,
                                                const mluOpTensorDescriptor_t dist2_desc, void *dist2,
                                                const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluOpThreeNNForward", [&] {
    return mluops::three_nn_forward({"mluOpThreeNNForward"}, handle, {"unknown", unknown_desc, unknown},
                                    {"known", known_desc, known}, workspace, workspace_size,
                                    {"dist2", dist2_desc, dist2}, {"idx", idx_desc, idx});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtStackThreeNN(mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc,
                                                  const void *unknown,
                                                  const mluOpTensorDescriptor_t unknown_batch_cnt_desc,
                                                  const void *unknown_batch_cnt,
                                                  const mluOpTensorDescriptor_t known_desc, const void *known,
                                                  const mluOpTensorDescriptor_t known_batch_cnt_desc,
                                                  const void *known_batch_cnt, const mluOpTensorDescriptor_t dist2_desc,
                                                  void *dist2, const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluopsExtStackThreeNN", [&] {
    return mluops::stack_three_nn({"mluopsExtStackThreeNN"}, handle,
                                  {{"unknown", unknown_desc, unknown},
                                   {"unknown_batch_cnt", unknown_batch_cnt_desc, unknown_batch_cnt},
                                   {"known", known_desc, known},
                                   {"known_batch_cnt", known_batch_cnt_desc, known_batch_cnt},
                                   {"dist2", dist2_desc, dist2},
                                   {"idx", idx_desc, idx}});
  });
}
