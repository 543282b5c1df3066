#include "ops/active_rotated_filter/active_rotated_filter.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/active_rotated_filter.h"

namespace mluops {
namespace {

// `filter` is the input or its gradient, `rotated` the output or its gradient.
struct Tensors {
  TensorArgument filter;
  TensorArgument indices;
  TensorArgument rotated;
  bool forward;
  const TensorArgument &given() const { return forward ? filter : rotated; }
  const TensorArgument &written() const { return forward ? rotated : filter; }
};

mluOpStatus_t need_one_of(const Entry &entry, const TensorArgument &tensor, int dim, const char *symbol,
                          std::initializer_list<std::int64_t> allowed, const char *expected) {
  const std::int64_t found = tensor.desc->dims[dim];
  for (const std::int64_t value : allowed) {
    if (found == value) return MLUOP_STATUS_SUCCESS;
  }
  return refuse(MLUOP_STATUS_BAD_PARAM, entry, Text::format("%s_desc", tensor.name).c_str(),
                Text::format("%s of %s", symbol, expected), describe(tensor.desc));
}

mluOpStatus_t need_product(const Entry &entry, const TensorArgument &tensor, int dim, const char *symbols,
                           std::int64_t a, std::int64_t b) {
  std::int64_t product;
  MLUOPS_REQUIRE(!__builtin_mul_overflow(a, b, &product), MLUOP_STATUS_BAD_PARAM, entry, tensor.name, "smaller filters",
                 describe(tensor.desc));
  return need_dim(entry, tensor, dim, symbols, product);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.filter, 5, "[O, I, r, k, k]"));
  MLUOPS_TRY(need_rank(entry, t.indices, 4, "[r, k, k, R]"));
  MLUOPS_TRY(need_rank(entry, t.rotated, 4, "[O * R, I * r, k, k]"));
  MLUOPS_TRY(need_same_dim(entry, t.filter, 2, t.indices, 0));
  MLUOPS_TRY(need_same_dim(entry, t.filter, 4, t.filter, 3));
  for (int dim = 1; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(entry, t.indices, dim, t.filter, 3));
  for (int dim = 2; dim < 4; ++dim) MLUOPS_TRY(need_same_dim(entry, t.rotated, dim, t.filter, 3));
  MLUOPS_TRY(need_one_of(entry, t.indices, 0, "r", {1, 2, 4, 8, 16, 32, 64, 128}, "a power of two, at most 128"));
  MLUOPS_TRY(need_one_of(entry, t.indices, 1, "k", {1, 3}, "1 or 3"));
  MLUOPS_TRY(need_one_of(entry, t.indices, 3, "R", {2, 4, 8}, "2, 4 or 8"));
  MLUOPS_TRY(need_product(entry, t.rotated, 0, "O * R", t.filter.desc->dims[0], t.indices.desc->dims[3]));
  return need_product(entry, t.rotated, 1, "I * r", t.filter.desc->dims[1], t.indices.desc->dims[0]);
}

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(t.forward ? need_float_or_half(entry, t.given()) : need_real(entry, t.given()));
  MLUOPS_TRY(need_same_dtype(entry, t.written(), t.given()));
  return need_dtype(entry, t.indices, MLUOP_DTYPE_INT32);
}

mluOpStatus_t run(const Entry &entry, mluOpHandle_t handle, const Tensors &t, const void *workspace,
                  std::size_t workspace_size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {t.given(), t.indices, t.written()}));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(need_packed(entry, {t.given(), t.indices, t.written()}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(need_indexable(entry, {t.given(), t.indices, t.written()}));
  for (const TensorArgument &tensor : {t.given(), t.indices, t.written()}) MLUOPS_TRY(need_elements(entry, tensor));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(need_data(entry, {t.given(), t.indices, t.written()}));
  MLUOPS_TRY(require_no_overlap(entry, {t.written()}, {t.given(), t.indices}));
  const std::int64_t *const dims = t.filter.desc->dims;
  const ActiveRotatedFilterGeometry geometry{t.filter.desc->dtype, dims[0], dims[1], dims[2] * dims[3] * dims[4],
                                             t.indices.desc->dims[3]};
  const ActiveRotatedFilterProblem problem{entry.function, geometry, t.given().data,
                                           static_cast<const std::int32_t *>(t.indices.data),
                                           const_cast<void *>(t.written().data)};
  return t.forward ? launch_active_rotated_filter_forward(handle, problem)
                   : launch_active_rotated_filter_backward(handle, problem);
}

}  // namespace

mluOpStatus_t active_rotated_filter_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &input,
                                            const TensorArgument &indices, void *workspace, std::size_t workspace_size,
                                            const TensorArgument &output) {
  return run(entry, handle, {input, indices, output, true}, workspace, workspace_size);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(ActiveRotatedFilterForward);

mluOpStatus_t MLUOP_WIN_API mluOpGetActiveRotatedFilterForwardWorkspaceSize(const mluOpHandle_t handle,
                                                                            const mluOpTensorDescriptor_t input_desc,
                                                                            size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetActiveRotatedFilterForwardWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    MLUOPS_TRY(mluops::need_handle(kFunction, handle));
    MLUOPS_TRY(mluops::need_descriptors(kFunction, {{"input", input_desc, nullptr}}));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "workspace_size", workspace_size));
    *workspace_size = 0;
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpActiveRotatedFilterForward(const mluOpHandle_t handle,
                                                            const mluOpTensorDescriptor_t input_desc, const void *input,
                                                            const mluOpTensorDescriptor_t indices_desc,
                                                            const void *indices, void *workspace,
                                                            const size_t workspace_size,
                                                            const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluOpActiveRotatedFilterForward", [&] {
    return mluops::active_rotated_filter_forward({"mluOpActiveRotatedFilterForward"}, handle,
                                                 {"input", input_desc, input}, {"indices", indices_desc, indices},
                                                 workspace, workspace_size, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtActiveRotatedFilterBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t indices_desc, const void *indices, const mluOpTensorDescriptor_t grad_input_desc,
    void *grad_input) {
  return mluops::guarded("mluopsExtActiveRotatedFilterBackward", [&] {
    return mluops::run({"mluopsExtActiveRotatedFilterBackward"}, handle,
                       {{"grad_input", grad_input_desc, grad_input},
                        {"indices", indices_desc, indices},
                        {"grad_output", grad_output_desc, grad_output},
                        false},
                       nullptr, 0);
  });
}
