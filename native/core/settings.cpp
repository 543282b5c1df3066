// Creation, setting and destruction of the descriptors in settings.h; the FFT plan is in
// fft_plan.cpp.
#include "core/settings.h"

#include <cmath>
#include <cstring>

#include "core/check.h"
#include "core/exception_guard.h"

namespace mluops {
namespace {

const Pool<mluOpCarafeStruct>::AtLoad g_carafe_at_load;
const Pool<cnnlNmsStruct>::AtLoad g_nms_at_load;
const Pool<cnnlRoiAlignStruct>::AtLoad g_roi_align_at_load;
const Pool<mluOpAdamWStruct>::AtLoad g_adamw_at_load;
const Pool<cnnlDCNStruct>::AtLoad g_dcn_at_load;

mluOpStatus_t need_values(const char *function, const char *argument, const int *values, int count, int least) {
  for (int i = 0; i < count; ++i) MLUOPS_TRY(need_at_least(function, argument, values[i], least));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_four_dims(const char *function, int dims) { return need_between(function, "dimNb", dims, 4, 4); }

mluOpStatus_t check_nms(const char *function, const NmsSettings &nms) {
  MLUOPS_TRY(need_between(function, "box_mode", static_cast<int>(nms.box_mode), 0, 1));
  MLUOPS_TRY(need_between(function, "output_mode", static_cast<int>(nms.output_mode), 0, 3));
  MLUOPS_TRY(need_between(function, "algo", static_cast<int>(nms.algo), 0, 1));
  MLUOPS_TRY(need_between(function, "method_mode", static_cast<int>(nms.method_mode), 0, 2));
  MLUOPS_REQUIRE(!std::isnan(nms.iou_threshold), MLUOP_STATUS_BAD_PARAM, function, "iou_threshold", "a number", "NaN");
  MLUOPS_REQUIRE(nms.soft_nms_sigma >= 0.0f, MLUOP_STATUS_BAD_PARAM, function, "soft_nms_sigma", "at least 0",
                 Text::format("%g", static_cast<double>(nms.soft_nms_sigma)));
  MLUOPS_TRY(need_at_least(function, "max_output_size", nms.max_output_size, 0));
  MLUOPS_REQUIRE(nms.confidence_threshold >= 0.0f && nms.confidence_threshold <= 1.0f, MLUOP_STATUS_BAD_PARAM, function,
                 "confidence_threshold", "0 to 1", Text::format("%g", static_cast<double>(nms.confidence_threshold)));
  MLUOPS_REQUIRE(nms.offset == 0.0f || nms.offset == 1.0f, MLUOP_STATUS_BAD_PARAM, function, "offset", "0 or 1",
                 Text::format("%g", static_cast<double>(nms.offset)));
  return need_between(function, "input_layout", nms.input_layout, 0, 1);
}

// Reads one attribute of AdamW, a host value of `bytes` bytes.
mluOpStatus_t read_attribute(const char *function, const void *from, std::size_t given, void *to, std::size_t bytes) {
  MLUOPS_REQUIRE(given == bytes, MLUOP_STATUS_BAD_PARAM, function, "size_in_bytes", Text::format("%zu", bytes),
                 Text::format("%zu", given));
  MLUOPS_TRY(need_pointer(function, "buf", from));
  std::memcpy(to, from, bytes);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t read_attribute(const char *function, const void *from, std::size_t given, bool *to) {
  unsigned char byte = 0;  // other values than 0 and 1 count as true
  MLUOPS_TRY(read_attribute(function, from, given, &byte, sizeof byte));
  *to = byte != 0;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t set_attribute(const char *function, AdamWSettings *adamw, mluOpAdamWDescAttribute_t attribute,
                            const void *from, std::size_t given) {
  switch (static_cast<int>(attribute)) {
    case MLUOP_ADAMW_WEIGHT_DECAY:
      return read_attribute(function, from, given, &adamw->weight_decay, sizeof(float));
    case MLUOP_ADAMW_GRAD_SCALE:
      return read_attribute(function, from, given, &adamw->grad_scale, sizeof(float));
    case MLUOP_ADAMW_USE_NESTEROV:
      return read_attribute(function, from, given, &adamw->use_nesterov);
    case MLUOP_ADAMW_NEED_REMOVE_NAN:
      return read_attribute(function, from, given, &adamw->need_remove_nan);
    default:
      return refuse(MLUOP_STATUS_BAD_PARAM, function, "attr", "0 to 3",
                    Text::format("%d", static_cast<int>(attribute)));
  }
}

mluOpStatus_t check_dcn(const char *function, const DcnSettings &dcn) {
  MLUOPS_TRY(need_values(function, "pad", dcn.pad, 4, 0));
  MLUOPS_TRY(need_values(function, "stride", dcn.stride, 2, 1));
  MLUOPS_TRY(need_values(function, "dilation", dcn.dilation, 2, 1));
  MLUOPS_TRY(need_at_least(function, "deformable_group", dcn.deformable_group, 1));
  MLUOPS_TRY(need_at_least(function, "conv_group", dcn.conv_group, 1));
  MLUOPS_TRY(need_at_least(function, "im2col_step", dcn.im2col_step, 1));
  MLUOPS_REQUIRE(dcn.compute_type == MLUOP_DTYPE_FLOAT, MLUOP_STATUS_BAD_PARAM, function, "compute_type", "float",
                 name_of(dcn.compute_type));
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops

using mluops::create_object;
using mluops::destroy_object;
using mluops::need_object;
using mluops::need_pointer;
using mluops::Text;

// ---- Carafe -------------------------------------------------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluOpCreateCarafeDescriptor(mluOpCarafeDescriptor_t *carafe_desc) {
  return mluops::guarded(__func__,
                         [&] { return create_object("mluOpCreateCarafeDescriptor", "carafe_desc", carafe_desc); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc, const int dimNb,
                                                     const int kernel_size, const int group_size,
                                                     const int scale_factor) {
  MLUOPS_TRY(need_object(__func__, "carafe_desc", carafe_desc));
  MLUOPS_REQUIRE(kernel_size >= 1 && kernel_size % 2 == 1, MLUOP_STATUS_BAD_PARAM, __func__, "kernel_size",
                 "an odd number of at least 1", Text::format("%d", kernel_size));
  MLUOPS_TRY(mluops::need_at_least(__func__, "group_size", group_size, 1));
  MLUOPS_TRY(mluops::need_at_least(__func__, "scale_factor", scale_factor, 1));
  MLUOPS_TRY(mluops::need_four_dims(__func__, dimNb));
  mluops::store_settings(carafe_desc, {dimNb, kernel_size, group_size, scale_factor});
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyCarafeDescriptor(mluOpCarafeDescriptor_t carafe_desc) {
  return destroy_object(__func__, "carafe_desc", carafe_desc);
}

// ---- Nms ----------------------------------------------------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluOpCreateNmsDescriptor(mluOpNmsDescriptor_t *desc) {
  return mluops::guarded(__func__, [&] { return create_object("mluOpCreateNmsDescriptor", "desc", desc); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetNmsDescriptor(mluOpNmsDescriptor_t nms_desc, const mluOpNmsBoxPointMode_t box_mode,
                                                  const mluOpNmsOutputMode_t output_mode, const mluOpNmsAlgo_t algo,
                                                  const mluOpNmsMethodMode_t method_mode, const float iou_threshold,
                                                  const float soft_nms_sigma, const int max_output_size,
                                                  const float confidence_threshold, const float offset,
                                                  const int input_layout, const bool pad_to_max_output_size) {
  MLUOPS_TRY(need_object(__func__, "nms_desc", nms_desc));
  const mluops::NmsSettings nms = {
      box_mode,        output_mode,          algo,   method_mode,  iou_threshold,         soft_nms_sigma,
      max_output_size, confidence_threshold, offset, input_layout, pad_to_max_output_size};
  MLUOPS_TRY(mluops::check_nms(__func__, nms));
  mluops::store_settings(nms_desc, nms);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyNmsDescriptor(mluOpNmsDescriptor_t desc) {
  return destroy_object(__func__, "desc", desc);
}

// ---- RoiAlignForward ----------------------------------------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluOpCreateRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t *desc) {
  return mluops::guarded(__func__, [&] { return create_object("mluOpCreateRoiAlignForwardDescriptor", "desc", desc); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetRoiAlignForwardDescriptor_v2(mluOpRoiAlignForwardDescriptor_t roialign_desc,
                                                                 const int pooled_height, const int pooled_width,
                                                                 const int sampling_ratio, const float spatial_scale,
                                                                 const int pool_mode, const bool aligned) {
  MLUOPS_TRY(need_object(__func__, "roialign_desc", roialign_desc));
  MLUOPS_TRY(mluops::need_at_least(__func__, "pooled_height", pooled_height, 1));
  MLUOPS_TRY(mluops::need_at_least(__func__, "pooled_width", pooled_width, 1));
  MLUOPS_TRY(mluops::need_at_least(__func__, "sampling_ratio", sampling_ratio, 0));
  MLUOPS_REQUIRE(spatial_scale > 0.0f && std::isfinite(spatial_scale), MLUOP_STATUS_BAD_PARAM, __func__,
                 "spatial_scale", "a positive finite number", Text::format("%g", static_cast<double>(spatial_scale)));
  MLUOPS_TRY(mluops::need_between(__func__, "pool_mode", pool_mode, 0, 1));
  mluops::store_settings(roialign_desc,
                         {pooled_height, pooled_width, sampling_ratio, spatial_scale, pool_mode, aligned});
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyRoiAlignForwardDescriptor(mluOpRoiAlignForwardDescriptor_t desc) {
  return destroy_object(__func__, "desc", desc);
}

// ---- AdamW --------------------------------------------------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluOpCreateAdamWDescriptor(mluOpAdamWDescriptor_t *adamw_desc) {
  return mluops::guarded(__func__,
                         [&] { return create_object("mluOpCreateAdamWDescriptor", "adamw_desc", adamw_desc); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetAdamWDescAttr(mluOpAdamWDescriptor_t adamw_desc, mluOpAdamWDescAttribute_t attr,
                                                  const void *buf, const size_t size_in_bytes) {
  MLUOPS_TRY(need_object(__func__, "adamw_desc", adamw_desc));
  mluops::AdamWSettings adamw = adamw_desc->settings;
  MLUOPS_TRY(mluops::set_attribute(__func__, &adamw, attr, buf, size_in_bytes));
  mluops::store_settings(adamw_desc, adamw);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyAdamWDescriptor(mluOpAdamWDescriptor_t adamw_desc) {
  return destroy_object(__func__, "adamw_desc", adamw_desc);
}

// ---- DCN ----------------------------------------------------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluOpCreateDCNDescriptor(mluOpDCNDescriptor_t *dcn_desc) {
  return mluops::guarded(__func__, [&] { return create_object("mluOpCreateDCNDescriptor", "dcn_desc", dcn_desc); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetDCNDescriptor(mluOpDCNDescriptor_t dcn_desc, int dimNb, const int pad[],
                                                  const int stride[], const int dilation[], int deformable_group,
                                                  int conv_group, int im2col_step, const mluOpDataType_t compute_type) {
  MLUOPS_TRY(need_object(__func__, "dcn_desc", dcn_desc));
  MLUOPS_TRY(mluops::need_four_dims(__func__, dimNb));
  MLUOPS_TRY(need_pointer(__func__, "pad", pad));
  MLUOPS_TRY(need_pointer(__func__, "stride", stride));
  MLUOPS_TRY(need_pointer(__func__, "dilation", dilation));
  const mluops::DcnSettings dcn = {dimNb,
                                   {pad[0], pad[1], pad[2], pad[3]},
                                   {stride[0], stride[1]},
                                   {dilation[0], dilation[1]},
                                   deformable_group,
                                   conv_group,
                                   im2col_step,
                                   compute_type};
  MLUOPS_TRY(mluops::check_dcn(__func__, dcn));
  mluops::store_settings(dcn_desc, dcn);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyDCNDescriptor(mluOpDCNDescriptor_t dcn_desc) {
  return destroy_object(__func__, "dcn_desc", dcn_desc);
}
