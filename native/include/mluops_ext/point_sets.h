/* Functions of the family point_sets beyond mlu_op.h. */
#ifndef MLUOPS_EXT_POINT_SETS_H_
#define MLUOPS_EXT_POINT_SETS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Intersection over union, [N, K], of the convex hulls of sets of nine points, [N, 18], and of
 * simple quadrilaterals, [K, 8]: x and y of each point, and of corners in their order around, in
 * either direction. Arrays are float or double, computed in double. A row that is not finite gives
 * NaN, and so do two without an area. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtConvexIou(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc, const void *pointsets,
    const mluOpTensorDescriptor_t polygons_desc, const void *polygons, const mluOpTensorDescriptor_t ious_desc,
    void *ious);

/* Generalised IoU of the rows of both in the same place, [N], and its gradient by the points,
 * [N, 18], which the corners of a hull have and other points have not; of several points that are
 * the same it is that of the first one. A row that is not finite gives NaN and a gradient of 0. A
 * library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtConvexGiou(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc, const void *pointsets,
    const mluOpTensorDescriptor_t polygons_desc, const void *polygons, const mluOpTensorDescriptor_t gious_desc,
    void *gious, const mluOpTensorDescriptor_t gradients_desc, void *gradients);

/* Corners, [N, 8], of the rectangles of the least area around sets of nine points, computed in
 * double and rounded to the type of the arrays: of those along the edges of the hull the first
 * one whose area is the least, up to 1e-12 of itself. They are 0 if a point is not finite. A
 * library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtMinAreaPolygons(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t pointsets_desc, const void *pointsets,
    const mluOpTensorDescriptor_t polygons_desc, void *polygons);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_POINT_SETS_H_ */
