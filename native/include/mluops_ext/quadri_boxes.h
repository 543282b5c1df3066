/* Functions of the family quadri_boxes beyond mlu_op.h. */
#ifndef MLUOPS_EXT_QUADRI_BOXES_H_
#define MLUOPS_EXT_QUADRI_BOXES_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Overlaps of simple quadrilaterals, rows of four corners in their order, float or double:
 * intersection over union (mode 0) or over the first box (1), of the boxes in the same rows,
 * [N], with aligned, else of all pairs, [N, M]. Modes 2 and 3 are 0 and 1 by mmcv's rule: a
 * corner counts as inside another box if it lies between the lines across the ends of its first
 * edge and of its last one, which is so for rectangles alone. A library for a device returns
 * NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtBoxIouQuadri(
    mluOpHandle_t handle, const int mode, const bool aligned, const mluOpTensorDescriptor_t bbox1_desc,
    const void *bbox1, const mluOpTensorDescriptor_t bbox2_desc, const void *bbox2,
    const mluOpTensorDescriptor_t ious_desc, void *ious);

/* Suppression of such boxes: a kept box suppresses those with a lower score whose overlap with it
 * is above the threshold. A box with a score of -infinity or NaN is ignored. output has the numbers
 * of the kept boxes in the order of their scores. result_num is a number in host memory, 0 if there
 * are no boxes. Beside the arguments a call needs up to 160 bytes a box. A library for a device
 * returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtNmsQuadri(
    mluOpHandle_t handle, const double iou_threshold, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
    const mluOpTensorDescriptor_t scores_desc, const void *scores, const mluOpTensorDescriptor_t output_desc,
    void *output, int32_t *result_num);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_QUADRI_BOXES_H_ */
