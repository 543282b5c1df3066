/* Functions of the family sync_batch_norm beyond mlu_op.h. */
#ifndef MLUOPS_EXT_SYNC_BATCH_NORM_H_
#define MLUOPS_EXT_SYNC_BATCH_NORM_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The functions mluOpSyncBatchNorm* for values [N, C, S] with channels in the middle; channels that
 * come last are [N, C, 1]. Values are half, float or double, the numbers of a channel, [C], float,
 * and double for values in double. */

/* Mean and inverse standard deviation of each channel. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormStats(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, const double eps,
    const mluOpTensorDescriptor_t mean_desc, void *mean, const mluOpTensorDescriptor_t invstd_desc, void *invstd);

/* Joins the statistics of D devices, mean_all and invstd_all [D, C], count_all [D]; var is the
 * unbiased variance, towards which running statistics move. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormGatherStats(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t mean_all_desc, const void *mean_all,
    const mluOpTensorDescriptor_t invstd_all_desc, const void *invstd_all, const mluOpTensorDescriptor_t count_all_desc,
    const void *count_all, const double eps, const mluOpTensorDescriptor_t mean_desc, void *mean,
    const mluOpTensorDescriptor_t invstd_desc, void *invstd, const mluOpTensorDescriptor_t var_desc, void *var);

/* Normalises each element; filter and bias may be missing, 1 and 0 then. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormElemt(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc,
    const void *mean, const mluOpTensorDescriptor_t invstd_desc, const void *invstd,
    const mluOpTensorDescriptor_t filter_desc, const void *filter, const mluOpTensorDescriptor_t bias_desc,
    const void *bias, const mluOpTensorDescriptor_t y_desc, void *y);

/* Sums for the gradients, all four. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormBackwardReduce(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t dz_desc, const void *dz, const mluOpTensorDescriptor_t x_desc,
    const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean, const mluOpTensorDescriptor_t invstd_desc,
    const void *invstd, const mluOpTensorDescriptor_t dfilter_desc, void *dfilter,
    const mluOpTensorDescriptor_t dbias_desc, void *dbias, const mluOpTensorDescriptor_t sum_dy_desc, void *sum_dy,
    const mluOpTensorDescriptor_t sum_dy_xmu_desc, void *sum_dy_xmu);

/* Gradient with respect to the input, from means of sums; filter may be missing. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormBackwardElemt(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t diff_y_desc, const void *diff_y,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean,
    const mluOpTensorDescriptor_t invstd_desc, const void *invstd, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t mean_dy_desc, const void *mean_dy,
    const mluOpTensorDescriptor_t mean_dy_xmu_desc, const void *mean_dy_xmu, const mluOpTensorDescriptor_t diff_x_desc,
    void *diff_x);

/* Gradient with respect to the input, from sums and the int32 counts [D]; filter may be missing. */
mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormBackwardElemtV2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t diff_y_desc, const void *diff_y,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean,
    const mluOpTensorDescriptor_t invstd_desc, const void *invstd, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t sum_dy_desc, const void *sum_dy,
    const mluOpTensorDescriptor_t sum_dy_xmu_desc, const void *sum_dy_xmu, const mluOpTensorDescriptor_t count_desc,
    const void *count, const mluOpTensorDescriptor_t diff_x_desc, void *diff_x);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_SYNC_BATCH_NORM_H_ */
