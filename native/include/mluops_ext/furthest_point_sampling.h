/* Functions of the family furthest_point_sampling beyond mlu_op.h. */
#ifndef MLUOPS_EXT_FURTHEST_POINT_SAMPLING_H_
#define MLUOPS_EXT_FURTHEST_POINT_SAMPLING_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Furthest point sampling: the first pick is point 0, each later one the point that lies furthest
 * from all picks before it, of equal distances the first. dist2 [B, N] has the least squared
 * distance of each point from the picks but the last, and at most max_squared_distance. Points with
 * a coordinate that is not finite, or with x^2 + y^2 + z^2 <= min_squared_norm, are picked only
 * first; where there are no others, point 0 is picked again. */
mluOpStatus_t MLUOP_WIN_API mluopsExtFurthestPointSampling(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const double max_squared_distance,
    const double min_squared_norm, const mluOpTensorDescriptor_t dist2_desc, void *dist2,
    const mluOpTensorDescriptor_t idx_desc, void *idx);

/* The same by a matrix [B, N, N]: row i has the distances from point i, which are used as they are;
 * a NaN makes no distance smaller. */
mluOpStatus_t MLUOP_WIN_API mluopsExtFurthestPointSamplingWithDist(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t dist_desc, const void *dist, const double max_distance,
    const mluOpTensorDescriptor_t min_dist_desc, void *min_dist, const mluOpTensorDescriptor_t idx_desc, void *idx);

/* The same for stacked points xyz [N, 3]: num_samples [B] picks of each batch, idx their rows. The
 * picks of a batch without points are -1. */
mluOpStatus_t MLUOP_WIN_API mluopsExtStackFurthestPointSampling(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc, const void *xyz,
    const mluOpTensorDescriptor_t xyz_batch_cnt_desc, const void *xyz_batch_cnt,
    const mluOpTensorDescriptor_t num_samples_desc, const void *num_samples, const double max_squared_distance,
    const mluOpTensorDescriptor_t dist2_desc, void *dist2, const mluOpTensorDescriptor_t idx_desc, void *idx);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_FURTHEST_POINT_SAMPLING_H_ */
