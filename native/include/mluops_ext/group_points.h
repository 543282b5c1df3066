/* Functions of the family group_points beyond mlu_op.h. */
#ifndef MLUOPS_EXT_GROUP_POINTS_H_
#define MLUOPS_EXT_GROUP_POINTS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Features [B, C, N] of the points idx [B, M], or idx [B, M, S] for groups of points, and the
 * gradient with respect to them, added up in the order of idx. An index that is no point gives
 * zeros, and its gradient is dropped. */
mluOpStatus_t MLUOP_WIN_API mluopsExtGatherPointsForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t idx_desc, const void *idx, const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtGatherPointsBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t idx_desc, const void *idx, const mluOpTensorDescriptor_t grad_features_desc,
    void *grad_features);

mluOpStatus_t MLUOP_WIN_API mluopsExtGroupPointsForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t idx_desc, const void *idx, const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtGroupPointsBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t idx_desc, const void *idx, const mluOpTensorDescriptor_t grad_features_desc,
    void *grad_features);

/* The same for stacked features [N, C] and groups idx [M, S], counted from the first row of the
 * batch: output [M, C, S]. */
mluOpStatus_t MLUOP_WIN_API mluopsExtStackGroupPointsForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t features_batch_cnt_desc, const void *features_batch_cnt,
    const mluOpTensorDescriptor_t idx_desc, const void *idx, const mluOpTensorDescriptor_t idx_batch_cnt_desc,
    const void *idx_batch_cnt, const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtStackGroupPointsBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t idx_desc, const void *idx, const mluOpTensorDescriptor_t idx_batch_cnt_desc,
    const void *idx_batch_cnt, const mluOpTensorDescriptor_t features_batch_cnt_desc, const void *features_batch_cnt,
    const mluOpTensorDescriptor_t grad_features_desc, void *grad_features);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_GROUP_POINTS_H_ */
