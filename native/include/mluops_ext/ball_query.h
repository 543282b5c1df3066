/* Functions of the family ball_query beyond mlu_op.h. */
#ifndef MLUOPS_EXT_BALL_QUERY_H_
#define MLUOPS_EXT_BALL_QUERY_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* As mluOpBallQuery with a least radius of 0, for stacked points; idx [M, nsample] counts from the
 * first point of the batch. A row without a point is -1 and zeros. */
mluOpStatus_t MLUOP_WIN_API mluopsExtStackBallQuery(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
    const mluOpTensorDescriptor_t new_xyz_batch_cnt_desc, const void *new_xyz_batch_cnt,
    const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const mluOpTensorDescriptor_t xyz_batch_cnt_desc,
    const void *xyz_batch_cnt, const double max_radius, const int nsample, const mluOpTensorDescriptor_t idx_desc,
    void *idx);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_BALL_QUERY_H_ */
