/* Functions of the family general_indice_pairs beyond mlu_op.h. */
#ifndef MLUOPS_EXT_GENERAL_INDICE_PAIRS_H_
#define MLUOPS_EXT_GENERAL_INDICE_PAIRS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Indice pairs as mluOpGetIndicePairs finds them, for 1 to 4 axes (the columns of indices after the
 * batch), transposed convolutions and any stride and dilation. Arrays without a descriptor lie in
 * host memory and have a number for each axis. With transpose, cell k sends place i to i * stride -
 * pad + k * dilation. *num_act_out is the number of output rows, also where out_indices has too
 * few, which is BAD_PARAM. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndicePairs(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t indices_desc, const void *indices, const int64_t batch,
    const int64_t input_space[], const int64_t filter_space[], const int64_t output_space[], const int64_t stride[],
    const int64_t pad[], const int64_t dilation[], const int64_t sub_m, const int64_t transpose,
    const mluOpTensorDescriptor_t indice_pairs_desc, void *indice_pairs, const mluOpTensorDescriptor_t out_indices_desc,
    void *out_indices, const mluOpTensorDescriptor_t indice_num_desc, void *indice_num, int64_t *num_act_out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_GENERAL_INDICE_PAIRS_H_ */
