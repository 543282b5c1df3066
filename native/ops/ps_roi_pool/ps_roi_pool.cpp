#include "ops/ps_roi_pool/ps_roi_pool.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

// Production counts bytes instead of elements here.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;

// `map` is the input or its gradient, `pooled` the output or its gradient; `given` is the one of
// them that is not written.
struct Tensors {
  TensorArgument given;
  TensorArgument map;
  TensorArgument rois;
  TensorArgument pooled;
  TensorArgument mapping;
};

struct Sizes {
  int pooled_height;
  int pooled_width;
  int output_dim;
};

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.map, 4, "[B, H, W, C]"));
  MLUOPS_TRY(need_rank(entry, t.rois, 2, "[R, 5]"));
  MLUOPS_TRY(need_rank(entry, t.pooled, 4, "[R, ph, pw, D]"));
  MLUOPS_TRY(need_rank(entry, t.mapping, 4, "[R, ph, pw, D]"));
  for (const TensorArgument &tensor : {t.given, t.rois, t.map, t.pooled}) MLUOPS_TRY(need_float(entry, tensor));
  MLUOPS_TRY(need_dtype(entry, t.mapping, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {t.map, t.pooled, t.mapping})
    MLUOPS_TRY(need_layout(entry, tensor, MLUOP_LAYOUT_NHWC));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_sizes(const Entry &entry, const Tensors &t, const Sizes &sizes, double spatial_scale) {
  MLUOPS_TRY(need_at_least(entry, "pooled_height", sizes.pooled_height, 1));
  MLUOPS_TRY(need_at_least(entry, "output_dim", sizes.output_dim, 1));
  MLUOPS_TRY(need_dim(entry, t.pooled, 1, "pooled_height", sizes.pooled_height));
  MLUOPS_TRY(need_dim(entry, t.pooled, 2, "pooled_width", sizes.pooled_width));
  MLUOPS_TRY(need_dim(entry, t.pooled, 3, "output_dim", sizes.output_dim));
  MLUOPS_REQUIRE(sizes.pooled_width == sizes.pooled_height, MLUOP_STATUS_BAD_PARAM, entry, "pooled_width",
                 Text::format("pooled_height=%d", sizes.pooled_height), Text::format("%d", sizes.pooled_width));
  MLUOPS_REQUIRE(spatial_scale > 0, MLUOP_STATUS_BAD_PARAM, entry, "spatial_scale", "more than 0",
                 Text::format("%g", spatial_scale));
  return need_dim(entry, t.rois, 1, "image, x1, y1, x2, y2", 5);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t, const Sizes &sizes) {
  MLUOPS_TRY(need_packed(entry, {t.map, t.rois, t.pooled, t.mapping}));
  MLUOPS_TRY(need_same_dim(entry, t.pooled, 0, t.rois, 0));
  const std::int64_t bins = std::int64_t{sizes.pooled_height} * sizes.pooled_width;
  const std::int64_t channels = t.map.desc->dims[3];
  MLUOPS_REQUIRE(channels % bins == 0 && channels / bins == sizes.output_dim, MLUOP_STATUS_BAD_PARAM, entry,
                 Text::format("%s_desc", t.map.name).c_str(), "dim 3 = pooled_height * pooled_width * output_dim",
                 Text::format("%lld", static_cast<long long>(channels)));
  MLUOPS_TRY(need_same_shape(entry, t.mapping, t.pooled));
  for (const TensorArgument &tensor : {t.map, t.rois, t.pooled, t.mapping}) {
    MLUOPS_REQUIRE(tensor.desc->bytes() < kMostBytes, MLUOP_STATUS_NOT_SUPPORTED, entry,
                   Text::format("%s_desc", tensor.name).c_str(), "less than 2^31 bytes",
                   Text::format("%s with output_dim=%d", describe(tensor.desc).c_str(), sizes.output_dim));
  }
  return MLUOP_STATUS_SUCCESS;
}

PsRoiPoolGeometry geometry_of(const Tensors &t, const Sizes &sizes, double spatial_scale) {
  PsRoiPoolGeometry geometry;
  geometry.batches = t.map.desc->dims[0];
  geometry.height = t.map.desc->dims[1];
  geometry.width = t.map.desc->dims[2];
  geometry.regions = t.rois.desc->dims[0];
  geometry.bins = sizes.pooled_height;
  geometry.depth = sizes.output_dim;
  geometry.spatial_scale = spatial_scale;
  geometry.is_double = t.map.desc->dtype == MLUOP_DTYPE_DOUBLE;
  return geometry;
}

}  // namespace

mluOpStatus_t ps_roi_pool_forward(const Entry &entry, mluOpHandle_t handle, int pooled_height, int pooled_width,
                                  double spatial_scale, int group_size, int output_dim, const TensorArgument &input,
                                  const TensorArgument &rois, const TensorArgument &output,
                                  const TensorArgument &mapping) {
  const Tensors t{input, input, rois, output, mapping};
  const Sizes sizes{pooled_height, pooled_width, output_dim};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {input, rois, output, mapping}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(check_sizes(entry, t, sizes, spatial_scale));
  MLUOPS_REQUIRE(group_size == pooled_height, MLUOP_STATUS_BAD_PARAM, entry, "group_size",
                 Text::format("pooled_height=%d", pooled_height), Text::format("%d", group_size));
  MLUOPS_TRY(check_shapes(entry, t, sizes));
  if (input.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_elements(entry, rois));
  MLUOPS_TRY(need_data(entry, {input, rois, output, mapping}));
  MLUOPS_TRY(require_no_overlap(entry, {output, mapping}, {input, rois}));
  const PsRoiPoolForwardProblem problem{entry.function,
                                        geometry_of(t, sizes, spatial_scale),
                                        input.data,
                                        rois.data,
                                        const_cast<void *>(output.data),
                                        static_cast<std::int32_t *>(const_cast<void *>(mapping.data))};
  return launch_ps_roi_pool_forward(handle, problem);
}

mluOpStatus_t ps_roi_pool_backward(const Entry &entry, mluOpHandle_t handle, int pooled_height, int pooled_width,
                                   double spatial_scale, int output_dim, const TensorArgument &top_grad,
                                   const TensorArgument &rois, const TensorArgument &mapping,
                                   const TensorArgument &bottom_grad) {
  const Tensors t{top_grad, bottom_grad, rois, top_grad, mapping};
  const Sizes sizes{pooled_height, pooled_width, output_dim};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {top_grad, rois, mapping, bottom_grad}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(check_sizes(entry, t, sizes, spatial_scale));
  MLUOPS_TRY(check_shapes(entry, t, sizes));
  MLUOPS_TRY(need_elements(entry, rois));
  if (bottom_grad.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {top_grad, rois, mapping, bottom_grad}));
  MLUOPS_TRY(require_no_overlap(entry, {bottom_grad}, {top_grad, rois, mapping}));
  const PsRoiPoolBackwardProblem problem{entry.function,
                                         geometry_of(t, sizes, spatial_scale),
                                         top_grad.data,
                                         rois.data,
                                         static_cast<const std::int32_t *>(mapping.data),
                                         const_cast<void *>(bottom_grad.data)};
  return launch_ps_roi_pool_backward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(PsRoiPoolForward);
MLUOPS_IN_DOUBLE(PsRoiPoolBackward);

mluOpStatus_t MLUOP_WIN_API mluOpPsRoiPoolForward(mluOpHandle_t handle, const int pooled_height, const int pooled_width,
                                                  const float spatial_scale, const int group_size, const int output_dim,
                                                  const mluOpTensorDescriptor_t input_desc, const void *input,
                                                  const mluOpTensorDescriptor_t rois_desc, const void *rois,
                                                  const mluOpTensorDescriptor_t output_desc, void *output,
                                                  const mluOpTensorDescriptor_t mapping_channel_desc,
                                                  void *mapping_channel) {
  return mluops::guarded("mluOpPsRoiPoolForward", [&] {
    return mluops::ps_roi_pool_forward({"mluOpPsRoiPoolForward"}, handle, pooled_height, pooled_width, spatial_scale,
                                       group_size, output_dim, {"input", input_desc, input}, {"rois", rois_desc, rois},
                                       {"output", output_desc, output},
                                       {"mapping_channel", mapping_channel_desc, mapping_channel});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpPsRoiPoolBackward(mluOpHandle_t handle, const int pooled_height,
                                                   const int pooled_width, const float spatial_scale,
                                                   const int output_dim, const mluOpTensorDescriptor_t top_grad_desc,
                                                   const void *top_grad, const mluOpTensorDescriptor_t rois_desc,
                                                   const void *rois, const mluOpTensorDescriptor_t mapping_channel_desc,
                                                   const void *mapping_channel,
                                                   const mluOpTensorDescriptor_t bottom_grad_desc, void *bottom_grad) {
  return mluops::guarded("mluOpPsRoiPoolBackward", [&] {
    return mluops::ps_roi_pool_backward({"mluOpPsRoiPoolBackward"}, handle, pooled_height, pooled_width, spatial_scale,
                                        output_dim, {"top_grad", top_grad_desc, top_grad}, {"rois", rois_desc, rois},
                                        {"mapping_channel", mapping_channel_desc, mapping_channel},
                                        {"bottom_grad", bottom_grad_desc, bottom_grad});
  });
}
