/* The part of cnnl.h that stands for whole operators, which includes this file. The library of CPU
 * operators computes them. It has to lie in the folder of this library, or they
 * give CNNL_STATUS_NOT_SUPPORTED. Operands and meanings are those of the functions of mlu_op.h of
 * the same name. A call waits for the queue before it computes, so that its status is that of the
 * operator. */
#ifndef CNNL_OPERATORS_H_
#define CNNL_OPERATORS_H_

#include "cnnl.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef struct cnnlDCNStruct *cnnlDCNDescriptor_t;
typedef struct cnnlRoiAlignStruct *cnnlRoiAlignDescriptor_t;
typedef struct cnnlNmsStruct *cnnlNmsDescriptor_t;

cnnlStatus_t cnnlCreateDCNDescriptor(cnnlDCNDescriptor_t *desc);
cnnlStatus_t cnnlDestroyDCNDescriptor(cnnlDCNDescriptor_t desc);
cnnlStatus_t cnnlSetDCNDescriptor(cnnlDCNDescriptor_t desc, int dim_count, const int pad[], const int stride[],
                                  const int dilation[], int deformable_group, int conv_group, int im2col_step,
                                  cnnlDataType_t compute_type);
cnnlStatus_t cnnlGetDCNForwardWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t desc,
                                            cnnlTensorDescriptor_t input_desc, cnnlTensorDescriptor_t offset_desc,
                                            cnnlTensorDescriptor_t mask_desc, cnnlTensorDescriptor_t filter_desc,
                                            cnnlTensorDescriptor_t bias_desc, cnnlTensorDescriptor_t output_desc,
                                            size_t *size);
cnnlStatus_t cnnlDCNForward(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                            const void *input, cnnlTensorDescriptor_t offset_desc, const void *offset,
                            cnnlTensorDescriptor_t mask_desc, const void *mask, cnnlTensorDescriptor_t filter_desc,
                            const void *filter, cnnlTensorDescriptor_t bias_desc, const void *bias, void *workspace,
                            size_t workspace_size, cnnlTensorDescriptor_t output_desc, void *output);
cnnlStatus_t cnnlGetDCNBackwardWeightWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t desc,
                                                   cnnlTensorDescriptor_t input_desc,
                                                   cnnlTensorDescriptor_t offset_desc, cnnlTensorDescriptor_t mask_desc,
                                                   cnnlTensorDescriptor_t grad_output_desc,
                                                   cnnlTensorDescriptor_t grad_filter_desc,
                                                   cnnlTensorDescriptor_t grad_bias_desc, size_t *size);
cnnlStatus_t cnnlDCNBackwardWeight(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                                   const void *input, cnnlTensorDescriptor_t offset_desc, const void *offset,
                                   cnnlTensorDescriptor_t mask_desc, const void *mask,
                                   cnnlTensorDescriptor_t grad_output_desc, const void *grad_output, void *workspace,
                                   size_t workspace_size, cnnlTensorDescriptor_t grad_filter_desc, void *grad_filter,
                                   cnnlTensorDescriptor_t grad_bias_desc, void *grad_bias);
cnnlStatus_t cnnlGetDCNBakcwardDataWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t desc,
                                                 cnnlTensorDescriptor_t input_desc, cnnlTensorDescriptor_t offset_desc,
                                                 cnnlTensorDescriptor_t mask_desc, cnnlTensorDescriptor_t filter_desc,
                                                 cnnlTensorDescriptor_t grad_output_desc,
                                                 cnnlTensorDescriptor_t grad_input_desc,
                                                 cnnlTensorDescriptor_t grad_offset_desc,
                                                 cnnlTensorDescriptor_t grad_mask_desc, size_t *size);
cnnlStatus_t cnnlDCNBackwardData(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                                 const void *input, cnnlTensorDescriptor_t offset_desc, const void *offset,
                                 cnnlTensorDescriptor_t mask_desc, const void *mask, cnnlTensorDescriptor_t filter_desc,
                                 const void *filter, cnnlTensorDescriptor_t grad_output_desc, const void *grad_output,
                                 void *workspace, size_t workspace_size, cnnlTensorDescriptor_t grad_input_desc,
                                 void *grad_input, cnnlTensorDescriptor_t grad_offset_desc, void *grad_offset,
                                 cnnlTensorDescriptor_t grad_mask_desc, void *grad_mask);

typedef enum {
  CNNL_POOLING_MAX = 0,
  CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING = 1,
  CNNL_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING = 2,
  CNNL_POOLING_FIXED = 3
} cnnlPoolingMode_t;

cnnlStatus_t cnnlCreateRoiAlignDescriptor(cnnlRoiAlignDescriptor_t *desc);
cnnlStatus_t cnnlDestroyRoiAlignDescriptor(cnnlRoiAlignDescriptor_t desc);
cnnlStatus_t cnnlSetRoiAlignDescriptor_v2(cnnlRoiAlignDescriptor_t desc, int pooled_height, int pooled_width,
                                          int sampling_ratio, float spatial_scale, int pool_mode, bool aligned);
cnnlStatus_t cnnlRoiAlign_v2(cnnlHandle_t handle, cnnlRoiAlignDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                             const void *input, cnnlTensorDescriptor_t boxes_desc, const void *boxes,
                             cnnlTensorDescriptor_t output_desc, void *output, cnnlTensorDescriptor_t argmax_x_desc,
                             void *argmax_x, cnnlTensorDescriptor_t argmax_y_desc, void *argmax_y);
cnnlStatus_t cnnlRoiAlignBackward(cnnlHandle_t handle, float spatial_scale, int sampling_ratio, bool aligned,
                                  cnnlTensorDescriptor_t grads_desc, const void *grads,
                                  cnnlTensorDescriptor_t boxes_desc, const void *boxes,
                                  cnnlTensorDescriptor_t grads_image_desc, void *grads_image);
cnnlStatus_t cnnlRoiAlignBackward_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t grads_desc, const void *grads,
                                     cnnlTensorDescriptor_t boxes_desc, const void *boxes,
                                     cnnlTensorDescriptor_t argmax_x_desc, const void *argmax_x,
                                     cnnlTensorDescriptor_t argmax_y_desc, const void *argmax_y, float spatial_scale,
                                     int sampling_ratio, bool aligned, int pool_mode,
                                     cnnlTensorDescriptor_t grads_image_desc, void *grads_image);
cnnlStatus_t cnnlRoiPoolingForward(cnnlHandle_t handle, cnnlPoolingMode_t pooling_mode,
                                   cnnlTensorDescriptor_t input_desc, const void *input,
                                   cnnlTensorDescriptor_t rois_desc, const void *rois, float spatial_scale,
                                   cnnlTensorDescriptor_t output_desc, void *output, int *argmax);
cnnlStatus_t cnnlRoiPoolingBackward(cnnlHandle_t handle, cnnlPoolingMode_t pooling_mode,
                                    cnnlTensorDescriptor_t grads_desc, const void *grads,
                                    cnnlTensorDescriptor_t rois_desc, const void *rois,
                                    cnnlTensorDescriptor_t argmax_desc, const int *argmax, float spatial_scale,
                                    cnnlTensorDescriptor_t grads_image_desc, void *grads_image);

typedef enum {
  CNNL_NMS_BOX_DIAGONAL = 0,
  CNNL_NMS_BOX_CENTER = 1
} cnnlNmsBoxPointMode_t;

typedef enum {
  CNNL_NMS_OUTPUT_TARGET_INDICES = 0,
  CNNL_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1 = 1,
  CNNL_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2 = 2,
  CNNL_NMS_OUTPUT_TARGET_BATCH_AND_CLASS = 3
} cnnlNmsOutputMode_t;

typedef enum {
  CNNL_NMS_ALGO_EXCLUDE_BOUNDARY = 0,
  CNNL_NMS_ALGO_INCLUDE_BOUNDARY = 1
} cnnlNmsAlgo_t;

typedef enum {
  CNNL_NMS_HARD_NMS = 0,
  CNNL_NMS_SOFT_NMS_LINEAR = 1,
  CNNL_NMS_SOFT_NMS_GAUSSIAN = 2
} cnnlNmsMethodMode_t;

/* Attributes: floats, ints, and one bool. */
typedef enum {
  CNNL_NMS_DESC_IOU_THRESHOLD = 0,
  CNNL_NMS_DESC_INPUT_LAYOUT = 1,
  CNNL_NMS_DESC_MAX_OUTPUT_SIZE = 2,
  CNNL_NMS_DESC_CONFIDENCE_THRESHOLD = 3,
  CNNL_NMS_DESC_OUTPUT_MODE = 4,
  CNNL_NMS_DESC_OFFSET = 5,
  CNNL_NMS_DESC_BOX_MODE = 6,
  CNNL_NMS_DESC_PAD_TO_MAX_OUTPUT_SIZE = 7,
  CNNL_NMS_DESC_ALGO = 8,
  CNNL_NMS_DESC_METHOD_MODE = 9,
  CNNL_NMS_DESC_SOFT_NMS_SIGMA = 10
} cnnlNmsDescAttribute_t;

/* `output_size` is one int in device memory. */
cnnlStatus_t cnnlCreateNmsDescriptor(cnnlNmsDescriptor_t *desc);
cnnlStatus_t cnnlDestroyNmsDescriptor(cnnlNmsDescriptor_t desc);
cnnlStatus_t cnnlSetNmsDescAttr(cnnlNmsDescriptor_t desc, cnnlNmsDescAttribute_t attribute, const void *value,
                                size_t bytes);
cnnlStatus_t cnnlSetNmsDescriptor_v5(cnnlNmsDescriptor_t desc, cnnlNmsBoxPointMode_t box_mode,
                                     cnnlNmsOutputMode_t output_mode, cnnlNmsAlgo_t algo, cnnlNmsMethodMode_t method,
                                     float iou_threshold, float soft_nms_sigma, int max_output_size,
                                     float confidence_threshold, float offset, int input_layout, bool pads);
cnnlStatus_t cnnlGetNmsWorkspaceSize_v3(cnnlHandle_t handle, cnnlTensorDescriptor_t boxes_desc,
                                        cnnlTensorDescriptor_t confidence_desc, size_t *size);
cnnlStatus_t cnnlGetNmsWorkspaceSize_v4(cnnlHandle_t handle, cnnlNmsDescriptor_t desc,
                                        cnnlTensorDescriptor_t boxes_desc, cnnlTensorDescriptor_t confidence_desc,
                                        size_t *size);
cnnlStatus_t cnnlNms_v2(cnnlHandle_t handle, cnnlNmsDescriptor_t desc, cnnlTensorDescriptor_t boxes_desc,
                        const void *boxes, cnnlTensorDescriptor_t confidence_desc, const void *confidence,
                        void *workspace, size_t workspace_size, cnnlTensorDescriptor_t output_desc, void *output,
                        void *output_size);

/* Spellings with "Batchnorm" are older names. */
cnnlStatus_t cnnlGetSyncBatchNormStatsWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, size_t *size);
cnnlStatus_t cnnlSyncBatchNormStats(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void *x, float eps,
                                    cnnlTensorDescriptor_t mean_desc, void *mean, cnnlTensorDescriptor_t invstd_desc,
                                    void *invstd);
cnnlStatus_t cnnlSyncBatchNormStats_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void *x,
                                       void *workspace, size_t workspace_size, float eps,
                                       cnnlTensorDescriptor_t mean_desc, void *mean, cnnlTensorDescriptor_t invstd_desc,
                                       void *invstd);
cnnlStatus_t cnnlSyncBatchNormGatherStatsWithCounts(cnnlHandle_t handle, cnnlTensorDescriptor_t mean_all_desc,
                                                    const void *mean_all, cnnlTensorDescriptor_t invstd_all_desc,
                                                    const void *invstd_all, cnnlTensorDescriptor_t moving_mean_desc,
                                                    void *moving_mean, cnnlTensorDescriptor_t moving_var_desc,
                                                    void *moving_var, float momentum, float eps,
                                                    cnnlTensorDescriptor_t count_all_desc, const void *count_all,
                                                    cnnlTensorDescriptor_t mean_desc, void *mean,
                                                    cnnlTensorDescriptor_t invstd_desc, void *invstd);
cnnlStatus_t cnnlSyncBatchNormElemt(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void *x,
                                    cnnlTensorDescriptor_t mean_desc, const void *mean,
                                    cnnlTensorDescriptor_t invstd_desc, const void *invstd,
                                    cnnlTensorDescriptor_t filter_desc, const void *filter,
                                    cnnlTensorDescriptor_t bias_desc, const void *bias, cnnlTensorDescriptor_t y_desc,
                                    void *y);
cnnlStatus_t cnnlGetSyncBatchnormBackwardReduceWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc,
                                                             size_t *size);
cnnlStatus_t cnnlGetSyncBatchNormBackwardReduceWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc,
                                                             size_t *size);
cnnlStatus_t cnnlSyncBatchnormBackwardReduce(
    cnnlHandle_t handle, cnnlTensorDescriptor_t desc_dz, const void *dz, cnnlTensorDescriptor_t desc_x, const void *x,
    cnnlTensorDescriptor_t desc_mean, const void *mean, cnnlTensorDescriptor_t desc_invstd, const void *invstd,
    cnnlTensorDescriptor_t desc_dfilter, void *dfilter, cnnlTensorDescriptor_t desc_dbias, void *dbias,
    cnnlTensorDescriptor_t desc_sum_dy, void *sum_dy, cnnlTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu,
    bool needs_input_grad0, bool needs_input_grad1, bool needs_input_grad2);
cnnlStatus_t cnnlSyncBatchnormBackwardReduce_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t desc_dz, const void *dz,
                                                cnnlTensorDescriptor_t desc_x, const void *x,
                                                cnnlTensorDescriptor_t desc_mean, const void *mean,
                                                cnnlTensorDescriptor_t desc_invstd, const void *invstd, void *workspace,
                                                size_t workspace_size, cnnlTensorDescriptor_t desc_dfilter,
                                                void *dfilter, cnnlTensorDescriptor_t desc_dbias, void *dbias,
                                                cnnlTensorDescriptor_t desc_sum_dy, void *sum_dy,
                                                cnnlTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu,
                                                bool needs_input_grad0, bool needs_input_grad1, bool needs_input_grad2);
cnnlStatus_t cnnlSyncBatchNormBackwardReduce(
    cnnlHandle_t handle, cnnlTensorDescriptor_t desc_dz, const void *dz, cnnlTensorDescriptor_t desc_x, const void *x,
    cnnlTensorDescriptor_t desc_mean, const void *mean, cnnlTensorDescriptor_t desc_invstd, const void *invstd,
    cnnlTensorDescriptor_t desc_dfilter, void *dfilter, cnnlTensorDescriptor_t desc_dbias, void *dbias,
    cnnlTensorDescriptor_t desc_sum_dy, void *sum_dy, cnnlTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu,
    bool needs_input_grad0, bool needs_input_grad1, bool needs_input_grad2);
cnnlStatus_t cnnlSyncBatchNormBackwardReduce_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t desc_dz, const void *dz,
                                                cnnlTensorDescriptor_t desc_x, const void *x,
                                                cnnlTensorDescriptor_t desc_mean, const void *mean,
                                                cnnlTensorDescriptor_t desc_invstd, const void *invstd, void *workspace,
                                                size_t workspace_size, cnnlTensorDescriptor_t desc_dfilter,
                                                void *dfilter, cnnlTensorDescriptor_t desc_dbias, void *dbias,
                                                cnnlTensorDescriptor_t desc_sum_dy, void *sum_dy,
                                                cnnlTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu,
                                                bool needs_input_grad0, bool needs_input_grad1, bool needs_input_grad2);
cnnlStatus_t cnnlSyncBatchNormBackwardElemt(cnnlHandle_t handle, cnnlTensorDescriptor_t diff_y_desc, const void *diff_y,
                                            cnnlTensorDescriptor_t x_desc, const void *x,
                                            cnnlTensorDescriptor_t mean_desc, const void *mean,
                                            cnnlTensorDescriptor_t invstd_desc, const void *invstd,
                                            cnnlTensorDescriptor_t filter_desc, const void *filter,
                                            cnnlTensorDescriptor_t mean_dy_desc, const void *mean_dy,
                                            cnnlTensorDescriptor_t mean_dy_xmu_desc, const void *mean_dy_xmu,
                                            cnnlTensorDescriptor_t diff_x_desc, void *diff_x);
cnnlStatus_t cnnlSyncBatchNormBackwardElemtV2(
    cnnlHandle_t handle, cnnlTensorDescriptor_t diff_y_desc, const void *diff_y, cnnlTensorDescriptor_t x_desc,
    const void *x, cnnlTensorDescriptor_t mean_desc, const void *mean, cnnlTensorDescriptor_t invstd_desc,
    const void *invstd, cnnlTensorDescriptor_t filter_desc, const void *filter, cnnlTensorDescriptor_t sum_dy_desc,
    const void *sum_dy, cnnlTensorDescriptor_t sum_dy_xmu_desc, const void *sum_dy_xmu,
    cnnlTensorDescriptor_t count_desc, const void *count, cnnlTensorDescriptor_t diff_x_desc, void *diff_x);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* CNNL_OPERATORS_H_ */
