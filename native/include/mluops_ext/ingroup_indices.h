/* Functions of the family ingroup_indices beyond mlu_op.h. */
#ifndef MLUOPS_EXT_INGROUP_INDICES_H_
#define MLUOPS_EXT_INGROUP_INDICES_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The number of equal values before each value: groups [N], ranks [N], int32. It takes up to 32
 * bytes of memory for each value besides. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtIngroupIndices(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t groups_desc, const void *groups,
    const mluOpTensorDescriptor_t ranks_desc, void *ranks);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_INGROUP_INDICES_H_ */
