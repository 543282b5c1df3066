// Deformable convolution, which the CPU library computes.
#include "operands.h"

namespace cnnl {
namespace {

// Calls query(size) for the bytes of a workspace in host memory, and allocates it.
template <typename Query>
cnnlStatus_t make_workspace(const Query &query, Elements *workspace) {
  std::size_t bytes = 0;
  CNNL_TRY(query(&bytes));
  workspace->resize(bytes);
  return CNNL_STATUS_SUCCESS;
}

}  // namespace
}  // namespace cnnl

using namespace cnnl;

cnnlStatus_t cnnlCreateDCNDescriptor(cnnlDCNDescriptor_t *desc) {
  return guarded(__func__, [&](const char *function) { return CNNL_CPU(function, mluOpCreateDCNDescriptor, desc); });
}

cnnlStatus_t cnnlDestroyDCNDescriptor(cnnlDCNDescriptor_t desc) {
  return guarded(__func__, [&](const char *function) { return CNNL_CPU(function, mluOpDestroyDCNDescriptor, desc); });
}

cnnlStatus_t cnnlSetDCNDescriptor(cnnlDCNDescriptor_t desc, int dim_count, const int pad[], const int stride[],
                                  const int dilation[], int deformable_group, int conv_group, int im2col_step,
                                  cnnlDataType_t compute_type) {
  return guarded(__func__, [&](const char *function) {
    return CNNL_CPU(function, mluOpSetDCNDescriptor, desc, dim_count, pad, stride, dilation, deformable_group,
                    conv_group, im2col_step, static_cast<mluOpDataType_t>(compute_type));
  });
}

cnnlStatus_t cnnlGetDCNForwardWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t, cnnlTensorDescriptor_t,
                                            cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                            cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlDCNForward(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                            const void *input, cnnlTensorDescriptor_t offset_desc, const void *offset,
                            cnnlTensorDescriptor_t mask_desc, const void *mask, cnnlTensorDescriptor_t filter_desc,
                            const void *filter, cnnlTensorDescriptor_t bias_desc, const void *bias, void *, size_t,
                            cnnlTensorDescriptor_t output_desc, void *output) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &x = operands.in("input", input_desc, input);
    const Operand &o = operands.in("offset", offset_desc, offset);
    const Operand &m = operands.in("mask", mask_desc, mask);
    const Operand &f = operands.in("filter", filter_desc, filter);
    const Operand &b = operands.in("bias", bias_desc, bias);
    const Operand &y = operands.out("output", output_desc, output);
    return operands.run([&](mluOpHandle_t cpu) {
      Elements workspace;
      CNNL_TRY(make_workspace(
          [&](std::size_t *size) {
            return CNNL_CPU(function, mluOpGetDCNForwardWorkspaceSize, cpu, desc, x.desc, o.desc, m.desc, f.desc,
                            b.desc, y.desc, size);
          },
          &workspace));
      return CNNL_CPU(function, mluOpDCNForward, cpu, desc, x.desc, x.data, o.desc, o.data, m.desc, m.data, f.desc,
                      f.data, b.desc, b.data, workspace.data(), workspace.size(), y.desc, y.data);
    });
  });
}

cnnlStatus_t cnnlGetDCNBackwardWeightWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t, cnnlTensorDescriptor_t,
                                                   cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                                   cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                                   cnnlTensorDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlDCNBackwardWeight(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                                   const void *input, cnnlTensorDescriptor_t offset_desc, const void *offset,
                                   cnnlTensorDescriptor_t mask_desc, const void *mask,
                                   cnnlTensorDescriptor_t grad_output_desc, const void *grad_output, void *, size_t,
                                   cnnlTensorDescriptor_t grad_filter_desc, void *grad_filter,
                                   cnnlTensorDescriptor_t grad_bias_desc, void *grad_bias) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &x = operands.in("input", input_desc, input);
    const Operand &o = operands.in("offset", offset_desc, offset);
    const Operand &m = operands.in("mask", mask_desc, mask);
    const Operand &dy = operands.in("grad_output", grad_output_desc, grad_output);
    const Operand &df = operands.out("grad_filter", grad_filter_desc, grad_filter);
    const Operand &db = operands.out("grad_bias", grad_bias_desc, grad_bias);
    return operands.run([&](mluOpHandle_t cpu) {
      Elements workspace;
      CNNL_TRY(make_workspace(
          [&](std::size_t *size) {
            return CNNL_CPU(function, mluOpGetDCNBackwardWeightWorkspaceSize, cpu, desc, x.desc, o.desc, m.desc,
                            dy.desc, df.desc, db.desc, size);
          },
          &workspace));
      return CNNL_CPU(function, mluOpDCNBackwardWeight, cpu, desc, x.desc, x.data, o.desc, o.data, m.desc, m.data,
                      dy.desc, dy.data, workspace.data(), workspace.size(), df.desc, df.data, db.desc, db.data);
    });
  });
}

cnnlStatus_t cnnlGetDCNBakcwardDataWorkspaceSize(cnnlHandle_t handle, cnnlDCNDescriptor_t, cnnlTensorDescriptor_t,
                                                 cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                                 cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                                 cnnlTensorDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlDCNBackwardData(cnnlHandle_t handle, cnnlDCNDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                                 const void *input, cnnlTensorDescriptor_t offset_desc, const void *offset,
                                 cnnlTensorDescriptor_t mask_desc, const void *mask, cnnlTensorDescriptor_t filter_desc,
                                 const void *filter, cnnlTensorDescriptor_t grad_output_desc, const void *grad_output,
                                 void *, size_t, cnnlTensorDescriptor_t grad_input_desc, void *grad_input,
                                 cnnlTensorDescriptor_t grad_offset_desc, void *grad_offset,
                                 cnnlTensorDescriptor_t grad_mask_desc, void *grad_mask) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &x = operands.in("input", input_desc, input);
    const Operand &o = operands.in("offset", offset_desc, offset);
    const Operand &m = operands.in("mask", mask_desc, mask);
    const Operand &f = operands.in("filter", filter_desc, filter);
    const Operand &dy = operands.in("grad_output", grad_output_desc, grad_output);
    const Operand &dx = operands.out("grad_input", grad_input_desc, grad_input);
    const Operand &doff = operands.out("grad_offset", grad_offset_desc, grad_offset);
    const Operand &dm = operands.out("grad_mask", grad_mask_desc, grad_mask);
    return operands.run([&](mluOpHandle_t cpu) {
      Elements workspace;
      CNNL_TRY(make_workspace(
          [&](std::size_t *size) {
            return CNNL_CPU(function, mluOpGetDCNBakcwardDataWorkspaceSize, cpu, desc, x.desc, o.desc, m.desc, f.desc,
                            dy.desc, dx.desc, doff.desc, dm.desc, size);
          },
          &workspace));
      return CNNL_CPU(function, mluOpDCNBackwardData, cpu, desc, x.desc, x.data, o.desc, o.data, m.desc, m.data, f.desc,
                      f.data, dy.desc, dy.data, workspace.data(), workspace.size(), dx.desc, dx.data, doff.desc,
                      doff.data, dm.desc, dm.data);
    });
  });
}
