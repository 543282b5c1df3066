#include "ops/correlation/correlation.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/correlation.h"

namespace mluops {
namespace {

struct Numbers {
  int kernel_h, kernel_w, patch_h, patch_w, stride_h, stride_w, pad_h, pad_w;
  int dilation_h, dilation_w, dilation_patch_h, dilation_patch_w;
};

mluOpStatus_t check_numbers(const Entry &entry, const Numbers &n) {
  struct Named {
    const char *name;
    int value;
    int least;
  };
  for (const Named &number :
       {Named{"kernel_h", n.kernel_h, 1}, Named{"kernel_w", n.kernel_w, 1}, Named{"patch_h", n.patch_h, 1},
        Named{"patch_w", n.patch_w, 1}, Named{"stride_h", n.stride_h, 1}, Named{"stride_w", n.stride_w, 1},
        Named{"pad_h", n.pad_h, 0}, Named{"pad_w", n.pad_w, 0}, Named{"dilation_h", n.dilation_h, 1},
        Named{"dilation_w", n.dilation_w, 1}, Named{"dilation_patch_h", n.dilation_patch_h, 1},
        Named{"dilation_patch_w", n.dilation_patch_w, 1}})
    MLUOPS_TRY(need_between(entry, number.name, number.value, number.least, kMostOfNumber));
  return MLUOP_STATUS_SUCCESS;
}

// `first` is given whatever the direction, `maps` are the others of its type, `result` is the
// output or its gradient.
mluOpStatus_t check_tensors(const Entry &entry, const TensorArgument &first, const TensorArgument &map,
                            std::initializer_list<TensorArgument> maps, const TensorArgument &result,
                            const Numbers &n) {
  for (const TensorArgument &tensor : maps) MLUOPS_TRY(need_rank(entry, tensor, 4, "[B, C, H, W]"));
  MLUOPS_TRY(need_rank(entry, result, 5, "[B, patch_h, patch_w, h, w]"));
  for (const TensorArgument &tensor : maps) MLUOPS_TRY(need_same_shape(entry, tensor, map));
  MLUOPS_TRY(need_same_dim(entry, result, 0, map, 0));
  MLUOPS_TRY(need_dim(entry, result, 1, "patch_h", n.patch_h));
  MLUOPS_TRY(need_dim(entry, result, 2, "patch_w", n.patch_w));
  MLUOPS_TRY(need_packed(entry, maps));
  MLUOPS_TRY(need_packed(entry, {result}));
  MLUOPS_TRY(need_real(entry, first));
  for (const TensorArgument &tensor : maps) MLUOPS_TRY(need_same_dtype(entry, tensor, first));
  MLUOPS_TRY(need_same_dtype(entry, result, first));
  MLUOPS_TRY(need_indexable(entry, maps));
  MLUOPS_TRY(need_indexable(entry, {result}));
  for (const TensorArgument &tensor : maps) MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_elements(entry, result));
  MLUOPS_TRY(need_data(entry, maps));
  return need_data(entry, {result});
}

CorrelationGeometry geometry_of(const TensorArgument &map, const TensorArgument &result, const Numbers &n) {
  const std::int64_t *const dims = map.desc->dims, *const sizes = result.desc->dims;
  return {map.desc->dtype,
          dims[0],
          dims[1],
          {dims[2], sizes[3], n.kernel_h, n.patch_h, n.stride_h, n.pad_h, n.dilation_h, n.dilation_patch_h},
          {dims[3], sizes[4], n.kernel_w, n.patch_w, n.stride_w, n.pad_w, n.dilation_w, n.dilation_patch_w}};
}

mluOpStatus_t forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &input1,
                      const TensorArgument &input2, const Numbers &numbers, const TensorArgument &output) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {input1, input2, output}));
  MLUOPS_TRY(check_numbers(entry, numbers));
  MLUOPS_TRY(check_tensors(entry, input1, input1, {input1, input2}, output, numbers));
  MLUOPS_TRY(require_no_overlap(entry, {output}, {input1, input2}));
  return launch_correlation_forward(handle, {entry.function, geometry_of(input1, output, numbers), input1.data,
                                             input2.data, const_cast<void *>(output.data)});
}

mluOpStatus_t backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &grad_output,
                       const TensorArgument &input1, const TensorArgument &input2, const Numbers &numbers,
                       const TensorArgument &grad_input1, const TensorArgument &grad_input2) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {grad_output, input1, input2, grad_input1, grad_input2}));
  MLUOPS_TRY(check_numbers(entry, numbers));
  MLUOPS_TRY(
      check_tensors(entry, grad_output, input1, {input1, input2, grad_input1, grad_input2}, grad_output, numbers));
  MLUOPS_TRY(require_no_overlap(entry, {grad_input1, grad_input2}, {grad_output, input1, input2}));
  return launch_correlation_backward(
      handle, {entry.function, geometry_of(input1, grad_output, numbers), grad_output.data, input1.data, input2.data,
               const_cast<void *>(grad_input1.data), const_cast<void *>(grad_input2.data)});
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtCorrelationForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input1_desc,
                                                        const void *input1, const mluOpTensorDescriptor_t input2_desc,
                                                        const void *input2, const int kernel_h, const int kernel_w,
                                                        const int patch_h, const int patch_w, const int stride_h,
                                                        const int stride_w, const int pad_h, const int pad_w,
                                                        const int dilation_h, const int dilation_w,
                                                        const int dilation_patch_h, const int dilation_patch_w,
                                                        const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtCorrelationForward", [&] {
    return mluops::forward({"mluopsExtCorrelationForward"}, handle, {"input1", input1_desc, input1},
                           {"input2", input2_desc, input2},
                           {kernel_h, kernel_w, patch_h, patch_w, stride_h, stride_w, pad_h, pad_w, dilation_h,
                            dilation_w, dilation_patch_h, dilation_patch_w},
                           {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtCorrelationBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t input1_desc, const void *input1, const mluOpTensorDescriptor_t input2_desc,
    const void *input2, const int kernel_h, const int kernel_w, const int patch_h, const int patch_w,
    const int stride_h, const int stride_w, const int pad_h, const int pad_w, const int dilation_h,
    const int dilation_w, const int dilation_patch_h, const int dilation_patch_w,
    const mluOpTensorDescriptor_t grad_input1_desc, void *grad_input1, const mluOpTensorDescriptor_t grad_input2_desc,
    void *grad_input2) {
  return mluops::guarded("mluopsExtCorrelationBackward", [&] {
    return mluops::backward({"mluopsExtCorrelationBackward"}, handle, {"grad_output", grad_output_desc, grad_output},
                            {"input1", input1_desc, input1}, {"input2", input2_desc, input2},
                            {kernel_h, kernel_w, patch_h, patch_w, stride_h, stride_w, pad_h, pad_w, dilation_h,
                             dilation_w, dilation_patch_h, dilation_patch_w},
                            {"grad_input1", grad_input1_desc, grad_input1},
                            {"grad_input2", grad_input2_desc, grad_input2});
  });
}
