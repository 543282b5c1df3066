#include "ops/furthest_point_sampling/furthest_point_sampling.h"

#include "core/batch_rows.h"
#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/furthest_point_sampling.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument source;  // xyz [B, N, 3], or the matrix [B, N, N]
  TensorArgument distances;
  TensorArgument idx;
};

mluOpStatus_t check_distance(const Entry &entry, const char *argument, double value) {
  MLUOPS_REQUIRE(value >= 0, MLUOP_STATUS_BAD_PARAM, entry, argument, "at least 0", Text::format("%g", value));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_norm(const Entry &entry, double value) {
  MLUOPS_REQUIRE(value == value, MLUOP_STATUS_BAD_PARAM, entry, "min_squared_norm", "a number", "NaN");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_tensors(const Entry &entry, const Tensors &t, bool matrix) {
  MLUOPS_TRY(need_rank(entry, t.source, 3, matrix ? "[B, N, N]" : "[B, N, 3]"));
  MLUOPS_TRY(need_rank(entry, t.distances, 2, "[B, N]"));
  MLUOPS_TRY(need_rank(entry, t.idx, 2, "[B, M]"));
  if (matrix) {
    MLUOPS_TRY(need_same_dim(entry, t.source, 2, t.source, 1));
  } else {
    MLUOPS_TRY(need_dim(entry, t.source, 2, "number of coordinates", 3));
  }
  for (const TensorArgument &tensor : {t.distances, t.idx}) MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.source, 0));
  MLUOPS_TRY(need_same_dim(entry, t.distances, 1, t.source, 1));
  MLUOPS_TRY(need_packed(entry, {t.source, t.distances, t.idx}));
  MLUOPS_TRY(need_real(entry, t.source));
  MLUOPS_TRY(need_same_dtype(entry, t.distances, t.source));
  MLUOPS_TRY(need_dtype(entry, t.idx, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_elements(entry, t.source));
  MLUOPS_TRY(need_indexable(entry, {t.source, t.distances, t.idx}));
  MLUOPS_TRY(need_data(entry, {t.source, t.distances}));
  if (t.idx.desc->count > 0) MLUOPS_TRY(need_data(entry, {t.idx}));
  return require_no_overlap(entry, {t.distances, t.idx}, {t.source});
}

std::int32_t *indices_of(const TensorArgument &idx) {
  return static_cast<std::int32_t *>(const_cast<void *>(idx.data));
}

mluOpStatus_t sample(const Entry &entry, mluOpHandle_t handle, const Tensors &t, double most, double norm) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.source, t.distances, t.idx}));
  MLUOPS_TRY(check_distance(entry, "max_squared_distance", most));
  MLUOPS_TRY(check_norm(entry, norm));
  MLUOPS_TRY(check_tensors(entry, t, false));
  FurthestPointSamplingProblem problem;
  problem.function = entry.function;
  problem.type = t.source.desc->dtype;
  problem.batches = t.source.desc->dims[0];
  problem.points = t.source.desc->dims[1];
  problem.samples = t.idx.desc->dims[1];
  problem.most = most;
  problem.min_squared_norm = norm;
  problem.xyz = t.source.data;
  problem.distances = const_cast<void *>(t.distances.data);
  problem.indices = indices_of(t.idx);
  return launch_furthest_point_sampling(handle, problem);
}

mluOpStatus_t sample_with_dist(const Entry &entry, mluOpHandle_t handle, const Tensors &t, double most) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.source, t.distances, t.idx}));
  MLUOPS_TRY(check_distance(entry, "max_distance", most));
  MLUOPS_TRY(check_tensors(entry, t, true));
  FurthestPointSamplingWithDistProblem problem;
  problem.function = entry.function;
  problem.type = t.source.desc->dtype;
  problem.batches = t.source.desc->dims[0];
  problem.points = t.source.desc->dims[1];
  problem.samples = t.idx.desc->dims[1];
  problem.most = most;
  problem.matrix = t.source.data;
  problem.distances = const_cast<void *>(t.distances.data);
  problem.indices = indices_of(t.idx);
  return launch_furthest_point_sampling_with_dist(handle, problem);
}

struct StackTensors {
  TensorArgument xyz;
  TensorArgument xyz_batch_cnt;
  TensorArgument num_samples;
  TensorArgument dist2;
  TensorArgument idx;
};

mluOpStatus_t check_stack(const Entry &entry, const StackTensors &t) {
  MLUOPS_TRY(need_rank(entry, t.xyz, 2, "[N, 3]"));
  for (const TensorArgument &counts : {t.xyz_batch_cnt, t.num_samples}) MLUOPS_TRY(need_rank(entry, counts, 1, "[B]"));
  MLUOPS_TRY(need_rank(entry, t.dist2, 1, "[N]"));
  MLUOPS_TRY(need_rank(entry, t.idx, 1, "[M]"));
  MLUOPS_TRY(need_dim(entry, t.xyz, 1, "number of coordinates", 3));
  MLUOPS_TRY(need_same_dim(entry, t.num_samples, 0, t.xyz_batch_cnt, 0));
  MLUOPS_TRY(need_same_dim(entry, t.dist2, 0, t.xyz, 0));
  MLUOPS_TRY(need_packed(entry, {t.xyz, t.xyz_batch_cnt, t.num_samples, t.dist2, t.idx}));
  MLUOPS_TRY(need_real(entry, t.xyz));
  MLUOPS_TRY(need_same_dtype(entry, t.dist2, t.xyz));
  for (const TensorArgument &tensor : {t.xyz_batch_cnt, t.num_samples, t.idx})
    MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_elements(entry, t.xyz));
  MLUOPS_TRY(need_elements(entry, t.xyz_batch_cnt));
  MLUOPS_TRY(need_indexable(entry, {t.xyz, t.xyz_batch_cnt, t.num_samples, t.idx}));
  MLUOPS_TRY(need_data(entry, {t.xyz, t.xyz_batch_cnt, t.num_samples, t.dist2}));
  if (t.idx.desc->count > 0) MLUOPS_TRY(need_data(entry, {t.idx}));
  return require_no_overlap(entry, {t.dist2, t.idx}, {t.xyz, t.xyz_batch_cnt, t.num_samples});
}

mluOpStatus_t sample_stack(const Entry &entry, mluOpHandle_t handle, const StackTensors &t, double most) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.xyz, t.xyz_batch_cnt, t.num_samples, t.dist2, t.idx}));
  MLUOPS_TRY(check_distance(entry, "max_squared_distance", most));
  MLUOPS_TRY(check_stack(entry, t));
  Array<std::int64_t> point_rows, sample_rows;
  MLUOPS_TRY(read_batch_rows(entry, t.xyz_batch_cnt, t.xyz, &point_rows));
  MLUOPS_TRY(read_batch_rows(entry, t.num_samples, t.idx, &sample_rows));
  FurthestPointSamplingProblem problem;
  problem.batches = t.xyz_batch_cnt.desc->count;
  problem.function = entry.function;
  problem.type = t.xyz.desc->dtype;
  problem.points = t.xyz.desc->dims[0];
  problem.samples = t.idx.desc->dims[0];
  problem.most = most;
  problem.min_squared_norm = -1;
  problem.xyz = t.xyz.data;
  problem.distances = const_cast<void *>(t.dist2.data);
  problem.indices = indices_of(t.idx);
  problem.point_rows = point_rows.begin();
  problem.sample_rows = sample_rows.begin();
  return launch_furthest_point_sampling(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtFurthestPointSampling(mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc,
                                                           const void *xyz, const double max_squared_distance,
                                                           const double min_squared_norm,
                                                           const mluOpTensorDescriptor_t dist2_desc, void *dist2,
                                                           const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluopsExtFurthestPointSampling", [&] {
    return mluops::sample({"mluopsExtFurthestPointSampling"}, handle,
                          {{"xyz", xyz_desc, xyz}, {"dist2", dist2_desc, dist2}, {"idx", idx_desc, idx}},
                          max_squared_distance, min_squared_norm);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtFurthestPointSamplingWithDist(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t dist_desc, const void *dist, const double max_distance,
    const mluOpTensorDescriptor_t min_dist_desc, void *min_dist, const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluopsExtFurthestPointSamplingWithDist", [&] {
    return mluops::sample_with_dist(
        {"mluopsExtFurthestPointSamplingWithDist"}, handle,
        {{"dist", dist_desc, dist}, {"min_dist", min_dist_desc, min_dist}, {"idx", idx_desc, idx}}, max_distance);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtStackFurthestPointSampling(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc, const void *xyz,
    const mluOpTensorDescriptor_t xyz_batch_cnt_desc, const void *xyz_batch_cnt,
    const mluOpTensorDescriptor_t num_samples_desc, const void *num_samples, const double max_squared_distance,
    const mluOpTensorDescriptor_t dist2_desc, void *dist2, const mluOpTensorDescriptor_t idx_desc, void *idx) {
  return mluops::guarded("mluopsExtStackFurthestPointSampling", [&] {
    return mluops::sample_stack({"mluopsExtStackFurthestPointSampling"}, handle,
                                {{"xyz", xyz_desc, xyz},
                                 {"xyz_batch_cnt", xyz_batch_cnt_desc, xyz_batch_cnt},
                                 {"num_samples", num_samples_desc, num_samples},
                                 {"dist2", dist2_desc, dist2},
                                 {"idx", idx_desc, idx}},
                                max_squared_distance);
  });
}
