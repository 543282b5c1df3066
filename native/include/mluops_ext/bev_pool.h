/* Functions of the family bev_pool beyond mlu_op.h. */
#ifndef MLUOPS_EXT_BEV_POOL_H_
#define MLUOPS_EXT_BEV_POOL_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Sums for the cells of a grid seen from above, float or double: interval k has the rows
 * interval_starts[k] .. + interval_lengths[k] - 1 of features [N, C], all of which lie in the
 * cell of its first row, geometry [N, 4]: along height, width and depth, and batch. Output [B,
 * D, H, W, C] is 0 where no interval is; rows are added in their order. An interval that reaches
 * beyond the rows, or whose cell lies beyond the grid, does not count. The gradient of a row is
 * that of its cell, 0 without one. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtBevPoolForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t geometry_desc, const void *geometry,
    const mluOpTensorDescriptor_t interval_lengths_desc, const void *interval_lengths,
    const mluOpTensorDescriptor_t interval_starts_desc, const void *interval_starts,
    const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtBevPoolBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t geometry_desc, const void *geometry,
    const mluOpTensorDescriptor_t interval_lengths_desc, const void *interval_lengths,
    const mluOpTensorDescriptor_t interval_starts_desc, const void *interval_starts,
    const mluOpTensorDescriptor_t grad_features_desc, void *grad_features);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_BEV_POOL_H_ */
