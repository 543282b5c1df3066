/* Functions of the family points_in_polygons beyond mlu_op.h. */
#ifndef MLUOPS_EXT_POINTS_IN_POLYGONS_H_
#define MLUOPS_EXT_POINTS_IN_POLYGONS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Whether points [N, 2] lie in polygons of four corners [M, 8]: inside[n, m] is 1 if so, else 0, in
 * the type of the points, float or double. A ray from the point to the right crosses the border of
 * a polygon that holds it an odd number of times; a point on the border is counted up to there. A
 * library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtPointsInPolygons(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t polygons_desc, const void *polygons, const mluOpTensorDescriptor_t inside_desc,
    void *inside);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_POINTS_IN_POLYGONS_H_ */
