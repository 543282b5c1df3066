#include "ops/ball_query/ball_query.h"

#include "core/batch_rows.h"
#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/ball_query.h"

namespace mluops {
namespace {

constexpr std::int64_t kCoordinates = 3;

struct Tensors {
  TensorArgument new_xyz;
  TensorArgument xyz;
  TensorArgument idx;
};

// A NaN is refused too.
mluOpStatus_t check_radius(const Entry &entry, const char *argument, double radius) {
  MLUOPS_REQUIRE(radius >= 0, MLUOP_STATUS_BAD_PARAM, entry, argument, "at least 0", Text::format("%g", radius));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_numbers(const Entry &entry, double min_radius, double max_radius, int nsample) {
  MLUOPS_TRY(check_radius(entry, "min_radius", min_radius));
  MLUOPS_TRY(check_radius(entry, "max_radius", max_radius));
  MLUOPS_REQUIRE(nsample >= 0, MLUOP_STATUS_BAD_PARAM, entry, "nsample", "at least 0", Text::format("%d", nsample));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t, int nsample) {
  MLUOPS_TRY(need_rank(entry, t.new_xyz, 3, "[B, M, 3]"));
  MLUOPS_TRY(need_rank(entry, t.xyz, 3, "[B, N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.idx, 3, "[B, M, nsample]"));
  MLUOPS_TRY(need_same_dim(entry, t.xyz, 0, t.new_xyz, 0));
  MLUOPS_TRY(need_same_dim(entry, t.idx, 0, t.new_xyz, 0));
  MLUOPS_TRY(need_same_dim(entry, t.idx, 1, t.new_xyz, 1));
  MLUOPS_TRY(need_dim(entry, t.new_xyz, 2, "number of coordinates", kCoordinates));
  MLUOPS_TRY(need_dim(entry, t.xyz, 2, "number of coordinates", kCoordinates));
  return need_dim(entry, t.idx, 2, "nsample", nsample);
}

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_packed(entry, {t.new_xyz, t.xyz, t.idx}));
  MLUOPS_TRY(need_float_or_half(entry, t.new_xyz));
  MLUOPS_TRY(need_same_dtype(entry, t.xyz, t.new_xyz));
  return need_dtype(entry, t.idx, MLUOP_DTYPE_INT32);
}

struct StackTensors {
  TensorArgument new_xyz;
  TensorArgument new_xyz_batch_cnt;
  TensorArgument xyz;
  TensorArgument xyz_batch_cnt;
  TensorArgument idx;
};

mluOpStatus_t check_stack_shapes(const Entry &entry, const StackTensors &t, int nsample) {
  MLUOPS_TRY(need_rank(entry, t.new_xyz, 2, "[M, 3]"));
  MLUOPS_TRY(need_rank(entry, t.new_xyz_batch_cnt, 1, "[B]"));
  MLUOPS_TRY(need_rank(entry, t.xyz, 2, "[N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.xyz_batch_cnt, 1, "[B]"));
  MLUOPS_TRY(need_rank(entry, t.idx, 2, "[M, nsample]"));
  MLUOPS_TRY(need_same_dim(entry, t.xyz_batch_cnt, 0, t.new_xyz_batch_cnt, 0));
  MLUOPS_TRY(need_same_dim(entry, t.idx, 0, t.new_xyz, 0));
  MLUOPS_TRY(need_dim(entry, t.new_xyz, 1, "number of coordinates", kCoordinates));
  MLUOPS_TRY(need_dim(entry, t.xyz, 1, "number of coordinates", kCoordinates));
  return need_dim(entry, t.idx, 1, "nsample", nsample);
}

mluOpStatus_t check_stack(const Entry &entry, mluOpHandle_t handle, const StackTensors &t, double max_radius,
                          int nsample) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.new_xyz, t.new_xyz_batch_cnt, t.xyz, t.xyz_batch_cnt, t.idx}));
  MLUOPS_TRY(check_radius(entry, "max_radius", max_radius));
  MLUOPS_TRY(need_at_least(entry, "nsample", nsample, 1));
  MLUOPS_TRY(check_stack_shapes(entry, t, nsample));
  MLUOPS_TRY(need_packed(entry, {t.new_xyz, t.new_xyz_batch_cnt, t.xyz, t.xyz_batch_cnt, t.idx}));
  MLUOPS_TRY(need_real(entry, t.new_xyz));
  MLUOPS_TRY(need_same_dtype(entry, t.xyz, t.new_xyz));
  for (const TensorArgument &tensor : {t.new_xyz_batch_cnt, t.xyz_batch_cnt, t.idx})
    MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_elements(entry, t.new_xyz));
  MLUOPS_TRY(need_elements(entry, t.new_xyz_batch_cnt));
  MLUOPS_TRY(need_indexable(entry, {t.new_xyz, t.new_xyz_batch_cnt, t.xyz, t.xyz_batch_cnt, t.idx}));
  if (t.xyz.desc->count > 0) MLUOPS_TRY(need_data(entry, {t.xyz}));
  MLUOPS_TRY(need_data(entry, {t.new_xyz, t.new_xyz_batch_cnt, t.xyz_batch_cnt, t.idx}));
  return require_no_overlap(entry, {t.idx}, {t.new_xyz, t.new_xyz_batch_cnt, t.xyz, t.xyz_batch_cnt});
}

mluOpStatus_t stack_ball_query(const Entry &entry, mluOpHandle_t handle, const StackTensors &t, double max_radius,
                               int nsample) {
  MLUOPS_TRY(check_stack(entry, handle, t, max_radius, nsample));
  Array<std::int64_t> centre_rows, point_rows;
  MLUOPS_TRY(read_batch_rows(entry, t.new_xyz_batch_cnt, t.new_xyz, &centre_rows));
  MLUOPS_TRY(read_batch_rows(entry, t.xyz_batch_cnt, t.xyz, &point_rows));
  BallQueryProblem problem;
  problem.function = entry.function;
  problem.batches = t.xyz_batch_cnt.desc->count;
  problem.centres = t.new_xyz.desc->dims[0];
  problem.points = t.xyz.desc->dims[0];
  problem.samples = nsample;
  problem.min_radius = 0;
  problem.max_radius = max_radius;
  problem.half = t.xyz.desc->dtype == MLUOP_DTYPE_HALF;
  problem.is_double = t.xyz.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.new_xyz = t.new_xyz.data;
  problem.xyz = t.xyz.data;
  problem.indices = static_cast<std::int32_t *>(const_cast<void *>(t.idx.data));
  problem.centre_rows = centre_rows.begin();
  problem.point_rows = point_rows.begin();
  return launch_ball_query(handle, problem);
}

}  // namespace

mluOpStatus_t ball_query(const Entry &entry, mluOpHandle_t handle, const TensorArgument &new_xyz,
                         const TensorArgument &xyz, double min_radius, double max_radius, int nsample,
                         const TensorArgument &idx) {
  const Tensors t{new_xyz, xyz, idx};
  MLUOPS_TRY(check_numbers(entry, min_radius, max_radius, nsample));
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.new_xyz, t.xyz, t.idx}));
  MLUOPS_TRY(check_shapes(entry, t, nsample));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(need_indexable(entry, {t.new_xyz, t.idx, t.xyz}));
  MLUOPS_TRY(need_elements(entry, t.new_xyz));
  if (t.xyz.desc->count == 0 || nsample == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {t.new_xyz, t.xyz, t.idx}));
  MLUOPS_TRY(require_no_overlap(entry, {t.idx}, {t.new_xyz, t.xyz}));

  BallQueryProblem problem;
  problem.function = entry.function;
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

}  // namespace mluops

MLUOPS_IN_DOUBLE(BallQuery);

mluOpStatus_t MLUOP_WIN_API mluOpBallQuery(mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc,
                                           const void *new_xyz, const mluOpTensorDescriptor_t xyz_desc, const void *xyz,
                                           const float min_radius, const float max_radius, const int nsample,
                                           const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluOpBallQuery", [&] {
    return mluops::ball_query({"mluOpBallQuery"}, handle, {"new_xyz", new_xyz_desc, new_xyz}, {"xyz", xyz_desc, xyz},
                              min_radius, max_radius, nsample, {"idx", idx_desc, idx});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtStackBallQuery(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
    const mluOpTensorDescriptor_t new_xyz_batch_cnt_desc, const void *new_xyz_batch_cnt,
    const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const mluOpTensorDescriptor_t xyz_batch_cnt_desc,
    const void *xyz_batch_cnt, const double max_radius, const int nsample, const mluOpTensorDescriptor_t idx_desc,
    void *idx) {
  return mluops::guarded("mluopsExtStackBallQuery", [&] {
    return mluops::stack_ball_query({"mluopsExtStackBallQuery"}, handle,
                                    {{"new_xyz", new_xyz_desc, new_xyz},
                                     {"new_xyz_batch_cnt", new_xyz_batch_cnt_desc, new_xyz_batch_cnt},
                                     {"xyz", xyz_desc, xyz},
                                     {"xyz_batch_cnt", xyz_batch_cnt_desc, xyz_batch_cnt},
                                     {"idx", idx_desc, idx}},
                                    max_radius, nsample);
  });
}
