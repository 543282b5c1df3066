/* Functions of the family three_nn beyond mlu_op.h. */
#ifndef MLUOPS_EXT_THREE_NN_H_
#define MLUOPS_EXT_THREE_NN_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* As mluOpThreeNNForward, for stacked points; idx are rows of known, and a missing neighbour has
 * the first one of its batch. */
mluOpStatus_t MLUOP_WIN_API mluopsExtStackThreeNN(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t unknown_desc, const void *unknown,
    const mluOpTensorDescriptor_t unknown_batch_cnt_desc, const void *unknown_batch_cnt,
    const mluOpTensorDescriptor_t known_desc, const void *known, const mluOpTensorDescriptor_t known_batch_cnt_desc,
    const void *known_batch_cnt, const mluOpTensorDescriptor_t dist2_desc, void *dist2,
    const mluOpTensorDescriptor_t idx_desc, void *idx);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_THREE_NN_H_ */
