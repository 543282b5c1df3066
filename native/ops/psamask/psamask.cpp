#include "ops/psamask/psamask.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

// This operator reports every fault of its tensors as BAD_PARAM, including strides and size.
mluOpStatus_t as_bad_param(mluOpStatus_t status) {
  return status == MLUOP_STATUS_NOT_SUPPORTED ? MLUOP_STATUS_BAD_PARAM : status;
}

mluOpStatus_t check_mask_size(const Entry &entry, const char *argument, int size) {
  MLUOPS_REQUIRE(size > 0, MLUOP_STATUS_BAD_PARAM, entry, argument, "at least 1", Text::format("%d", size));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_tensors(const Entry &entry, const TensorArgument &mask, const TensorArgument &map, int h_mask,
                            int w_mask) {
  MLUOPS_TRY(need_rank(entry, mask, 4, "[N, H, W, h_mask*w_mask]"));
  MLUOPS_TRY(need_rank(entry, map, 4, "[N, H, W, H*W]"));
  MLUOPS_TRY(need_layout(entry, mask, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, map, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_float(entry, mask));
  MLUOPS_TRY(need_float(entry, map));
  for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(entry, map, dim, mask, dim));
  MLUOPS_TRY(check_mask_size(entry, "h_mask", h_mask));
  MLUOPS_TRY(check_mask_size(entry, "w_mask", w_mask));
  MLUOPS_TRY(need_dim(entry, mask, 3, "h_mask*w_mask", std::int64_t{h_mask} * w_mask));
  std::int64_t area;
  if (__builtin_mul_overflow(map.desc->dims[1], map.desc->dims[2], &area)) area = -1;
  MLUOPS_TRY(need_dim(entry, map, 3, "H*W", area));
  MLUOPS_TRY(need_packed(entry, {mask, map}));
  return need_indexable(entry, {mask, map});
}

mluOpStatus_t check_psa_type(const Entry &entry, int psa_type) {
  MLUOPS_REQUIRE(psa_type == static_cast<int>(PsaType::kCollect) || psa_type == static_cast<int>(PsaType::kDistribute),
                 MLUOP_STATUS_BAD_PARAM, entry, "psa_type", "0 (collect) or 1 (distribute)",
                 Text::format("%d", psa_type));
  return MLUOP_STATUS_SUCCESS;
}

PsamaskGeometry geometry_of(int psa_type, const TensorArgument &mask, int h_mask, int w_mask) {
  PsamaskGeometry geometry;
  geometry.type = static_cast<PsaType>(psa_type);
  geometry.batches = mask.desc->dims[0];
  geometry.height = mask.desc->dims[1];
  geometry.width = mask.desc->dims[2];
  geometry.mask_h = h_mask;
  geometry.mask_w = w_mask;
  geometry.is_double = mask.desc->dtype == MLUOP_DTYPE_DOUBLE;
  return geometry;
}

// Checks of both directions. `*done` is set if there is nothing to compute.
mluOpStatus_t check_call(const Entry &entry, mluOpHandle_t handle, int psa_type, const TensorArgument &source,
                         const TensorArgument &target, const TensorArgument &mask, const TensorArgument &map,
                         int h_mask, int w_mask, bool *done) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {map, mask}));
  MLUOPS_TRY(as_bad_param(check_tensors(entry, mask, map, h_mask, w_mask)));
  MLUOPS_TRY(check_psa_type(entry, psa_type));
  *done = source.desc->count == 0;
  if (*done) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {source, target}));
  return require_no_overlap(entry, {target}, {source});
}

}  // namespace

mluOpStatus_t psamask_forward(const Entry &entry, mluOpHandle_t handle, int psa_type, const TensorArgument &x,
                              int h_mask, int w_mask, const TensorArgument &y) {
  bool done = false;
  MLUOPS_TRY(check_call(entry, handle, psa_type, x, y, x, y, h_mask, w_mask, &done));
  if (done) return MLUOP_STATUS_SUCCESS;
  PsamaskForwardProblem problem;
  problem.function = entry.function;
  problem.geometry = geometry_of(psa_type, x, h_mask, w_mask);
  problem.mask = static_cast<const float *>(x.data);
  problem.map = static_cast<float *>(const_cast<void *>(y.data));
  return launch_psamask_forward(handle, problem);
}

mluOpStatus_t psamask_backward(const Entry &entry, mluOpHandle_t handle, int psa_type, const TensorArgument &dy,
                               int h_mask, int w_mask, const TensorArgument &dx) {
  bool done = false;
  MLUOPS_TRY(check_call(entry, handle, psa_type, dy, dx, dx, dy, h_mask, w_mask, &done));
  if (done) return MLUOP_STATUS_SUCCESS;
  PsamaskBackwardProblem problem;
  problem.function = entry.function;
  problem.geometry = geometry_of(psa_type, dx, h_mask, w_mask);
  problem.map = static_cast<const float *>(dy.data);
  problem.mask = static_cast<float *>(const_cast<void *>(dx.data));
  return launch_psamask_backward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(PsamaskForward);
MLUOPS_IN_DOUBLE(PsamaskBackward);

mluOpStatus_t MLUOP_WIN_API mluOpPsamaskForward(mluOpHandle_t handle, const int psa_type,
                                                const mluOpTensorDescriptor_t x_desc, const void *x, const int h_mask,
                                                const int w_mask, const mluOpTensorDescriptor_t y_desc, void *y) {
  return mluops::guarded("mluOpPsamaskForward", [&] {
    return mluops::psamask_forward({"mluOpPsamaskForward"}, handle, psa_type, {"x", x_desc, x}, h_mask, w_mask,
                                   {"y", y_desc, y});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpPsamaskBackward(mluOpHandle_t handle, const int psa_type,
                                                 const mluOpTensorDescriptor_t dy_desc, const void *dy,
                                                 const int h_mask, const int w_mask,
                                                 const mluOpTensorDescriptor_t dx_desc, void *dx) {
  return mluops::guarded("mluOpPsamaskBackward", [&] {
    return mluops::psamask_backward({"mluOpPsamaskBackward"}, handle, psa_type, {"dy", dy_desc, dy}, h_mask, w_mask,
                                    {"dx", dx_desc, dx});
  });
}
