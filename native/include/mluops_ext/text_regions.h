/* Functions of the family text_regions beyond mlu_op.h. */
#ifndef MLUOPS_EXT_TEXT_REGIONS_H_
#define MLUOPS_EXT_TEXT_REGIONS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Lets kernels of text grow, as mmcv's contour_expand: labels of kernels with at least
 * min_kernel_area pixels, int32 [H, W], spread over kernel_mask[0], bool [K, H, W] with K > 0,
 * one pixel after another in the order in which they were reached: up, down, left, right. With K
 * = 1 they do not grow. A label outside of 1 .. label_count - 1 is background. Beside the
 * arguments a call needs 4 bytes a pixel and 8 bytes a label. A library for a device returns
 * NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtContourExpand(
    mluOpHandle_t handle, const int min_kernel_area, const int label_count,
    const mluOpTensorDescriptor_t kernel_mask_desc, const void *kernel_mask,
    const mluOpTensorDescriptor_t internal_kernel_label_desc, const void *internal_kernel_label,
    const mluOpTensorDescriptor_t output_desc, void *output);

/* Lets kernels of text grow, as mmcv's pixel_group: from the pixels of kernel_contour, bool [H,
 * W], labels spread over the mask, bool [H, W], left, right, up, down, to pixels whose
 * embedding, [H, W, C], is nearer to the mean of the kernel's than distance_threshold. scores,
 * [label_count], are the mean scores of the pixels with a label, and counts their numbers,
 * int32; score, embedding and scores are float or double. A label outside of 1 ..
 * label_count - 1 is background. Beside the arguments a call needs 4 bytes a pixel and the
 * means. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtPixelGroup(
    mluOpHandle_t handle, const int label_count, const double distance_threshold,
    const mluOpTensorDescriptor_t score_desc, const void *score, const mluOpTensorDescriptor_t mask_desc,
    const void *mask, const mluOpTensorDescriptor_t embedding_desc, const void *embedding,
    const mluOpTensorDescriptor_t kernel_label_desc, const void *kernel_label,
    const mluOpTensorDescriptor_t kernel_contour_desc, const void *kernel_contour,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t scores_desc, void *scores,
    const mluOpTensorDescriptor_t counts_desc, void *counts);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_TEXT_REGIONS_H_ */
