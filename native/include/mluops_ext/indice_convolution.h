/* Functions of the family indice_convolution beyond mlu_op.h. */
#ifndef MLUOPS_EXT_INDICE_CONVOLUTION_H_
#define MLUOPS_EXT_INDICE_CONVOLUTION_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Indice convolutions of every kind: as mluOpIndiceConvolutionForward, BackwardData and
 * BackwardFilter, for double as well as for half and float, and for any number of dims: filters are
 * [K, Ci, Co], whatever the K cells mean. If inverse is 1, the roles of the pairs are exchanged:
 * features are the rows of indice_pairs[k, 1], outputs those of indice_pairs[k, 0]. Features and
 * outputs may have any number of rows, and a tensor without elements gives zeros. A library for a
 * device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t features_out_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size);

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t inverse, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t features_out_desc, void *features_out);

mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionBackwardDataWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const mluOpTensorDescriptor_t filters_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t input_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size);

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t filters_desc, const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
    const void *indice_pairs, const int64_t indice_num[], const int64_t inverse, void *workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t input_grad_desc, void *input_grad);

mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndiceConvolutionBackwardFilterWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const mluOpTensorDescriptor_t output_grad_desc,
    const mluOpTensorDescriptor_t indice_pairs_desc, const mluOpTensorDescriptor_t filters_grad_desc,
    const int64_t indice_num[], const int64_t inverse, size_t *workspace_size);

mluOpStatus_t MLUOP_WIN_API mluopsExtIndiceConvolutionBackwardFilter(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc, const void *features,
    const mluOpTensorDescriptor_t output_grad_desc, const void *output_grad,
    const mluOpTensorDescriptor_t indice_pairs_desc, const void *indice_pairs, const int64_t indice_num[],
    const int64_t inverse, void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t filters_grad_desc,
    void *filters_grad);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_INDICE_CONVOLUTION_H_ */
