#include "ops/three_nn/three_nn.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument unknown;
  TensorArgument known;
  TensorArgument dist2;
  TensorArgument idx;
};

mluOpStatus_t check_shapes(const char *function, const Tensors &t) {
  MLUOPS_TRY(need_rank(function, t.unknown, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(function, t.known, 3, "[B, M, 3]"));
  MLUOPS_TRY(need_rank(function, t.dist2, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(function, t.idx, 3, "[B, N, 3]"));
  for (const TensorArgument &tensor : {t.known, t.dist2, t.idx})
    MLUOPS_TRY(need_same_dim(function, tensor, 0, t.unknown, 0));
  for (const TensorArgument &tensor : {t.dist2, t.idx}) MLUOPS_TRY(need_same_dim(function, tensor, 1, t.unknown, 1));
  for (const TensorArgument &tensor : {t.unknown, t.known})
    MLUOPS_TRY(need_dim(function, tensor, 2, "number of coordinates", 3));
  for (const TensorArgument &tensor : {t.dist2, t.idx})
    MLUOPS_TRY(need_dim(function, tensor, 2, "number of neighbours", kNearest));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_types(const char *function, const Tensors &t) {
  MLUOPS_TRY(need_float_or_half(function, t.unknown));
  MLUOPS_TRY(need_same_dtype(function, t.known, t.unknown));
  MLUOPS_TRY(need_same_dtype(function, t.dist2, t.unknown));
  MLUOPS_TRY(need_dtype(function, t.idx, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_packed(function, {t.unknown, t.known, t.dist2, t.idx}));
  return need_indexable(function, {t.unknown, t.known, t.dist2, t.idx});
}

mluOpStatus_t check_data(const char *function, const Tensors &t, const void *workspace, std::size_t workspace_size) {
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(function, "workspace", workspace));
  MLUOPS_TRY(need_data(function, {t.unknown, t.known, t.dist2, t.idx}));
  return require_no_overlap(function, {t.dist2, t.idx}, {t.unknown, t.known});
}

mluOpStatus_t three_nn(const char *function, mluOpHandle_t handle, const Tensors &t, const void *workspace,
                       std::size_t workspace_size) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.known, t.unknown, t.dist2, t.idx}));
  MLUOPS_TRY(check_shapes(function, t));
  MLUOPS_TRY(check_types(function, t));
  MLUOPS_TRY(need_elements(function, t.unknown));
  if (t.known.desc->count > 0) {
    MLUOPS_TRY(check_data(function, t, workspace, workspace_size));
  } else {
    // Results say that everything is missing; a workspace is not looked at.
    MLUOPS_TRY(need_data(function, {t.unknown, t.dist2, t.idx}));
    MLUOPS_TRY(require_no_overlap(function, {t.dist2, t.idx}, {t.unknown}));
  }

  ThreeNNForwardProblem problem;
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

// The kernel works in the caches of the CPU.
mluOpStatus_t workspace_size(const char *function, mluOpHandle_t handle, const TensorArgument &known,
                             std::size_t *size) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {known}));
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  MLUOPS_TRY(need_rank(function, known, 3, "[B, M, 3]"));
  *size = 0;
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpGetThreeNNForwardWorkspaceSize(const mluOpHandle_t handle,
                                                                const mluOpTensorDescriptor_t known_desc,
                                                                size_t *workspace_size) {
  return mluops::guarded("mluOpGetThreeNNForwardWorkspaceSize", [&] {
    return mluops::workspace_size("mluOpGetThreeNNForwardWorkspaceSize", handle, {"known", known_desc, nullptr},
                                  workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpThreeNNForward(const mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc,
                                                const void *unknown, const mluOpTensorDescriptor_t known_desc,
                                                const void *known, void *workspace, const size_t workspace_size,
                                                const mluOpTensorDescriptor_t dist2_desc, void *dist2,
                                                const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluOpThreeNNForward", [&] {
    return mluops::three_nn("mluOpThreeNNForward", handle,
                            {{"unknown", unknown_desc, unknown},
                             {"known", known_desc, known},
                             {"dist2", dist2_desc, dist2},
                             {"idx", idx_desc, idx}},
                            workspace, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtThreeNNForwardDouble(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc, const void *unknown,
    const mluOpTensorDescriptor_t known_desc, const void *known, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t dist2_desc, void *dist2, const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluopsExtThreeNNForwardDouble", [&] {
    return mluops::three_nn("mluopsExtThreeNNForwardDouble", handle,
                            {{"unknown", unknown_desc, unknown},
                             {"known", known_desc, known},
                             {"dist2", dist2_desc, dist2},
                             {"idx", idx_desc, idx}},
                            workspace, workspace_size);
  });
}
