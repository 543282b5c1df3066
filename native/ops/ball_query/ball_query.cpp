#include "ops/ball_query/ball_query.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext.h"

namespace mluops {
namespace {

constexpr std::int64_t kCoordinates = 3;

struct Tensors {
  TensorArgument new_xyz;
  TensorArgument xyz;
  TensorArgument idx;
};

// A NaN is refused too.
mluOpStatus_t check_radius(const char *function, const char *argument, double radius) {
  MLUOPS_REQUIRE(radius >= 0, MLUOP_STATUS_BAD_PARAM, function, argument, "at least 0", Text::format("%g", radius));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_numbers(const char *function, double min_radius, double max_radius, int nsample) {
  MLUOPS_TRY(check_radius(function, "min_radius", min_radius));
  MLUOPS_TRY(check_radius(function, "max_radius", max_radius));
  MLUOPS_REQUIRE(nsample >= 0, MLUOP_STATUS_BAD_PARAM, function, "nsample", "at least 0", Text::format("%d", nsample));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_shapes(const char *function, const Tensors &t, int nsample) {
  MLUOPS_TRY(need_rank(function, t.new_xyz, 3, "[B, M, 3]"));
  MLUOPS_TRY(need_rank(function, t.xyz, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(function, t.idx, 3, "[B, M, nsample]"));
  MLUOPS_TRY(need_same_dim(function, t.xyz, 0, t.new_xyz, 0));
  MLUOPS_TRY(need_same_dim(function, t.idx, 0, t.new_xyz, 0));
  MLUOPS_TRY(need_same_dim(function, t.idx, 1, t.new_xyz, 1));
  MLUOPS_TRY(need_dim(function, t.new_xyz, 2, "number of coordinates", kCoordinates));
  MLUOPS_TRY(need_dim(function, t.xyz, 2, "number of coordinates", kCoordinates));
  return need_dim(function, t.idx, 2, "nsample", nsample);
}

mluOpStatus_t check_types(const char *function, const Tensors &t) {
  MLUOPS_TRY(need_packed(function, {t.new_xyz, t.xyz, t.idx}));
  MLUOPS_TRY(need_float_or_half(function, t.new_xyz));
  MLUOPS_TRY(need_same_dtype(function, t.xyz, t.new_xyz));
  return need_dtype(function, t.idx, MLUOP_DTYPE_INT32);
}

mluOpStatus_t ball_query(const char *function, mluOpHandle_t handle, const Tensors &t, double min_radius,
                         double max_radius, int nsample) {
  MLUOPS_TRY(check_numbers(function, min_radius, max_radius, nsample));
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.new_xyz, t.xyz, t.idx}));
  MLUOPS_TRY(check_shapes(function, t, nsample));
  MLUOPS_TRY(check_types(function, t));
  MLUOPS_TRY(need_indexable(function, {t.new_xyz, t.idx, t.xyz}));
  MLUOPS_TRY(need_elements(function, t.new_xyz));
  if (t.xyz.desc->count == 0 || nsample == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(function, {t.new_xyz, t.xyz, t.idx}));
  MLUOPS_TRY(require_no_overlap(function, {t.idx}, {t.new_xyz, t.xyz}));

  BallQueryProblem problem;
  problem.batches = t.new_xyz.desc->dims[0];
  problem.centres = t.new_xyz.desc->dims[1];
  problem.points = t.xyz.desc->dims[1];
  problem.samples = nsample;
  problem.min_radius = min_radius;
  problem.max_radius = max_radius;
  problem.half = t.xyz.desc->dtype == MLUOP_DTYPE_HALF;
  problem.is_double = t.xyz.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.new_xyz = t.new_xyz.data;
  problem.xyz = t.xyz.data;
  problem.indices = static_cast<std::int32_t *>(const_cast<void *>(t.idx.data));
  return launch_ball_query(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpBallQuery(mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc,
                                           const void *new_xyz, const mluOpTensorDescriptor_t xyz_desc, const void *xyz,
                                           const float min_radius, const float max_radius, const int nsample,
                                           const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluOpBallQuery", [&] {
    return mluops::ball_query("mluOpBallQuery", handle,
                              {{"new_xyz", new_xyz_desc, new_xyz}, {"xyz", xyz_desc, xyz}, {"idx", idx_desc, idx}},
                              min_radius, max_radius, nsample);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtBallQueryDouble(mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc,
                                                     const void *new_xyz, const mluOpTensorDescriptor_t xyz_desc,
                                                     const void *xyz, const double min_radius, const double max_radius,
                                                     const int nsample, const mluOpTensorDescriptor_t idx_desc,
                                                     void *idx) {
  return mluops::guarded("mluopsExtBallQueryDouble", [&] {
    return mluops::ball_query("mluopsExtBallQueryDouble", handle,
                              {{"new_xyz", new_xyz_desc, new_xyz}, {"xyz", xyz_desc, xyz}, {"idx", idx_desc, idx}},
                              min_radius, max_radius, nsample);
  });
}
