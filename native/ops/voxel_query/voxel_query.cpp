#include "ops/voxel_query/voxel_query.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/voxel_query.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument new_xyz;
  TensorArgument xyz;
  TensorArgument new_coords;
  TensorArgument point_indices;
  TensorArgument idx;
};

struct Numbers {
  double radius;
  int range[3];  // along z, y and x
};

mluOpStatus_t check(const char *function, const Tensors &t, const Numbers &numbers) {
  MLUOPS_REQUIRE(numbers.radius >= 0, MLUOP_STATUS_BAD_PARAM, function, "radius", "at least 0",
                 Text::format("%g", numbers.radius));
  const char *const names[] = {"z_range", "y_range", "x_range"};
  for (int axis = 0; axis < 3; ++axis) MLUOPS_TRY(need_at_least(function, names[axis], numbers.range[axis], 0));
  const mluOpDataType_t dtype = t.new_xyz.desc->dtype;
  MLUOPS_REQUIRE(dtype == MLUOP_DTYPE_FLOAT || dtype == MLUOP_DTYPE_DOUBLE, MLUOP_STATUS_BAD_PARAM, function,
                 "new_xyz_desc", "float or double", describe(t.new_xyz.desc));
  MLUOPS_TRY(need_same_dtype(function, t.xyz, t.new_xyz));
  for (const TensorArgument &tensor : {t.new_coords, t.point_indices, t.idx})
    MLUOPS_TRY(need_dtype(function, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_rank(function, t.new_xyz, 2, "[M, 3]"));
  MLUOPS_TRY(need_rank(function, t.xyz, 2, "[N, 3]"));
  MLUOPS_TRY(need_rank(function, t.new_coords, 2, "[M, 4]"));
  MLUOPS_TRY(need_rank(function, t.point_indices, 4, "[B, Z, Y, X]"));
  MLUOPS_TRY(need_rank(function, t.idx, 2, "[M, nsample]"));
  MLUOPS_TRY(need_packed(function, {t.new_xyz, t.xyz, t.new_coords, t.point_indices, t.idx}));
  MLUOPS_TRY(need_dim(function, t.new_xyz, 1, "x, y and z", 3));
  MLUOPS_TRY(need_dim(function, t.xyz, 1, "x, y and z", 3));
  MLUOPS_TRY(need_same_dim(function, t.new_coords, 0, t.new_xyz, 0));
  MLUOPS_TRY(need_dim(function, t.new_coords, 1, "batch, z, y and x", 4));
  MLUOPS_TRY(need_same_dim(function, t.idx, 0, t.new_xyz, 0));
  MLUOPS_TRY(need_indexable(function, {t.new_xyz, t.xyz, t.new_coords, t.point_indices, t.idx}));
  for (const TensorArgument &tensor : {t.new_xyz, t.xyz, t.new_coords, t.point_indices, t.idx})
    MLUOPS_TRY(need_elements(function, tensor));
  MLUOPS_TRY(need_data(function, {t.new_xyz, t.xyz, t.new_coords, t.point_indices, t.idx}));
  return require_no_overlap(function, {t.idx}, {t.new_xyz, t.xyz, t.new_coords, t.point_indices});
}

mluOpStatus_t voxel_query(const char *function, mluOpHandle_t handle, const Tensors &t, const Numbers &numbers) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.new_xyz, t.xyz, t.new_coords, t.point_indices, t.idx}));
  MLUOPS_TRY(check(function, t, numbers));
  VoxelQueryProblem problem;
  problem.function = function;
  problem.centres = t.new_xyz.desc->dims[0];
  problem.points = t.xyz.desc->dims[0];
  problem.batches = t.point_indices.desc->dims[0];
  for (int axis = 0; axis < 3; ++axis) {
    problem.size[axis] = t.point_indices.desc->dims[1 + axis];
    problem.range[axis] = numbers.range[axis];
  }
  problem.nsample = t.idx.desc->dims[1];
  problem.radius = numbers.radius;
  problem.is_double = t.new_xyz.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.new_xyz = t.new_xyz.data;
  problem.xyz = t.xyz.data;
  problem.new_coords = static_cast<const std::int32_t *>(t.new_coords.data);
  problem.cells = static_cast<const std::int32_t *>(t.point_indices.data);
  problem.idx = static_cast<std::int32_t *>(const_cast<void *>(t.idx.data));
  return launch_voxel_query(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtVoxelQuery(mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc,
                                                const void *new_xyz, const mluOpTensorDescriptor_t xyz_desc,
                                                const void *xyz, const mluOpTensorDescriptor_t new_coords_desc,
                                                const void *new_coords,
                                                const mluOpTensorDescriptor_t point_indices_desc,
                                                const void *point_indices, const double radius, const int z_range,
                                                const int y_range, const int x_range,
                                                const mluOpTensorDescriptor_t idx_desc, void *idx) {
  constexpr const char *kFunction = "mluopsExtVoxelQuery";
  return mluops::guarded(kFunction, [&] {
    return mluops::voxel_query(kFunction, handle,
                               {{"new_xyz", new_xyz_desc, new_xyz},
                                {"xyz", xyz_desc, xyz},
                                {"new_coords", new_coords_desc, new_coords},
                                {"point_indices", point_indices_desc, point_indices},
                                {"idx", idx_desc, idx}},
                               {radius, {z_range, y_range, x_range}});
  });
}
