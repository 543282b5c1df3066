/* Functions of the family points_in_boxes beyond mlu_op.h. */
#ifndef MLUOPS_EXT_POINTS_IN_BOXES_H_
#define MLUOPS_EXT_POINTS_IN_BOXES_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Boxes that hold points, for half, float and double. A box is (x, y, z, dx, dy, dz, heading), and
 * z is the height of its centre if centred is true, else that of its bottom. A point is inside if
 * it is less than margin outside of the sides, and not above or below. Part finds the first such
 * box of each point, -1 for none; All tells of each pair whether it is so, 1 or 0. A library for a
 * device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtPointsInBoxesPart(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
    const mluOpTensorDescriptor_t points_desc, const void *points, const double margin, const bool centred,
    const mluOpTensorDescriptor_t points_indices_desc, void *points_indices);

mluOpStatus_t MLUOP_WIN_API mluopsExtPointsInBoxesAll(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
    const mluOpTensorDescriptor_t points_desc, const void *points, const double margin, const bool centred,
    const mluOpTensorDescriptor_t points_inside_desc, void *points_inside);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_POINTS_IN_BOXES_H_ */
