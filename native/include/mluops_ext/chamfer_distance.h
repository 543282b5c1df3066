/* Functions of the family chamfer_distance beyond mlu_op.h. */
#ifndef MLUOPS_EXT_CHAMFER_DISTANCE_H_
#define MLUOPS_EXT_CHAMFER_DISTANCE_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Nearest points of two clouds in a plane: dist1[b, i] is the squared distance of xyz1[b, i] from
 * the nearest point of xyz2[b], and idx1[b, i] its number, the lowest of equally near ones; dist2
 * and idx2 the other way round. Points are half, float or double, and every step of a distance is
 * rounded to their type. A NaN does not count; if all are NaN, the point is number 0. If
 * the other cloud has no points, distances and numbers are 0. Gradients are added in the order of
 * the points, those of dist1 first; a number out of range contributes nothing. Clouds of
 * 256 points and more need up to 64 bytes beside the arguments for each point of a batch. A library
 * for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtChamferDistanceForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz1_desc, const void *xyz1,
    const mluOpTensorDescriptor_t xyz2_desc, const void *xyz2, const mluOpTensorDescriptor_t dist1_desc, void *dist1,
    const mluOpTensorDescriptor_t dist2_desc, void *dist2, const mluOpTensorDescriptor_t idx1_desc, void *idx1,
    const mluOpTensorDescriptor_t idx2_desc, void *idx2);

mluOpStatus_t MLUOP_WIN_API mluopsExtChamferDistanceBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz1_desc, const void *xyz1,
    const mluOpTensorDescriptor_t xyz2_desc, const void *xyz2, const mluOpTensorDescriptor_t idx1_desc,
    const void *idx1, const mluOpTensorDescriptor_t idx2_desc, const void *idx2,
    const mluOpTensorDescriptor_t grad_dist1_desc, const void *grad_dist1,
    const mluOpTensorDescriptor_t grad_dist2_desc, const void *grad_dist2, const mluOpTensorDescriptor_t grad_xyz1_desc,
    void *grad_xyz1, const mluOpTensorDescriptor_t grad_xyz2_desc, void *grad_xyz2);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_CHAMFER_DISTANCE_H_ */
