#include "ops/voxelization/voxelization.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/voxelization.h"

namespace mluops {
namespace {

constexpr int kAxes = 3;

struct Tensors {
  TensorArgument points;
  TensorArgument voxel_size;
  TensorArgument coors_range;
  TensorArgument voxels;
  TensorArgument coors;
  TensorArgument counts;
  TensorArgument voxel_num;
};

struct Numbers {
  std::int32_t max_points;
  std::int32_t max_voxels;
  std::int32_t ndim;
  bool deterministic;
};

mluOpStatus_t check_grid(const Entry &entry, const TensorArgument &points, const TensorArgument &voxel_size,
                         const TensorArgument &coors_range) {
  MLUOPS_TRY(need_rank(entry, points, 2, "[N, F]"));
  MLUOPS_TRY(need_rank(entry, voxel_size, 1, "[3]"));
  MLUOPS_TRY(need_rank(entry, coors_range, 1, "[6]"));
  MLUOPS_REQUIRE(points.desc->dims[1] >= kAxes, MLUOP_STATUS_BAD_PARAM, entry, "points_desc",
                 "[N, F] with x, y and z in the first 3 of F columns", describe(points.desc));
  MLUOPS_TRY(need_dim(entry, voxel_size, 0, "x, y, z", kAxes));
  return need_dim(entry, coors_range, 0, "lowest and highest x, y, z", 2 * kAxes);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t, const Numbers &numbers) {
  MLUOPS_TRY(check_grid(entry, t.points, t.voxel_size, t.coors_range));
  MLUOPS_TRY(need_rank(entry, t.voxels, 3, "[max_voxels, max_points, F]"));
  MLUOPS_TRY(need_rank(entry, t.coors, 2, "[max_voxels, 3]"));
  MLUOPS_TRY(need_rank(entry, t.counts, 1, "[max_voxels]"));
  MLUOPS_TRY(need_rank(entry, t.voxel_num, 1, "[1]"));
  MLUOPS_TRY(need_dim(entry, t.voxels, 0, "max_voxels", numbers.max_voxels));
  MLUOPS_TRY(need_dim(entry, t.voxels, 1, "max_points", numbers.max_points));
  MLUOPS_TRY(need_same_dim(entry, t.voxels, 2, t.points, 1));
  MLUOPS_TRY(need_dim(entry, t.coors, 0, "max_voxels", numbers.max_voxels));
  MLUOPS_TRY(need_dim(entry, t.coors, 1, "z, y, x", kAxes));
  MLUOPS_TRY(need_dim(entry, t.counts, 0, "max_voxels", numbers.max_voxels));
  MLUOPS_TRY(need_dim(entry, t.voxel_num, 0, "number of voxels", 1));
  MLUOPS_REQUIRE(numbers.ndim == kAxes, MLUOP_STATUS_BAD_PARAM, entry, "NDim", "3", Text::format("%d", numbers.ndim));
  return MLUOP_STATUS_SUCCESS;
}

// `need_real` checks the type of the points; the other real tensors have the same.
template <typename NeedReal>
mluOpStatus_t check_tensors(const Entry &entry, const Tensors &t, const Numbers &numbers, const NeedReal &need_real) {
  MLUOPS_REQUIRE(numbers.deterministic, MLUOP_STATUS_BAD_PARAM, entry, "deterministic", "true", "false");
  MLUOPS_TRY(check_shapes(entry, t, numbers));
  MLUOPS_TRY(need_packed(entry, {t.points, t.voxel_size, t.coors_range, t.voxels, t.coors, t.counts, t.voxel_num}));
  for (const TensorArgument &tensor : {t.points, t.voxel_size, t.coors_range, t.voxels}) MLUOPS_TRY(need_real(tensor));
  for (const TensorArgument &tensor : {t.coors, t.counts, t.voxel_num})
    MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_indexable(entry, {t.points, t.voxel_size, t.coors_range, t.coors, t.counts, t.voxel_num}));
  return need_elements(entry, t.points);
}

mluOpStatus_t check_workspace(const Entry &entry, const Tensors &t, const void *workspace, std::size_t size) {
  const std::size_t needed = workspace_voxelization(t.points.desc->dims[0], t.voxels.desc->dims[0]);
  MLUOPS_REQUIRE(size >= needed, MLUOP_STATUS_BAD_PARAM, entry, "workspace_size",
                 Text::format("at least %zu bytes", needed), Text::format("%zu", size));
  for (const TensorArgument &tensor :
       {t.points, t.voxel_size, t.coors_range, t.voxels, t.coors, t.counts, t.voxel_num}) {
    MLUOPS_TRY(require_no_overlap(entry, "workspace", workspace, static_cast<std::int64_t>(needed), tensor.name,
                                  tensor.data, tensor.desc->bytes()));
  }
  return MLUOP_STATUS_SUCCESS;
}

// The size is that for float and for double, which the function in double asks for.
mluOpStatus_t workspace_size(const Entry &entry, mluOpHandle_t handle, const Tensors &t, const Numbers &numbers,
                             std::size_t *size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(
      need_descriptors(entry, {t.points, t.voxel_size, t.coors_range, t.voxels, t.coors, t.counts, t.voxel_num}));
  MLUOPS_TRY(need_pointer(entry, "size", size));
  MLUOPS_TRY(check_tensors(entry, t, numbers, [&](const TensorArgument &tensor) {
    if (tensor.desc->dtype == MLUOP_DTYPE_DOUBLE) return need_same_dtype(entry, tensor, t.points);
    MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_FLOAT));
    return need_same_dtype(entry, tensor, t.points);
  }));
  if (numbers.max_points == 0 || numbers.max_voxels == 0) return MLUOP_STATUS_SUCCESS;
  *size = workspace_voxelization(t.points.desc->dims[0], t.voxels.desc->dims[0]);
  return MLUOP_STATUS_SUCCESS;
}

VoxelGrid grid_of(const TensorArgument &points, const TensorArgument &voxel_size, const TensorArgument &coors_range) {
  VoxelGrid grid;
  grid.points = points.desc->dims[0];
  grid.features = points.desc->dims[1];
  grid.rows = points.data;
  grid.size = voxel_size.data;
  grid.range = coors_range.data;
  grid.half = points.desc->dtype == MLUOP_DTYPE_HALF;
  grid.is_double = points.desc->dtype == MLUOP_DTYPE_DOUBLE;
  return grid;
}

std::int32_t *integers(const TensorArgument &tensor) {
  return static_cast<std::int32_t *>(const_cast<void *>(tensor.data));
}

}  // namespace

mluOpStatus_t voxelization(const Entry &entry, mluOpHandle_t handle, const TensorArgument &points,
                           const TensorArgument &voxel_size, const TensorArgument &coors_range, std::int32_t max_points,
                           std::int32_t max_voxels, std::int32_t ndim, bool deterministic, void *workspace,
                           std::size_t workspace_size, const TensorArgument &voxels, const TensorArgument &coors,
                           const TensorArgument &counts, const TensorArgument &voxel_num) {
  const Tensors t{points, voxel_size, coors_range, voxels, coors, counts, voxel_num};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {points, voxel_size, coors_range, voxels, coors, counts, voxel_num}));
  MLUOPS_TRY(check_tensors(entry, t, Numbers{max_points, max_voxels, ndim, deterministic},
                           [&](const TensorArgument &tensor) { return need_float(entry, tensor); }));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  if (max_points == 0 || max_voxels == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {points, voxel_size, coors_range, voxels, coors, counts, voxel_num}));
  MLUOPS_TRY(check_workspace(entry, t, workspace, workspace_size));
  MLUOPS_TRY(require_no_overlap(entry, {voxels, coors, counts, voxel_num}, {points, voxel_size, coors_range}));
  const VoxelizationProblem problem{
      entry.function,     grid_of(points, voxel_size, coors_range), max_points,      max_voxels,
      workspace,          const_cast<void *>(voxels.data),          integers(coors), integers(counts),
      integers(voxel_num)};
  return launch_voxelization(handle, problem);
}

namespace {

mluOpStatus_t dynamic_voxelize(const Entry &entry, mluOpHandle_t handle, const TensorArgument &points,
                               const TensorArgument &voxel_size, const TensorArgument &coors_range,
                               const TensorArgument &coors) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {points, voxel_size, coors_range, coors}));
  MLUOPS_TRY(check_grid(entry, points, voxel_size, coors_range));
  MLUOPS_TRY(need_rank(entry, coors, 2, "[N, 3]"));
  MLUOPS_TRY(need_same_dim(entry, coors, 0, points, 0));
  MLUOPS_TRY(need_dim(entry, coors, 1, "z, y, x", kAxes));
  MLUOPS_TRY(need_packed(entry, {points, voxel_size, coors_range, coors}));
  if (points.desc->dtype != MLUOP_DTYPE_DOUBLE) MLUOPS_TRY(need_float_or_half(entry, points));
  MLUOPS_TRY(need_same_dtype(entry, voxel_size, points));
  MLUOPS_TRY(need_same_dtype(entry, coors_range, points));
  MLUOPS_TRY(need_dtype(entry, coors, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_indexable(entry, {points, voxel_size, coors_range, coors}));
  if (points.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {points, voxel_size, coors_range, coors}));
  MLUOPS_TRY(require_no_overlap(entry, {coors}, {points, voxel_size, coors_range}));
  const DynamicVoxelizeProblem problem{entry.function, grid_of(points, voxel_size, coors_range), integers(coors)};
  return launch_dynamic_voxelize(handle, problem);
}

}  // namespace
}  // namespace mluops

MLUOPS_IN_DOUBLE(Voxelization);

mluOpStatus_t MLUOP_WIN_API mluOpGetVoxelizationWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const mluOpTensorDescriptor_t voxel_size_desc,
    const mluOpTensorDescriptor_t coors_range_desc, const int32_t max_points, const int32_t max_voxels,
    const int32_t NDim, const bool deterministic, const mluOpTensorDescriptor_t voxels_desc,
    const mluOpTensorDescriptor_t coors_desc, const mluOpTensorDescriptor_t num_points_per_voxel_desc,
    const mluOpTensorDescriptor_t voxel_num_desc, size_t *size) {
  return mluops::guarded("mluOpGetVoxelizationWorkspaceSize", [&] {
    const mluops::Tensors tensors{{"points", points_desc, nullptr},
                                  {"voxel_size", voxel_size_desc, nullptr},
                                  {"coors_range", coors_range_desc, nullptr},
                                  {"voxels", voxels_desc, nullptr},
                                  {"coors", coors_desc, nullptr},
                                  {"num_points_per_voxel", num_points_per_voxel_desc, nullptr},
                                  {"voxel_num", voxel_num_desc, nullptr}};
    return mluops::workspace_size({"mluOpGetVoxelizationWorkspaceSize"}, handle, tensors,
                                  {max_points, max_voxels, NDim, deterministic}, size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpVoxelization(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t voxel_size_desc, const void *voxel_size,
    const mluOpTensorDescriptor_t coors_range_desc, const void *coors_range, const int32_t max_points,
    const int32_t max_voxels, const int32_t NDim, const bool deterministic, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t voxels_desc, void *voxels, const mluOpTensorDescriptor_t coors_desc, void *coors,
    const mluOpTensorDescriptor_t num_points_per_voxel_desc, void *num_points_per_voxel,
    const mluOpTensorDescriptor_t voxel_num_desc, void *voxel_num) {
  return mluops::guarded("mluOpVoxelization", [&] {
    return mluops::voxelization(
        {"mluOpVoxelization"}, handle, {"points", points_desc, points}, {"voxel_size", voxel_size_desc, voxel_size},
        {"coors_range", coors_range_desc, coors_range}, max_points, max_voxels, NDim, deterministic, workspace,
        workspace_size, {"voxels", voxels_desc, voxels}, {"coors", coors_desc, coors},
        {"num_points_per_voxel", num_points_per_voxel_desc, num_points_per_voxel},
        {"voxel_num", voxel_num_desc, voxel_num});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtDynamicVoxelize(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                     const void *points, const mluOpTensorDescriptor_t voxel_size_desc,
                                                     const void *voxel_size,
                                                     const mluOpTensorDescriptor_t coors_range_desc,
                                                     const void *coors_range, const mluOpTensorDescriptor_t coors_desc,
                                                     void *coors) {
  return mluops::guarded("mluopsExtDynamicVoxelize", [&] {
    return mluops::dynamic_voxelize({"mluopsExtDynamicVoxelize"}, handle, {"points", points_desc, points},
                                    {"voxel_size", voxel_size_desc, voxel_size},
                                    {"coors_range", coors_range_desc, coors_range}, {"coors", coors_desc, coors});
  });
}
