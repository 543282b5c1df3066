/* Functions of the family voxel_query beyond mlu_op.h. */
#ifndef MLUOPS_EXT_VOXEL_QUERY_H_
#define MLUOPS_EXT_VOXEL_QUERY_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The first points that lie in a ball around each centre, of those in the cells around its own:
 * float or double. new_coords [M, 4] are the batches of the centres new_xyz [M, 3] and their
 * cells along z, y and x; point_indices [B, Z, Y, X] has the row of xyz [N, 3] that is in each
 * cell, any other number for none. Cells up to a range away from the centre's own are visited
 * along z, then y, then x; a point counts if its squared distance is at most that of radius. idx
 * [M, nsample] has these rows, and the first of them in the places that remain; a row without a
 * point is -1 and zeros. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtVoxelQuery(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
    const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const mluOpTensorDescriptor_t new_coords_desc,
    const void *new_coords, const mluOpTensorDescriptor_t point_indices_desc, const void *point_indices,
    const double radius, const int z_range, const int y_range, const int x_range,
    const mluOpTensorDescriptor_t idx_desc, void *idx);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_VOXEL_QUERY_H_ */
