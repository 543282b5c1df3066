/* Functions of the family knn beyond mlu_op.h. */
#ifndef MLUOPS_EXT_KNN_H_
#define MLUOPS_EXT_KNN_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The k points xyz [B, N, 3] nearest to each of new_xyz [B, M, 3]: squared distances dist2 [B, M,
 * k], ascending, and idx, the lower first among equal distances. Distances that are not finite in
 * the type of the points do not count. A missing neighbour has distance infinity and index 0. */
mluOpStatus_t MLUOP_WIN_API mluopsExtKnn(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t xyz_desc, const void *xyz,
    const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz, const mluOpTensorDescriptor_t dist2_desc,
    void *dist2, const mluOpTensorDescriptor_t idx_desc, void *idx);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_KNN_H_ */
