/* Functions of the family boxes3d beyond mlu_op.h. */
#ifndef MLUOPS_EXT_BOXES3D_H_
#define MLUOPS_EXT_BOXES3D_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Boxes in space: rows (x, y, z, dx, dy, dz, heading) with the center, the size and the angle of
 * dx from the x axis, float or double. A box that is not finite or has no base has no area in
 * common with another one. With aligned, values are those of the boxes in the same rows, [N];
 * else of all pairs, [N, M]. OverlapBev writes the common area as seen from above, IouBev
 * divides it by the area of both boxes together, and Iou3d does so with volumes; identical boxes
 * give 1. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtBoxesOverlapBev(
    mluOpHandle_t handle, const bool aligned, const mluOpTensorDescriptor_t boxes_a_desc, const void *boxes_a,
    const mluOpTensorDescriptor_t boxes_b_desc, const void *boxes_b, const mluOpTensorDescriptor_t overlaps_desc,
    void *overlaps);

mluOpStatus_t MLUOP_WIN_API mluopsExtBoxesIouBev(
    mluOpHandle_t handle, const bool aligned, const mluOpTensorDescriptor_t boxes_a_desc, const void *boxes_a,
    const mluOpTensorDescriptor_t boxes_b_desc, const void *boxes_b, const mluOpTensorDescriptor_t ious_desc,
    void *ious);

mluOpStatus_t MLUOP_WIN_API mluopsExtBoxesIou3d(
    mluOpHandle_t handle, const bool aligned, const mluOpTensorDescriptor_t boxes_a_desc, const void *boxes_a,
    const mluOpTensorDescriptor_t boxes_b_desc, const void *boxes_b, const mluOpTensorDescriptor_t ious_desc,
    void *ious);

/* Suppression of such boxes, as the vendor's of rotated ones: a kept box suppresses those with a
 * lower score whose IouBev with it is above the threshold, or the same without headings for
 * Nms3dNormal. result_num is a number in host memory, 0 if there are no boxes. Beside the arguments
 * a call needs up to 144 bytes a box. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtNms3d(
    mluOpHandle_t handle, const double iou_threshold, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
    const mluOpTensorDescriptor_t scores_desc, const void *scores, const mluOpTensorDescriptor_t output_desc,
    void *output, int32_t *result_num);

mluOpStatus_t MLUOP_WIN_API mluopsExtNms3dNormal(
    mluOpHandle_t handle, const double iou_threshold, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
    const mluOpTensorDescriptor_t scores_desc, const void *scores, const mluOpTensorDescriptor_t output_desc,
    void *output, int32_t *result_num);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_BOXES3D_H_ */
