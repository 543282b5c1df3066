// Regions of interest: pooling with and without interpolation, which the CPU library computes.
#include "operands.h"

using namespace cnnl;

cnnlStatus_t cnnlCreateRoiAlignDescriptor(cnnlRoiAlignDescriptor_t *desc) {
  return guarded(__func__,
                 [&](const char *function) { return CNNL_CPU(function, mluOpCreateRoiAlignForwardDescriptor, desc); });
}

cnnlStatus_t cnnlDestroyRoiAlignDescriptor(cnnlRoiAlignDescriptor_t desc) {
  return guarded(__func__,
                 [&](const char *function) { return CNNL_CPU(function, mluOpDestroyRoiAlignForwardDescriptor, desc); });
}

cnnlStatus_t cnnlSetRoiAlignDescriptor_v2(cnnlRoiAlignDescriptor_t desc, int pooled_height, int pooled_width,
                                          int sampling_ratio, float spatial_scale, int pool_mode, bool aligned) {
  return guarded(__func__, [&](const char *function) {
    return CNNL_CPU(function, mluOpSetRoiAlignForwardDescriptor_v2, desc, pooled_height, pooled_width, sampling_ratio,
                    spatial_scale, pool_mode, aligned);
  });
}

cnnlStatus_t cnnlRoiAlign_v2(cnnlHandle_t handle, cnnlRoiAlignDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                             const void *input, cnnlTensorDescriptor_t boxes_desc, const void *boxes,
                             cnnlTensorDescriptor_t output_desc, void *output, cnnlTensorDescriptor_t argmax_x_desc,
                             void *argmax_x, cnnlTensorDescriptor_t argmax_y_desc, void *argmax_y) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &x = operands.in("input", input_desc, input);
    const Operand &rois = operands.in("boxes", boxes_desc, boxes);
    const Operand &y = operands.out("output", output_desc, output);
    // Averages have no places, so that callers pass NULL for them.
    const Operand &at_x = operands.out("argmax_x", argmax_x != nullptr ? argmax_x_desc : nullptr, argmax_x);
    const Operand &at_y = operands.out("argmax_y", argmax_y != nullptr ? argmax_y_desc : nullptr, argmax_y);
    return operands.run([&](mluOpHandle_t cpu) {
      return CNNL_CPU(function, mluOpRoiAlignForward_v2, cpu, desc, x.desc, x.data, rois.desc, rois.data, y.desc,
                      y.data, at_x.desc, at_x.data, at_y.desc, at_y.data);
    });
  });
}

cnnlStatus_t cnnlRoiAlignBackward(cnnlHandle_t handle, float spatial_scale, int sampling_ratio, bool aligned,
                                  cnnlTensorDescriptor_t grads_desc, const void *grads,
                                  cnnlTensorDescriptor_t boxes_desc, const void *boxes,
                                  cnnlTensorDescriptor_t grads_image_desc, void *grads_image) {
  constexpr int kAverage = 1;
  return cnnlRoiAlignBackward_v2(handle, grads_desc, grads, boxes_desc, boxes, nullptr, nullptr, nullptr, nullptr,
                                 spatial_scale, sampling_ratio, aligned, kAverage, grads_image_desc, grads_image);
}

cnnlStatus_t cnnlRoiAlignBackward_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t grads_desc, const void *grads,
                                     cnnlTensorDescriptor_t boxes_desc, const void *boxes,
                                     cnnlTensorDescriptor_t argmax_x_desc, const void *argmax_x,
                                     cnnlTensorDescriptor_t argmax_y_desc, const void *argmax_y, float spatial_scale,
                                     int sampling_ratio, bool aligned, int pool_mode,
                                     cnnlTensorDescriptor_t grads_image_desc, void *grads_image) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &dy = operands.in("grads", grads_desc, grads);
    const Operand &rois = operands.in("boxes", boxes_desc, boxes);
    const Operand &at_x = operands.in("argmax_x", argmax_x != nullptr ? argmax_x_desc : nullptr, argmax_x);
    const Operand &at_y = operands.in("argmax_y", argmax_y != nullptr ? argmax_y_desc : nullptr, argmax_y);
    const Operand &dx = operands.out("grads_image", grads_image_desc, grads_image);
    return operands.run([&](mluOpHandle_t cpu) {
      return CNNL_CPU(function, mluOpRoiAlignBackward_v2, cpu, dy.desc, dy.data, rois.desc, rois.data, at_x.desc,
                      at_x.data, at_y.desc, at_y.data, spatial_scale, sampling_ratio, aligned, pool_mode, dx.desc,
                      dx.data);
    });
  });
}

cnnlStatus_t cnnlRoiPoolingForward(cnnlHandle_t handle, cnnlPoolingMode_t pooling_mode,
                                   cnnlTensorDescriptor_t input_desc, const void *input,
                                   cnnlTensorDescriptor_t rois_desc, const void *rois, float spatial_scale,
                                   cnnlTensorDescriptor_t output_desc, void *output, int *argmax) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &x = operands.in("input", input_desc, input);
    const Operand &boxes = operands.in("rois", rois_desc, rois);
    const Operand &y = operands.out("output", output_desc, output);
    const Operand &places = operands.out("argmax", CNNL_DTYPE_INT32, y.tensor, argmax);
    return operands.run([&](mluOpHandle_t cpu) {
      return CNNL_CPU(function, mluOpRoiPoolingForward, cpu, static_cast<mluOpPoolingMode_t>(pooling_mode), x.desc,
                      x.data, boxes.desc, boxes.data, spatial_scale, y.desc, y.data, static_cast<int *>(places.data));
    });
  });
}

cnnlStatus_t cnnlRoiPoolingBackward(cnnlHandle_t handle, cnnlPoolingMode_t pooling_mode,
                                    cnnlTensorDescriptor_t grads_desc, const void *grads,
                                    cnnlTensorDescriptor_t rois_desc, const void *rois,
                                    cnnlTensorDescriptor_t argmax_desc, const int *argmax, float spatial_scale,
                                    cnnlTensorDescriptor_t grads_image_desc, void *grads_image) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &dy = operands.in("grads", grads_desc, grads);
    const Operand &boxes = operands.in("rois", rois_desc, rois);
    const Operand &places = operands.in("argmax", argmax_desc, argmax);
    const Operand &dx = operands.out("grads_image", grads_image_desc, grads_image);
    return operands.run([&](mluOpHandle_t cpu) {
      return CNNL_CPU(function, mluOpRoiPoolingBackward, cpu, static_cast<mluOpPoolingMode_t>(pooling_mode), dy.desc,
                      dy.data, boxes.desc, boxes.data, places.desc, static_cast<const int *>(places.data),
                      spatial_scale, dx.desc, dx.data);
    });
  });
}
