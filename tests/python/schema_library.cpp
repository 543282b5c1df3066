// Functions of the C ABI that tell what they were called with, for the tests of schemas.

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "mlu_op.h"

struct mluOpContext {};
struct mluOpTensorStruct {
  mluOpDataType_t dtype;
  int64_t count;
};
struct mluOpAdamWStruct {};

extern "C" {

// Scalars in their order, then for each array: elements of the descriptor (-1: NULL), and 1 if it
// has data.
double schema_seen[64];
int schema_count;
int schema_calls;
}

namespace {

void begin() {
  schema_count = 0;
  ++schema_calls;
}
void saw(double value) { schema_seen[schema_count++] = value; }
void saw(const mluOpTensorDescriptor_t desc, const void *data) {
  saw(desc == nullptr ? -1.0 : static_cast<double>(desc->count));
  saw(data != nullptr ? 1.0 : 0.0);
}

}  // namespace

mluOpStatus_t mluOpCreate(mluOpHandle_t *handle) {
  *handle = new mluOpContext;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpDestroy(mluOpHandle_t handle) {
  delete handle;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpCreateTensorDescriptor(mluOpTensorDescriptor_t *desc) {
  *desc = new mluOpTensorStruct{};
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpDestroyTensorDescriptor(mluOpTensorDescriptor_t desc) {
  delete desc;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpSetTensorDescriptor_v2(mluOpTensorDescriptor_t desc, mluOpTensorLayout_t, mluOpDataType_t dtype,
                                          int dim_count, const int64_t dims[]) {
  desc->dtype = dtype;
  desc->count = 1;
  for (int i = 0; i < dim_count; i++) desc->count *= dims[i];
  return MLUOP_STATUS_SUCCESS;
}

// Writes one element only.
mluOpStatus_t mluOpBallQuery(mluOpHandle_t, const mluOpTensorDescriptor_t new_xyz_desc, const void *new_xyz,
                             const mluOpTensorDescriptor_t xyz_desc, const void *xyz, const float min_radius,
                             const float max_radius, const int nsample, const mluOpTensorDescriptor_t idx_desc,
                             void *idx) {
  begin();
  saw(min_radius);
  saw(max_radius);
  saw(nsample);
  saw(new_xyz_desc, new_xyz);
  saw(xyz_desc, xyz);
  saw(idx_desc, idx);
  if (idx_desc->count > 0) *static_cast<int32_t *>(idx) = 7;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpFocalLossSigmoidForward(mluOpHandle_t, const mluOpComputationPreference_t prefer,
                                           const mluOpLossReduction_t reduction,
                                           const mluOpTensorDescriptor_t input_desc, const void *input,
                                           const mluOpTensorDescriptor_t target_desc, const void *target,
                                           const mluOpTensorDescriptor_t weight_desc, const void *weight,
                                           const float alpha, const float gamma,
                                           const mluOpTensorDescriptor_t output_desc, void *output) {
  begin();
  saw(prefer);
  saw(reduction);
  saw(alpha);
  saw(gamma);
  saw(input_desc, input);
  saw(target_desc, target);
  saw(weight_desc, weight);
  saw(output_desc, output);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpBboxOverlaps(mluOpHandle_t, const int mode, const bool aligned, const int offset,
                                const mluOpTensorDescriptor_t bbox1_desc, const void *bbox1,
                                const mluOpTensorDescriptor_t bbox2_desc, const void *bbox2,
                                const mluOpTensorDescriptor_t ious_desc, void *ious) {
  begin();
  saw(mode);
  saw(aligned ? 1 : 0);
  saw(offset);
  saw(bbox1_desc, bbox1);
  saw(bbox2_desc, bbox2);
  saw(ious_desc, ious);
  saw(ious_desc == nullptr ? 0 : ious_desc->dtype);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpGetIndiceConvolutionForwardWorkspaceSize(mluOpHandle_t, const mluOpTensorDescriptor_t,
                                                            const mluOpTensorDescriptor_t,
                                                            const mluOpTensorDescriptor_t,
                                                            const mluOpTensorDescriptor_t, const int64_t[],
                                                            const int64_t num_act_out, const int64_t inverse,
                                                            const int64_t, size_t *size) {
  *size = static_cast<size_t>(num_act_out + inverse) % 1000;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpIndiceConvolutionForward(mluOpHandle_t, const mluOpTensorDescriptor_t features_desc,
                                            const void *features, const mluOpTensorDescriptor_t filters_desc,
                                            const void *filters, const mluOpTensorDescriptor_t indice_pairs_desc,
                                            const void *indice_pairs, const int64_t indice_num[],
                                            const int64_t num_act_out, const int64_t inverse, const int64_t sub_m,
                                            void *workspace, size_t workspace_size,
                                            const mluOpTensorDescriptor_t features_out_desc, void *features_out) {
  begin();
  saw(static_cast<double>(num_act_out));
  saw(static_cast<double>(inverse));
  saw(static_cast<double>(sub_m));
  saw(static_cast<double>(indice_num[0]));
  saw(static_cast<double>(workspace_size));
  if (workspace_size > 0) std::memset(workspace, 1, workspace_size);
  saw(features_desc, features);
  saw(filters_desc, filters);
  saw(indice_pairs_desc, indice_pairs);
  saw(features_out_desc, features_out);
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpCreateAdamWDescriptor(mluOpAdamWDescriptor_t *desc) {
  *desc = new mluOpAdamWStruct;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t mluOpDestroyAdamWDescriptor(mluOpAdamWDescriptor_t desc) {
  schema_seen[0] = -77;
  delete desc;
  return MLUOP_STATUS_SUCCESS;
}

// Doubles the parameters in place.
mluOpStatus_t mluOpAdamW(mluOpHandle_t, mluOpAdamWDescriptor_t adamw_desc, const mluOpTensorDescriptor_t param_desc,
                         void *param, const mluOpTensorDescriptor_t paramh_desc, void *param_h,
                         const mluOpTensorDescriptor_t momentum_desc, void *momentum,
                         const mluOpTensorDescriptor_t velocity_desc, void *velocity,
                         const mluOpTensorDescriptor_t grad_desc, void *grad, const float lr, const float beta1,
                         const float beta2, const float bias1, const float bias2, const float epsilon) {
  begin();
  for (float value : {lr, beta1, beta2, bias1, bias2, epsilon}) saw(value);
  saw(adamw_desc != nullptr ? 1 : 0);
  saw(param_desc, param);
  saw(paramh_desc, param_h);
  saw(momentum_desc, momentum);
  saw(velocity_desc, velocity);
  saw(grad_desc, grad);
  for (int64_t i = 0; i < param_desc->count; i++) static_cast<float *>(param)[i] *= 2;
  return MLUOP_STATUS_SUCCESS;
}

// Writes nothing if an array is empty.
mluOpStatus_t mluOpMsDeformAttnBackward(mluOpHandle_t, const mluOpTensorDescriptor_t value_desc, const void *value,
                                        const mluOpTensorDescriptor_t spatial_shapes_desc, const void *spatial_shapes,
                                        const mluOpTensorDescriptor_t level_start_index_desc,
                                        const void *level_start_index, const mluOpTensorDescriptor_t sampling_loc_desc,
                                        const void *sampling_loc, const mluOpTensorDescriptor_t attn_weight_desc,
                                        const void *attn_weight, const mluOpTensorDescriptor_t grad_output_desc,
                                        const void *grad_output, const int32_t im2col_step,
                                        const mluOpTensorDescriptor_t grad_value_desc, void *grad_value,
                                        const mluOpTensorDescriptor_t grad_sampling_loc_desc, void *grad_sampling_loc,
                                        const mluOpTensorDescriptor_t grad_attn_weight_desc, void *grad_attn_weight) {
  begin();
  saw(im2col_step);
  saw(value_desc, value);
  saw(spatial_shapes_desc, spatial_shapes);
  saw(level_start_index_desc, level_start_index);
  saw(sampling_loc_desc, sampling_loc);
  saw(attn_weight_desc, attn_weight);
  saw(grad_output_desc, grad_output);
  saw(grad_value_desc, grad_value);
  saw(grad_sampling_loc_desc, grad_sampling_loc);
  saw(grad_attn_weight_desc, grad_attn_weight);
  if (attn_weight_desc->count > 0) std::memset(grad_value, 0, grad_value_desc->count * sizeof(float));
  return MLUOP_STATUS_SUCCESS;
}
