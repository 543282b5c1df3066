/* Functions of the family generate_proposals beyond mlu_op.h. */
#ifndef MLUOPS_EXT_GENERATE_PROPOSALS_H_
#define MLUOPS_EXT_GENERATE_PROPOSALS_H_

#include "mlu_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* As mluOpGenerateProposalsV2, for any eta above 0. If it is below 1, a box is kept if its overlap
 * with no box that was kept is above the threshold, which is multiplied by eta after each box that
 * is kept, as long as it is above 0.5. Values are float or double. A library for a device returns
 * NOT_SUPPORTED. */
mluOpStatus_t MLUOP_WIN_API mluopsExtGenerateProposals(
    mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n, const double nms_thresh,
    const double min_size, const double eta, const bool pixel_offset, const mluOpTensorDescriptor_t scores_desc,
    const void *scores, const mluOpTensorDescriptor_t bbox_deltas_desc, const void *bbox_deltas,
    const mluOpTensorDescriptor_t im_shape_desc, const void *im_shape, const mluOpTensorDescriptor_t anchors_desc,
    const void *anchors, const mluOpTensorDescriptor_t variances_desc, const void *variances, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t rpn_rois_desc, void *rpn_rois,
    const mluOpTensorDescriptor_t rpn_roi_probs_desc, void *rpn_roi_probs,
    const mluOpTensorDescriptor_t rpn_rois_num_desc, void *rpn_rois_num, void *rpn_rois_batch_size);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLUOPS_EXT_GENERATE_PROPOSALS_H_ */
