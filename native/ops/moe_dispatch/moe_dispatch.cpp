#include "ops/moe_dispatch/moe_dispatch.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"
#include "mluops_ext/moe_dispatch.h"

namespace mluops {
namespace {

struct Sizes {
  int samples, capacity, hidden, num_experts;
};

// `of_samples` are [samples] or [samples, hidden], `dispatch` is [num_experts * capacity, hidden].
mluOpStatus_t check_sizes(const Entry &entry, const Sizes &sizes, std::initializer_list<TensorArgument> of_samples,
                          const TensorArgument &dispatch) {
  MLUOPS_TRY(need_at_least(entry, "samples", sizes.samples, 0));
  MLUOPS_TRY(need_at_least(entry, "capacity", sizes.capacity, 0));
  MLUOPS_TRY(need_at_least(entry, "hidden", sizes.hidden, 0));
  MLUOPS_TRY(need_at_least(entry, "num_experts", sizes.num_experts, 0));
  for (const TensorArgument &tensor : of_samples) {
    MLUOPS_TRY(need_dim(entry, tensor, 0, "samples", sizes.samples));
    if (tensor.desc->rank == 2) MLUOPS_TRY(need_dim(entry, tensor, 1, "hidden", sizes.hidden));
  }
  MLUOPS_TRY(need_dim(entry, dispatch, 0, "num_experts * capacity", std::int64_t{sizes.num_experts} * sizes.capacity));
  return need_dim(entry, dispatch, 1, "hidden", sizes.hidden);
}

// `per_sample` has a number for each sample, `values` all values of the samples; `reals` are these
// and `dispatch`, the first argument first.
mluOpStatus_t check_tensors(const Entry &entry, const Sizes &sizes, const TensorArgument &per_sample,
                            const TensorArgument &indices, const TensorArgument &locations,
                            const TensorArgument &values, const TensorArgument &dispatch,
                            std::initializer_list<TensorArgument> reals) {
  for (const TensorArgument &tensor : {per_sample, indices, locations})
    MLUOPS_TRY(need_rank(entry, tensor, 1, "[samples]"));
  MLUOPS_TRY(need_rank(entry, values, 2, "[samples, hidden]"));
  MLUOPS_TRY(need_rank(entry, dispatch, 2, "[num_experts * capacity, hidden]"));
  for (const TensorArgument &tensor : {indices, locations}) MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : reals) MLUOPS_TRY(need_float(entry, tensor));
  return check_sizes(entry, sizes, {per_sample, indices, locations, values}, dispatch);
}

mluOpStatus_t check_memory(const Entry &entry, std::initializer_list<TensorArgument> tensors) {
  MLUOPS_TRY(need_packed(entry, tensors));
  return need_indexable(entry, tensors);
}

MoeRouting routing_of(const Entry &entry, const Sizes &sizes, const TensorArgument &indices,
                      const TensorArgument &locations) {
  return {sizes.samples,
          sizes.capacity,
          sizes.hidden,
          sizes.num_experts,
          entry.in_double,
          static_cast<const std::int32_t *>(indices.data),
          static_cast<const std::int32_t *>(locations.data)};
}

}  // namespace

namespace {

// If `all_fit`, the samples are no more than the rows.
mluOpStatus_t dispatch_samples(const Entry &entry, mluOpHandle_t handle, const TensorArgument &gates,
                               const TensorArgument &indices, const TensorArgument &locations,
                               const TensorArgument &input, const Sizes &sizes, bool all_fit,
                               const TensorArgument &dispatch) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {gates, indices, locations, input, dispatch}));
  MLUOPS_TRY(check_tensors(entry, sizes, gates, indices, locations, input, dispatch, {gates, input, dispatch}));
  MLUOPS_TRY(need_packed(entry, {gates, indices, locations, input, dispatch}));
  const long long rows = dispatch.desc->dims[0];
  MLUOPS_REQUIRE(!all_fit || sizes.samples <= rows, MLUOP_STATUS_BAD_PARAM, entry, "gates_desc",
                 Text::format("[samples] with samples <= num_experts * capacity=%lld", rows),
                 Text::format("samples=%d", sizes.samples));
  MLUOPS_TRY(need_indexable(entry, {indices, locations, input, dispatch, gates}));
  if (input.desc->count == 0 || dispatch.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {indices, locations, input, dispatch, gates}));
  MLUOPS_TRY(require_no_overlap(entry, {dispatch}, {gates, indices, locations, input}));
  const MoeDispatchForwardProblem problem{entry.function, routing_of(entry, sizes, indices, locations), gates.data,
                                          input.data, const_cast<void *>(dispatch.data)};
  return launch_moe_dispatch_forward(handle, problem);
}

}  // namespace

mluOpStatus_t moe_dispatch_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &gates,
                                   const TensorArgument &indices, const TensorArgument &locations,
                                   const TensorArgument &input, int samples, int capacity, int hidden, int num_experts,
                                   const TensorArgument &dispatch) {
  return dispatch_samples(entry, handle, gates, indices, locations, input, {samples, capacity, hidden, num_experts},
                          true, dispatch);
}

mluOpStatus_t moe_dispatch_backward_data(const Entry &entry, mluOpHandle_t handle, const TensorArgument &gates,
                                         const TensorArgument &indices, const TensorArgument &locations,
                                         const TensorArgument &dispatch, int samples, int capacity, int hidden,
                                         int num_experts, const TensorArgument &grad_input) {
  const Sizes sizes{samples, capacity, hidden, num_experts};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {gates, indices, locations, dispatch, grad_input}));
  MLUOPS_TRY(
      check_tensors(entry, sizes, gates, indices, locations, grad_input, dispatch, {gates, dispatch, grad_input}));
  MLUOPS_TRY(check_memory(entry, {gates, indices, locations, dispatch, grad_input}));
  if (grad_input.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {grad_input}));
  // Without rows all is 0, whatever the inputs are.
  if (dispatch.desc->count != 0) MLUOPS_TRY(need_data(entry, {gates, indices, locations, dispatch}));
  MLUOPS_TRY(require_no_overlap(entry, {grad_input}, {gates, indices, locations, dispatch}));
  const MoeDispatchBackwardDataProblem problem{entry.function, routing_of(entry, sizes, indices, locations), gates.data,
                                               dispatch.data, const_cast<void *>(grad_input.data)};
  return launch_moe_dispatch_backward_data(handle, problem);
}

mluOpStatus_t moe_dispatch_backward_gate(const Entry &entry, mluOpHandle_t handle, const TensorArgument &indices,
                                         const TensorArgument &locations, const TensorArgument &input,
                                         const TensorArgument &dispatch, int samples, int capacity, int hidden,
                                         int num_experts, void *workspace, std::size_t workspace_size,
                                         const TensorArgument &grad_gates) {
  const Sizes sizes{samples, capacity, hidden, num_experts};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {indices, locations, input, dispatch, grad_gates}));
  MLUOPS_TRY(
      check_tensors(entry, sizes, grad_gates, indices, locations, input, dispatch, {input, dispatch, grad_gates}));
  MLUOPS_TRY(check_memory(entry, {indices, locations, input, dispatch, grad_gates}));
  if (grad_gates.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {grad_gates}));
  if (dispatch.desc->count != 0) {
    if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
    MLUOPS_TRY(need_data(entry, {indices, locations, input, dispatch}));
  }
  MLUOPS_TRY(require_no_overlap(entry, {grad_gates}, {indices, locations, input, dispatch}));
  const MoeDispatchBackwardGateProblem problem{entry.function, routing_of(entry, sizes, indices, locations), input.data,
                                               dispatch.data, const_cast<void *>(grad_gates.data)};
  return launch_moe_dispatch_backward_gate(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(MoeDispatchForward);
MLUOPS_IN_DOUBLE(MoeDispatchBackwardData);
MLUOPS_IN_DOUBLE(MoeDispatchBackwardGate);

mluOpStatus_t MLUOP_WIN_API mluOpMoeDispatchForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t gates_desc,
                                                    const void *gates, const mluOpTensorDescriptor_t indices_desc,
                                                    const void *indices, const mluOpTensorDescriptor_t locations_desc,
                                                    const void *locations, const mluOpTensorDescriptor_t input_desc,
                                                    const void *input, const int samples, const int capacity,
                                                    const int hidden, const int num_experts,
                                                    const mluOpTensorDescriptor_t dispatch_desc, void *dispatch) {
  return mluops::guarded("mluOpMoeDispatchForward", [&] {
    return mluops::moe_dispatch_forward({"mluOpMoeDispatchForward"}, handle, {"gates", gates_desc, gates},
                                        {"indices", indices_desc, indices}, {"locations", locations_desc, locations},
                                        {"input", input_desc, input}, samples, capacity, hidden, num_experts,
                                        {"dispatch", dispatch_desc, dispatch});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpMoeDispatchBackwardData(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t gates_desc, const void *gates,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t locations_desc,
    const void *locations, const mluOpTensorDescriptor_t dispatch_desc, const void *dispatch, const int samples,
    const int capacity, const int hidden, const int num_experts, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input) {
  return mluops::guarded("mluOpMoeDispatchBackwardData", [&] {
    return mluops::moe_dispatch_backward_data(
        {"mluOpMoeDispatchBackwardData"}, handle, {"gates", gates_desc, gates}, {"indices", indices_desc, indices},
        {"locations", locations_desc, locations}, {"dispatch", dispatch_desc, dispatch}, samples, capacity, hidden,
        num_experts, {"grad_input", grad_input_desc, grad_input});
  });
}

// Partial sums stand in memory of the library.
mluOpStatus_t MLUOP_WIN_API mluOpGetMoeDispatchBackwardGateWorkspaceSize(mluOpHandle_t handle,
                                                                         const mluOpTensorDescriptor_t input_desc,
                                                                         size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetMoeDispatchBackwardGateWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(mluops::need_handle(kFunction, handle));
    MLUOPS_TRY(mluops::need_descriptors(kFunction, {{"input", input_desc, nullptr}}));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "workspace_size", workspace_size));
    *workspace_size = 0;
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpMoeDispatchBackwardGate(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t indices_desc, const void *indices,
    const mluOpTensorDescriptor_t locations_desc, const void *locations, const mluOpTensorDescriptor_t input_desc,
    const void *input, const mluOpTensorDescriptor_t dispatch_desc, const void *dispatch, const int samples,
    const int capacity, const int hidden, const int num_experts, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t grad_gates_desc, void *grad_gates) {
  return mluops::guarded("mluOpMoeDispatchBackwardGate", [&] {
    return mluops::moe_dispatch_backward_gate(
        {"mluOpMoeDispatchBackwardGate"}, handle, {"indices", indices_desc, indices},
        {"locations", locations_desc, locations}, {"input", input_desc, input}, {"dispatch", dispatch_desc, dispatch},
        samples, capacity, hidden, num_experts, workspace, workspace_size, {"grad_gates", grad_gates_desc, grad_gates});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtMoeDispatchForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t gates_desc,
                                                        const void *gates, const mluOpTensorDescriptor_t indices_desc,
                                                        const void *indices,
                                                        const mluOpTensorDescriptor_t locations_desc,
                                                        const void *locations, const mluOpTensorDescriptor_t input_desc,
                                                        const void *input, const int samples, const int capacity,
                                                        const int hidden, const int num_experts,
                                                        const mluOpTensorDescriptor_t dispatch_desc, void *dispatch) {
  constexpr const char *kFunction = "mluopsExtMoeDispatchForward";
  return mluops::guarded(kFunction, [&] {
    const bool in_double = mluops::alive(gates_desc) && gates_desc->dtype == MLUOP_DTYPE_DOUBLE;
    return mluops::dispatch_samples({kFunction, in_double}, handle, {"gates", gates_desc, gates},
                                    {"indices", indices_desc, indices}, {"locations", locations_desc, locations},
                                    {"input", input_desc, input}, {samples, capacity, hidden, num_experts}, false,
                                    {"dispatch", dispatch_desc, dispatch});
  });
}
