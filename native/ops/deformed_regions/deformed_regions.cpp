#include "ops/deformed_regions/deformed_regions.h"

#include "core/exception_guard.h"
#include "core/region_pool.h"
#include "mluops_ext/deformed_regions.h"

namespace mluops {
namespace {

constexpr TensorArgument kMissing{nullptr, nullptr, nullptr};

// The input is main.map, in the backward direction too, and main.pooled the output or its gradient.
struct Tensors {
  RegionTensors main;
  TensorArgument offset;
  TensorArgument grad_input = kMissing;
  TensorArgument grad_offset = kMissing;
  bool own = false;  // of the function of mluops_ext.h: offset is required, and any real type will do

  // Calls check(tensor) for the arguments that the call has, until it fails. A missing offset has
  // no descriptor.
  template <typename Check>
  mluOpStatus_t each(const Check &check) const {
    for (const TensorArgument *tensor : {&main.given(), main.forward ? &main.pooled : &main.map, &main.rois})
      MLUOPS_TRY(check(*tensor));
    if (!main.forward) MLUOPS_TRY(check(grad_input));
    if (own || offset.desc != nullptr) MLUOPS_TRY(check(offset));
    if (own || grad_offset.desc != nullptr) MLUOPS_TRY(check(grad_offset));
    return MLUOP_STATUS_SUCCESS;
  }
};

struct Numbers {
  int pooled_height, pooled_width;  // not looked at for a function of mluops_ext.h
  double spatial_scale;
  int sampling_ratio;
  double gamma;
};

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_layout(entry, t.main.map, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, t.main.pooled, MLUOP_LAYOUT_NHWC));
  if (!t.main.forward) MLUOPS_TRY(need_layout(entry, t.grad_input, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(t.each([&](const TensorArgument &tensor) { return need_packed(entry, {tensor}); }));
  MLUOPS_TRY(t.own ? need_real(entry, t.main.given()) : need_float_or_half(entry, t.main.given()));
  return t.each([&](const TensorArgument &tensor) { return need_same_dtype(entry, tensor, t.main.given()); });
}

mluOpStatus_t check_ranks(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.main.map, 4, "[B, H, W, C]"));
  MLUOPS_TRY(need_rank(entry, t.main.rois, 2, "[R, 5]"));
  MLUOPS_TRY(need_rank(entry, t.main.pooled, 4, "[R, ph, pw, C]"));
  if (!t.main.forward) MLUOPS_TRY(need_rank(entry, t.grad_input, 4, "[B, H, W, C]"));
  for (const TensorArgument *tensor : {&t.offset, &t.grad_offset}) {
    if (tensor->desc != nullptr) MLUOPS_TRY(need_rank(entry, *tensor, 4, "[R, 2, ph, pw]"));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_numbers(const Entry &entry, const Tensors &t, const Numbers &numbers) {
  if (!t.own) {
    MLUOPS_TRY(need_at_least(entry, "pooled_height", numbers.pooled_height, 1));
    MLUOPS_TRY(need_at_least(entry, "pooled_width", numbers.pooled_width, 1));
  }
  MLUOPS_TRY(need_finite(entry, "spatial_scale", numbers.spatial_scale));
  MLUOPS_TRY(need_sampling_ratio(entry, "sampling_ratio", numbers.sampling_ratio));
  return need_finite(entry, "gamma", numbers.gamma);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t, const Numbers &numbers) {
  MLUOPS_TRY(need_dim(entry, t.main.rois, 1, "image, x1, y1, x2, y2", 5));
  if (!t.own) {
    MLUOPS_TRY(need_dim(entry, t.main.pooled, 1, "pooled_height", numbers.pooled_height));
    MLUOPS_TRY(need_dim(entry, t.main.pooled, 2, "pooled_width", numbers.pooled_width));
  }
  MLUOPS_TRY(need_same_dim(entry, t.main.pooled, 0, t.main.rois, 0));
  MLUOPS_TRY(need_same_dim(entry, t.main.pooled, 3, t.main.map, 3));
  if (!t.main.forward) MLUOPS_TRY(need_same_shape(entry, t.grad_input, t.main.map));
  for (const TensorArgument *tensor : {&t.offset, &t.grad_offset}) {
    if (tensor->desc == nullptr) continue;
    MLUOPS_TRY(need_same_dim(entry, *tensor, 0, t.main.rois, 0));
    MLUOPS_TRY(need_dim(entry, *tensor, 1, "x, y", 2));
    MLUOPS_TRY(need_same_dim(entry, *tensor, 2, t.main.pooled, 1));
    MLUOPS_TRY(need_same_dim(entry, *tensor, 3, t.main.pooled, 2));
  }
  return MLUOP_STATUS_SUCCESS;
}

// An offset and its gradient are there with descriptor and data, or neither is.
mluOpStatus_t check_pairs(const Entry &entry, const Tensors &t) {
  for (const TensorArgument *tensor : {&t.offset, &t.grad_offset}) {
    if (tensor->desc != nullptr) {
      MLUOPS_TRY(need_pointer(entry, tensor->name, tensor->data));
    } else if (tensor->data != nullptr) {
      return need_descriptor(entry, Text::format("%s_desc", tensor->name).c_str(), tensor->desc);
    }
  }
  if (t.main.forward) return MLUOP_STATUS_SUCCESS;
  MLUOPS_REQUIRE((t.offset.desc == nullptr) == (t.grad_offset.desc == nullptr), MLUOP_STATUS_BAD_PARAM, entry,
                 "grad_offset", t.offset.desc == nullptr ? "NULL like offset" : "a tensor like offset",
                 t.offset.desc == nullptr ? "a tensor" : "NULL");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_sizes(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(t.each([&](const TensorArgument &tensor) { return need_indexable(entry, {tensor}); }));
  if (!t.own) MLUOPS_TRY(check_pairs(entry, t));
  MLUOPS_TRY(need_nonzero_dim(entry, t.main.map, 0, "B"));
  MLUOPS_TRY(need_nonzero_dim(entry, t.main.map, 3, "C"));
  MLUOPS_TRY(need_nonzero_dim(entry, t.main.rois, 0, "R"));
  return t.own ? t.each([&](const TensorArgument &tensor) { return need_elements(entry, tensor); })
               : MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_overlap(const Entry &entry, const Tensors &t) {
  const auto apart = [&](const TensorArgument &output) {
    return t.each([&](const TensorArgument &other) {
      const bool itself = other.name == output.name;
      return itself ? MLUOP_STATUS_SUCCESS : require_no_overlap(entry, {output}, {other});
    });
  };
  if (t.main.forward) return apart(t.main.pooled);
  MLUOPS_TRY(apart(t.grad_input));
  return t.grad_offset.desc == nullptr ? MLUOP_STATUS_SUCCESS : apart(t.grad_offset);
}

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const Tensors &t, const Numbers &numbers) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(t.each([&](const TensorArgument &tensor) { return need_descriptors(entry, {tensor}); }));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(check_ranks(entry, t));
  MLUOPS_TRY(check_numbers(entry, t, numbers));
  MLUOPS_TRY(check_shapes(entry, t, numbers));
  MLUOPS_TRY(check_sizes(entry, t));
  if (t.main.map.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(t.each([&](const TensorArgument &tensor) { return need_data(entry, {tensor}); }));
  MLUOPS_TRY(check_overlap(entry, t));
  const DeformRoiPoolGeometry geometry{region_sizes(t.main), numbers.sampling_ratio, numbers.spatial_scale,
                                       numbers.gamma, t.own};
  if (t.main.forward) {
    return launch_deform_roi_pool_forward(handle, {entry.function, geometry, t.main.map.data, t.main.rois.data,
                                                   t.offset.data, const_cast<void *>(t.main.pooled.data)});
  }
  return launch_deform_roi_pool_backward(
      handle, {entry.function, geometry, t.main.pooled.data, t.main.map.data, t.main.rois.data, t.offset.data,
               const_cast<void *>(t.grad_input.data), const_cast<void *>(t.grad_offset.data)});
}

}  // namespace

mluOpStatus_t deform_roi_pool_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &input,
                                      const TensorArgument &rois, const TensorArgument &offset, int pooled_height,
                                      int pooled_width, double spatial_scale, int sampling_ratio, double gamma,
                                      const TensorArgument &output) {
  return run(entry, handle, {{input, rois, output, true}, offset},
             {pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma});
}

mluOpStatus_t deform_roi_pool_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &grad_output,
                                       const TensorArgument &input, const TensorArgument &rois,
                                       const TensorArgument &offset, int pooled_height, int pooled_width,
                                       double spatial_scale, int sampling_ratio, double gamma,
                                       const TensorArgument &grad_input, const TensorArgument &grad_offset) {
  return run(entry, handle, {{input, rois, grad_output, false}, offset, grad_input, grad_offset},
             {pooled_height, pooled_width, spatial_scale, sampling_ratio, gamma});
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(DeformRoiPoolForward);
MLUOPS_IN_DOUBLE(DeformRoiPoolBackward);

mluOpStatus_t MLUOP_WIN_API mluOpDeformRoiPoolForward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc, const void *input,
    const mluOpTensorDescriptor_t rois_desc, const void *rois, const mluOpTensorDescriptor_t offset_desc,
    const void *offset, const int pooled_height, const int pooled_width, const float spatial_scale,
    const int sampling_ratio, const float gamma, const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluOpDeformRoiPoolForward", [&] {
    return mluops::deform_roi_pool_forward({"mluOpDeformRoiPoolForward"}, handle, {"input", input_desc, input},
                                           {"rois", rois_desc, rois}, {"offset", offset_desc, offset}, pooled_height,
                                           pooled_width, spatial_scale, sampling_ratio, gamma,
                                           {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDeformRoiPoolBackward(
    const mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t rois_desc,
    const void *rois, const mluOpTensorDescriptor_t offset_desc, const void *offset, const int pooled_height,
    const int pooled_width, const float spatial_scale, const int sampling_ratio, const float gamma,
    const mluOpTensorDescriptor_t grad_input_desc, void *grad_input, const mluOpTensorDescriptor_t grad_offset_desc,
    void *grad_offset) {
  return mluops::guarded("mluOpDeformRoiPoolBackward", [&] {
    return mluops::deform_roi_pool_backward(
        {"mluOpDeformRoiPoolBackward"}, handle, {"grad_output", grad_output_desc, grad_output},
        {"input", input_desc, input}, {"rois", rois_desc, rois}, {"offset", offset_desc, offset}, pooled_height,
        pooled_width, spatial_scale, sampling_ratio, gamma, {"grad_input", grad_input_desc, grad_input},
        {"grad_offset", grad_offset_desc, grad_offset});
  });
}

// ---- Function of mluops_ext.h -------------------------------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluopsExtDeformRoiPoolExactBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input_desc, const void *input, const mluOpTensorDescriptor_t rois_desc,
    const void *rois, const mluOpTensorDescriptor_t offset_desc, const void *offset, const double spatial_scale,
    const int sampling_ratio, const double gamma, const mluOpTensorDescriptor_t grad_input_desc, void *grad_input,
    const mluOpTensorDescriptor_t grad_offset_desc, void *grad_offset) {
  return mluops::guarded("mluopsExtDeformRoiPoolExactBackward", [&] {
    return mluops::run({"mluopsExtDeformRoiPoolExactBackward"}, handle,
                       {{{"input", input_desc, input},
                         {"rois", rois_desc, rois},
                         {"grad_output", grad_output_desc, grad_output},
                         false},
                        {"offset", offset_desc, offset},
                        {"grad_input", grad_input_desc, grad_input},
                        {"grad_offset", grad_offset_desc, grad_offset},
                        true},
                       {0, 0, spatial_scale, sampling_ratio, gamma});
  });
}
