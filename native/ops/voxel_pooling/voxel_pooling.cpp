#include "ops/voxel_pooling/voxel_pooling.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/voxel_pooling.h"

namespace mluops {
namespace {

constexpr std::int64_t kAxes = 3;

struct Tensors {
  TensorArgument geom;
  TensorArgument input;
  TensorArgument output;
  TensorArgument memo;
};

struct Sizes {
  int batch_size, num_points, num_channels, num_voxel_x, num_voxel_y, num_voxel_z;
};

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t, const Sizes &sizes) {
  MLUOPS_TRY(need_rank(entry, t.geom, 3, "[B, P, 3]"));
  MLUOPS_TRY(need_rank(entry, t.input, 3, "[B, P, C]"));
  MLUOPS_TRY(need_rank(entry, t.output, 4, "[B, Y, X, C]"));
  MLUOPS_TRY(need_rank(entry, t.memo, 3, "[B, P, 3]"));
  for (const TensorArgument &tensor : {t.geom, t.input, t.output, t.memo})
    MLUOPS_TRY(need_dim(entry, tensor, 0, "batch_size", sizes.batch_size));
  for (const TensorArgument &tensor : {t.geom, t.input, t.memo})
    MLUOPS_TRY(need_dim(entry, tensor, 1, "num_points", sizes.num_points));
  for (const TensorArgument &tensor : {t.geom, t.memo})
    MLUOPS_TRY(need_dim(entry, tensor, 2, "number of coordinates", kAxes));
  MLUOPS_TRY(need_dim(entry, t.input, 2, "num_channels", sizes.num_channels));
  MLUOPS_TRY(need_dim(entry, t.output, 1, "num_voxel_y", sizes.num_voxel_y));
  MLUOPS_TRY(need_dim(entry, t.output, 2, "num_voxel_x", sizes.num_voxel_x));
  return need_dim(entry, t.output, 3, "num_channels", sizes.num_channels);
}

mluOpStatus_t check_sizes(const Entry &entry, const Sizes &sizes) {
  MLUOPS_TRY(need_at_least(entry, "batch_size", sizes.batch_size, 1));
  MLUOPS_TRY(need_at_least(entry, "num_points", sizes.num_points, 1));
  MLUOPS_TRY(need_at_least(entry, "num_channels", sizes.num_channels, 1));
  MLUOPS_TRY(need_at_least(entry, "num_voxel_x", sizes.num_voxel_x, 1));
  MLUOPS_TRY(need_at_least(entry, "num_voxel_y", sizes.num_voxel_y, 1));
  return need_at_least(entry, "num_voxel_z", sizes.num_voxel_z, 1);
}

mluOpStatus_t backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &grad_output,
                       const TensorArgument &memo, const TensorArgument &grad_input) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {grad_output, memo, grad_input}));
  MLUOPS_TRY(need_rank(entry, grad_output, 4, "[B, Y, X, C]"));
  MLUOPS_TRY(need_rank(entry, memo, 3, "[B, P, 3]"));
  MLUOPS_TRY(need_rank(entry, grad_input, 3, "[B, P, C]"));
  for (const TensorArgument &tensor : {memo, grad_input}) MLUOPS_TRY(need_same_dim(entry, tensor, 0, grad_output, 0));
  MLUOPS_TRY(need_same_dim(entry, grad_input, 1, memo, 1));
  MLUOPS_TRY(need_same_dim(entry, grad_input, 2, grad_output, 3));
  MLUOPS_TRY(need_dim(entry, memo, 2, "batch, y, x", kAxes));
  MLUOPS_TRY(need_packed(entry, {grad_output, memo, grad_input}));
  if (grad_output.desc->dtype != MLUOP_DTYPE_DOUBLE) MLUOPS_TRY(need_float_or_half(entry, grad_output));
  MLUOPS_TRY(need_same_dtype(entry, grad_input, grad_output));
  MLUOPS_TRY(need_dtype(entry, memo, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {grad_output, memo}) MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_indexable(entry, {grad_output, memo, grad_input}));
  MLUOPS_TRY(need_data(entry, {grad_output, memo, grad_input}));
  MLUOPS_TRY(require_no_overlap(entry, {grad_input}, {grad_output, memo}));
  const std::int64_t *const map = grad_output.desc->dims;
  const VoxelPoolingBackwardProblem problem{entry.function,
                                            {map[0], memo.desc->dims[1], map[3], map[2], map[1]},
                                            grad_output.desc->bytes() / grad_output.desc->count,
                                            grad_output.data,
                                            static_cast<const std::int32_t *>(memo.data),
                                            const_cast<void *>(grad_input.data)};
  return launch_voxel_pooling_backward(handle, problem);
}

}  // namespace

mluOpStatus_t voxel_pooling_forward(const Entry &entry, mluOpHandle_t handle, int batch_size, int num_points,
                                    int num_channels, int num_voxel_x, int num_voxel_y, int num_voxel_z,
                                    const TensorArgument &geom, const TensorArgument &input,
                                    const TensorArgument &output, const TensorArgument &memo) {
  const Tensors t{geom, input, output, memo};
  const Sizes sizes{batch_size, num_points, num_channels, num_voxel_x, num_voxel_y, num_voxel_z};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {geom, input, output, memo}));
  for (const TensorArgument &tensor : {geom, memo}) MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {input, output}) MLUOPS_TRY(need_float(entry, tensor));
  MLUOPS_TRY(check_shapes(entry, t, sizes));
  MLUOPS_TRY(check_sizes(entry, sizes));
  MLUOPS_TRY(need_packed(entry, {geom, input, output, memo}));
  MLUOPS_TRY(need_indexable(entry, {geom, input, output, memo}));
  MLUOPS_TRY(need_data(entry, {geom, input, output, memo}));
  MLUOPS_TRY(require_no_overlap(entry, {output, memo}, {geom, input}));
  const VoxelPoolingForwardProblem problem{entry.function,
                                           {batch_size, num_points, num_channels, num_voxel_x, num_voxel_y},
                                           num_voxel_z,
                                           input.desc->dtype == MLUOP_DTYPE_DOUBLE,
                                           static_cast<const std::int32_t *>(geom.data),
                                           input.data,
                                           const_cast<void *>(output.data),
                                           static_cast<std::int32_t *>(const_cast<void *>(memo.data))};
  return launch_voxel_pooling_forward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(VoxelPoolingForward);

mluOpStatus_t MLUOP_WIN_API mluOpVoxelPoolingForward(
    mluOpHandle_t handle, const int batch_size, const int num_points, const int num_channels, const int num_voxel_x,
    const int num_voxel_y, const int num_voxel_z, const mluOpTensorDescriptor_t geom_xyz_desc, const void *geom_xyz,
    const mluOpTensorDescriptor_t input_features_desc, const void *input_features,
    const mluOpTensorDescriptor_t output_features_desc, void *output_features,
    const mluOpTensorDescriptor_t pos_memo_desc, void *pos_memo) {
  return mluops::guarded("mluOpVoxelPoolingForward", [&] {
    return mluops::voxel_pooling_forward(
        {"mluOpVoxelPoolingForward"}, handle, batch_size, num_points, num_channels, num_voxel_x, num_voxel_y,
        num_voxel_z, {"geom_xyz", geom_xyz_desc, geom_xyz}, {"input_features", input_features_desc, input_features},
        {"output_features", output_features_desc, output_features}, {"pos_memo", pos_memo_desc, pos_memo});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtVoxelPoolingBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t pos_memo_desc, const void *pos_memo, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input) {
  return mluops::guarded("mluopsExtVoxelPoolingBackward", [&] {
    return mluops::backward({"mluopsExtVoxelPoolingBackward"}, handle, {"grad_output", grad_output_desc, grad_output},
                            {"pos_memo", pos_memo_desc, pos_memo}, {"grad_input", grad_input_desc, grad_input});
  });
}
