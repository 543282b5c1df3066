/* Functions of the family box_nms beyond mlu_op.h. */
#ifndef MLUOPS_EXT_BOX_NMS_H_
#define MLUOPS_EXT_BOX_NMS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Suppression of upright rectangles, rows (x1, y1, x2, y2), float or double like their scores: a
 * kept box suppresses those with a lower score whose overlap with it, intersection over union, is
 * above the threshold. offset, 0 or 1, is added to widths and heights. Boxes with a score of minus
 * infinity or NaN are ignored. output, int32, begins with the numbers of the kept boxes, by their
 * scores; result_num is a number in host memory. Beside the arguments a call needs 76 bytes a box.
 * A library for a device returns NOT_SUPPORTED, as for the two functions below. */
mluOpStatus_t MLUOP_WIN_API mluopsExtNms2d(
    mluOpHandle_t handle, const double iou_threshold, const int offset, const mluOpTensorDescriptor_t boxes_desc,
    const void *boxes, const mluOpTensorDescriptor_t scores_desc, const void *scores,
    const mluOpTensorDescriptor_t output_desc, void *output, int32_t *result_num);

/* The same, telling for each box, a row (x1, y1, x2, y2, score), which kept one it belongs to:
 * itself, or the first that overlaps it by at least the threshold. order has the numbers of all
 * boxes in the order of their scores, of which NaN is the highest. */
mluOpStatus_t MLUOP_WIN_API mluopsExtNmsMatch(
    mluOpHandle_t handle, const double iou_threshold, const mluOpTensorDescriptor_t dets_desc, const void *dets,
    const mluOpTensorDescriptor_t matches_desc, void *matches, const mluOpTensorDescriptor_t order_desc, void *order);

/* Soft suppression: each pick, the first of the highest scores left, multiplies those of the others
 * by 0 (method 0) or 1 - overlap (1) where the overlap is at least the threshold, or by
 * exp(-overlap^2 / sigma) (2). A box whose score is below min_score then is dropped, and the last
 * one left takes its place. dets, [N, 5], begins with rows (x1, y1, x2, y2, score) in the order of
 * the picks, and output with their numbers. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSoftNms(
    mluOpHandle_t handle, const double iou_threshold, const double sigma, const double min_score, const int method,
    const int offset, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
    const mluOpTensorDescriptor_t scores_desc, const void *scores, const mluOpTensorDescriptor_t dets_desc, void *dets,
    const mluOpTensorDescriptor_t output_desc, void *output, int32_t *result_num);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_BOX_NMS_H_ */
