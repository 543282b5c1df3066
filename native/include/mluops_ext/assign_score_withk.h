/* Functions of the family assign_score_withk beyond mlu_op.h. */
#ifndef MLUOPS_EXT_ASSIGN_SCORE_WITHK_H_
#define MLUOPS_EXT_ASSIGN_SCORE_WITHK_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Features of the neighbours of points, weighted by scores: output[b, o, n, k] is the sum over m of
 * points[b, i, m, o] * scores[b, n, k, m] - centers[b, c, m, o] * scores[b, n, k, m], where i =
 * knn_idx[b, n, k] and c = knn_idx[b, n, 0]. Values are half, float or double; half is added up in
 * float. A neighbour whose number, or whose centre's number, is out of range gives 0.
 * Gradients are added in the order of n, then k. A library for a device returns NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtAssignScoreWithkForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void *points,
    const mluOpTensorDescriptor_t centers_desc, const void *centers, const mluOpTensorDescriptor_t scores_desc,
    const void *scores, const mluOpTensorDescriptor_t knn_idx_desc, const void *knn_idx,
    const mluOpTensorDescriptor_t output_desc, void *output);

mluOpStatus_t MLUOP_WIN_API mluopsExtAssignScoreWithkBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t points_desc, const void *points, const mluOpTensorDescriptor_t centers_desc,
    const void *centers, const mluOpTensorDescriptor_t scores_desc, const void *scores,
    const mluOpTensorDescriptor_t knn_idx_desc, const void *knn_idx, const mluOpTensorDescriptor_t grad_points_desc,
    void *grad_points, const mluOpTensorDescriptor_t grad_centers_desc, void *grad_centers,
    const mluOpTensorDescriptor_t grad_scores_desc, void *grad_scores);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_ASSIGN_SCORE_WITHK_H_ */
