#include "ops/masked_conv/masked_conv.h"

#include "core/check.h"
#include "core/data_type.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

constexpr const char *kMap = "[1, C, H, W]";

mluOpStatus_t check_map(const Entry &entry, const TensorArgument &map) {
  MLUOPS_TRY(need_layout(entry, map, MLUOP_LAYOUT_NCHW));
  return need_rank(entry, map, 4, kMap);
}

mluOpStatus_t check_types(const Entry &entry, const TensorArgument &first, const TensorArgument &second,
                          std::initializer_list<TensorArgument> masks) {
  MLUOPS_TRY(need_float_or_half(entry, first));
  MLUOPS_TRY(need_same_dtype(entry, second, first));
  for (const TensorArgument &mask : masks) MLUOPS_TRY(need_dtype(entry, mask, MLUOP_DTYPE_INT32));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_cells(const Entry &entry, const TensorArgument &mask_h, const TensorArgument &mask_w) {
  for (const TensorArgument &mask : {mask_h, mask_w}) MLUOPS_TRY(need_rank(entry, mask, 1, "[K]"));
  return need_same_dim(entry, mask_w, 0, mask_h, 0);
}

mluOpStatus_t need_rows(const Entry &entry, const TensorArgument &data_col, const TensorArgument &feature, int kernel_h,
                        int kernel_w) {
  std::int64_t rows = std::int64_t{kernel_h} * kernel_w;
  MLUOPS_REQUIRE(!__builtin_mul_overflow(rows, feature.desc->dims[1], &rows), MLUOP_STATUS_BAD_PARAM, entry,
                 data_col.name, "fewer rows", Text::format("kernel_h=%d", kernel_h));
  return need_dim(entry, data_col, 0, "C * kernel_h * kernel_w", rows);
}

MaskedMap map_of(const TensorArgument &map, const TensorArgument &mask_h, const TensorArgument &mask_w) {
  const std::int64_t *const dims = map.desc->dims;
  return {dims[1],
          dims[2],
          dims[3],
          mask_h.desc->dims[0],
          static_cast<std::int64_t>(size_of(map.desc->dtype)),
          static_cast<const std::int32_t *>(mask_h.data),
          static_cast<const std::int32_t *>(mask_w.data)};
}

// The size of the workspace, which no call needs.
mluOpStatus_t tell_size(const char *function, mluOpHandle_t handle, std::initializer_list<TensorArgument> tensors,
                        std::size_t *size) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, tensors));
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  *size = 0;
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t masked_im2col_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &feature,
                                    const TensorArgument &mask_h, const TensorArgument &mask_w, int kernel_h,
                                    int kernel_w, int pad_h, int pad_w, void *workspace, std::size_t workspace_size,
                                    const TensorArgument &data_col) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {feature, mask_h, mask_w, data_col}));
  MLUOPS_TRY(check_map(entry, feature));
  MLUOPS_TRY(check_types(entry, feature, data_col, {mask_h, mask_w}));
  MLUOPS_TRY(need_dim(entry, feature, 0, "images", 1));
  MLUOPS_TRY(check_cells(entry, mask_h, mask_w));
  MLUOPS_TRY(need_rank(entry, data_col, 2, "[C * kernel_h * kernel_w, K]"));
  MLUOPS_TRY(need_at_least(entry, "kernel_h", kernel_h, 1));
  MLUOPS_TRY(need_at_least(entry, "kernel_w", kernel_w, 1));
  MLUOPS_TRY(need_rows(entry, data_col, feature, kernel_h, kernel_w));
  MLUOPS_TRY(need_same_dim(entry, data_col, 1, mask_h, 0));
  MLUOPS_TRY(need_packed(entry, {feature, mask_h, mask_w, data_col}));
  MLUOPS_TRY(need_indexable(entry, {feature, mask_h, data_col}));
  MLUOPS_TRY(need_elements(entry, feature));
  if (mask_h.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(need_data(entry, {feature, mask_h, mask_w, data_col}));
  MLUOPS_TRY(require_no_overlap(entry, {data_col}, {feature, mask_h, mask_w}));
  return launch_masked_im2col(handle, {entry.function, map_of(feature, mask_h, mask_w), kernel_h, kernel_w, pad_h,
                                       pad_w, feature.data, const_cast<void *>(data_col.data)});
}

mluOpStatus_t masked_col2im_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &col,
                                    const TensorArgument &mask_h, const TensorArgument &mask_w,
                                    std::size_t workspace_size, void *workspace, const TensorArgument &im) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {col, mask_h, mask_w, im}));
  MLUOPS_TRY(need_rank(entry, col, 2, "[C, K]"));
  MLUOPS_TRY(check_cells(entry, mask_h, mask_w));
  MLUOPS_TRY(check_map(entry, im));
  MLUOPS_TRY(check_types(entry, col, im, {mask_h, mask_w}));
  MLUOPS_TRY(need_dim(entry, im, 0, "images", 1));
  MLUOPS_TRY(need_same_dim(entry, col, 1, mask_h, 0));
  MLUOPS_TRY(need_same_dim(entry, col, 0, im, 1));
  MLUOPS_TRY(need_packed(entry, {col, mask_h, mask_w, im}));
  MLUOPS_TRY(need_indexable(entry, {col, mask_h, im}));
  MLUOPS_TRY(need_elements(entry, im));
  if (mask_h.desc->count != 0) {
    if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
    MLUOPS_TRY(need_data(entry, {col, mask_h, mask_w}));
  }
  MLUOPS_TRY(need_data(entry, {im}));
  MLUOPS_TRY(require_no_overlap(entry, {im}, {col, mask_h, mask_w}));
  return launch_masked_col2im(handle,
                              {entry.function, map_of(im, mask_h, mask_w), col.data, const_cast<void *>(im.data)});
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(MaskedIm2colForward);
MLUOPS_IN_DOUBLE(MaskedCol2imForward);

mluOpStatus_t MLUOP_WIN_API mluOpGetMaskedIm2colForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc, const mluOpTensorDescriptor_t mask_h_idx_desc,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const int /*kernel_h*/, const int /*kernel_w*/,
    const mluOpTensorDescriptor_t data_col_desc, size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetMaskedIm2colForwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::tell_size(kFunction, handle,
                             {{"feature", feature_desc, nullptr},
                              {"mask_h_idx", mask_h_idx_desc, nullptr},
                              {"mask_w_idx", mask_w_idx_desc, nullptr},
                              {"data_col", data_col_desc, nullptr}},
                             workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpMaskedIm2colForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t feature_desc,
                                                     const void *feature, const mluOpTensorDescriptor_t mask_h_idx_desc,
                                                     const void *mask_h_idx,
                                                     const mluOpTensorDescriptor_t mask_w_idx_desc,
                                                     const void *mask_w_idx, const int kernel_h, const int kernel_w,
                                                     const int pad_h, const int pad_w, void *workspace,
                                                     const size_t workspace_size,
                                                     const mluOpTensorDescriptor_t data_col_desc, void *data_col) {
  return mluops::guarded("mluOpMaskedIm2colForward", [&] {
    return mluops::masked_im2col_forward({"mluOpMaskedIm2colForward"}, handle, {"feature", feature_desc, feature},
                                         {"mask_h_idx", mask_h_idx_desc, mask_h_idx},
                                         {"mask_w_idx", mask_w_idx_desc, mask_w_idx}, kernel_h, kernel_w, pad_h, pad_w,
                                         workspace, workspace_size, {"data_col", data_col_desc, data_col});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetMaskedCol2imForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc, const mluOpTensorDescriptor_t mask_h_idx_desc,
    const mluOpTensorDescriptor_t mask_w_idx_desc, const mluOpTensorDescriptor_t im_desc, size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetMaskedCol2imForwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    return mluops::tell_size(kFunction, handle,
                             {{"col", col_desc, nullptr},
                              {"mask_h_idx", mask_h_idx_desc, nullptr},
                              {"mask_w_idx", mask_w_idx_desc, nullptr},
                              {"im", im_desc, nullptr}},
                             workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpMaskedCol2imForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t col_desc,
                                                     const void *col, const mluOpTensorDescriptor_t mask_h_idx_desc,
                                                     const void *mask_h_idx,
                                                     const mluOpTensorDescriptor_t mask_w_idx_desc,
                                                     const void *mask_w_idx, const size_t workspace_size,
                                                     void *workspace, const mluOpTensorDescriptor_t im_desc, void *im) {
  return mluops::guarded("mluOpMaskedCol2imForward", [&] {
    return mluops::masked_col2im_forward(
        {"mluOpMaskedCol2imForward"}, handle, {"col", col_desc, col}, {"mask_h_idx", mask_h_idx_desc, mask_h_idx},
        {"mask_w_idx", mask_w_idx_desc, mask_w_idx}, workspace_size, workspace, {"im", im_desc, im});
  });
}
