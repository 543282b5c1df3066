#include "ops/mutual_information/mutual_information.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

// `end` is ans or its gradient.
struct Tensors {
  TensorArgument px;
  TensorArgument py;
  TensorArgument boundary;
  TensorArgument p;
  TensorArgument end;
};

bool has_boundary(const Tensors &t) { return t.boundary.desc != nullptr; }

// Calls body(tensor) for all, as long as they pass.
template <typename Body>
mluOpStatus_t each(const Tensors &t, const Body &body) {
  MLUOPS_TRY(body(t.px));
  MLUOPS_TRY(body(t.py));
  if (has_boundary(t)) MLUOPS_TRY(body(t.boundary));
  MLUOPS_TRY(body(t.p));
  return body(t.end);
}

// A NULL descriptor with data is told with the data, see check_pair.
mluOpStatus_t check_ranks(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.px, 3, "[B, S, T + 1]"));
  MLUOPS_TRY(need_rank(entry, t.py, 3, "[B, S + 1, T]"));
  if (has_boundary(t)) MLUOPS_TRY(need_rank(entry, t.boundary, 2, "[B, 4]"));
  MLUOPS_TRY(need_rank(entry, t.p, 3, "[B, S + 1, T + 1]"));
  return need_rank(entry, t.end, 1, "[B]");
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t) {
  for (const TensorArgument &tensor : {t.py, t.p, t.end}) MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.px, 0));
  const std::int64_t rows = t.px.desc->dims[1], columns = t.py.desc->dims[2];
  MLUOPS_REQUIRE(t.px.desc->dims[2] == columns + 1, MLUOP_STATUS_NOT_SUPPORTED, entry, "px_desc",
                 Text::format("[B, S, T + 1] with T=%lld like py", static_cast<long long>(columns)),
                 describe(t.px.desc));
  MLUOPS_REQUIRE(t.py.desc->dims[1] == rows + 1, MLUOP_STATUS_BAD_PARAM, entry, "py_desc",
                 Text::format("[B, S + 1, T] with S=%lld like px", static_cast<long long>(rows)), describe(t.py.desc));
  if (has_boundary(t)) {
    MLUOPS_TRY(need_same_dim(entry, t.boundary, 0, t.px, 0));
    MLUOPS_TRY(need_dim(entry, t.boundary, 1, "s_begin, t_begin, s_end, t_end", 4));
  }
  MLUOPS_TRY(need_dim(entry, t.p, 1, "S + 1", rows + 1));
  return need_dim(entry, t.p, 2, "T + 1", columns + 1);
}

mluOpStatus_t check_dtype(const Entry &entry, const TensorArgument &tensor, mluOpDataType_t dtype) {
  MLUOPS_REQUIRE(tensor.desc->dtype == dtype, MLUOP_STATUS_NOT_SUPPORTED, entry,
                 Text::format("%s_desc", tensor.name).c_str(), name_of(dtype), describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_real(const Entry &entry, const TensorArgument &tensor) {
  return check_dtype(entry, tensor, entry.in_double ? MLUOP_DTYPE_DOUBLE : MLUOP_DTYPE_FLOAT);
}

mluOpStatus_t check_memory(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(each(t, [&](const TensorArgument &tensor) { return need_packed(entry, {tensor}); }));
  return each(t, [&](const TensorArgument &tensor) {
    return tensor.name == t.boundary.name ? check_dtype(entry, tensor, MLUOP_DTYPE_INT64) : check_real(entry, tensor);
  });
}

mluOpStatus_t need_indexable_tables(const Entry &entry, const Tensors &t) {
  return each(t, [&](const TensorArgument &tensor) { return need_indexable(entry, {tensor}); });
}

// Arrays without elements need no memory.
mluOpStatus_t check_data(const Entry &entry, const TensorArgument &tensor) {
  return tensor.desc->count == 0 ? MLUOP_STATUS_SUCCESS : need_data(entry, {tensor});
}

mluOpStatus_t check_pair(const Entry &entry, const TensorArgument &boundary) {
  return boundary.data == nullptr ? MLUOP_STATUS_SUCCESS : need_descriptor(entry, "opt_boundary_desc", boundary.desc);
}

mluOpStatus_t check_apart(const Entry &entry, const Tensors &t, const TensorArgument &output) {
  return each(t, [&](const TensorArgument &other) {
    return other.name == output.name ? MLUOP_STATUS_SUCCESS : require_no_overlap(entry, {output}, {other});
  });
}

MutualInformationTables tables_of(const Entry &entry, const Tensors &t) {
  return {t.px.desc->dims[0],
          t.px.desc->dims[1],
          t.py.desc->dims[2],
          entry.in_double,
          t.px.data,
          t.py.data,
          has_boundary(t) ? static_cast<const std::int64_t *>(t.boundary.data) : nullptr};
}

mluOpStatus_t check_descriptors(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_descriptors(entry, {t.px, t.py, t.p, t.end}));
  return need_descriptors_or_null(entry, {t.boundary});
}

// Nothing but the cells of the tables is needed.
mluOpStatus_t workspace_size(const Entry &entry, mluOpHandle_t handle, const Tensors &t, std::size_t *size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(check_descriptors(entry, t));
  MLUOPS_TRY(need_pointer(entry, "workspace_size", size));
  *size = 0;
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t mutual_information_forward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &px,
                                         const TensorArgument &py, const TensorArgument &opt_boundary,
                                         const TensorArgument &p, void *workspace, std::size_t workspace_size,
                                         const TensorArgument &ans) {
  const Tensors t{px, py, opt_boundary, p, ans};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(check_descriptors(entry, t));
  MLUOPS_TRY(check_ranks(entry, t));
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(check_memory(entry, t));
  MLUOPS_TRY(need_indexable_tables(entry, t));
  if (px.desc->dims[0] == 0) return MLUOP_STATUS_SUCCESS;
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(each(t, [&](const TensorArgument &tensor) { return check_data(entry, tensor); }));
  MLUOPS_TRY(check_pair(entry, opt_boundary));
  for (const TensorArgument &output : {p, ans}) MLUOPS_TRY(check_apart(entry, t, output));
  const MutualInformationForwardProblem problem{entry.function, tables_of(entry, t), const_cast<void *>(p.data),
                                                const_cast<void *>(ans.data)};
  return launch_mutual_information_forward(handle, problem);
}

mluOpStatus_t mutual_information_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &px,
                                          const TensorArgument &py, const TensorArgument &opt_boundary,
                                          const TensorArgument &p, const TensorArgument &ans_grad,
                                          bool overwrite_ans_grad, void *workspace, std::size_t workspace_size,
                                          const TensorArgument &px_grad, const TensorArgument &py_grad) {
  const Tensors t{px, py, opt_boundary, p, ans_grad};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(check_descriptors(entry, t));
  MLUOPS_TRY(need_descriptors(entry, {px_grad, py_grad}));
  MLUOPS_TRY(check_ranks(entry, t));
  for (const TensorArgument &tensor : {px_grad, py_grad}) {
    MLUOPS_TRY(need_rank(entry, tensor, 3, "like the sequence"));
    MLUOPS_TRY(need_same_dim(entry, tensor, 0, px, 0));
  }
  MLUOPS_TRY(check_shapes(entry, t));
  MLUOPS_TRY(need_same_shape(entry, px_grad, px));
  MLUOPS_TRY(need_same_shape(entry, py_grad, py));
  MLUOPS_TRY(need_packed(entry, {px_grad, py_grad}));
  MLUOPS_TRY(check_memory(entry, t));
  for (const TensorArgument &tensor : {px_grad, py_grad}) MLUOPS_TRY(check_real(entry, tensor));
  MLUOPS_TRY(need_indexable_tables(entry, t));
  if (px.desc->count == 0 && py.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(each(t, [&](const TensorArgument &tensor) { return check_data(entry, tensor); }));
  for (const TensorArgument &tensor : {px_grad, py_grad}) MLUOPS_TRY(check_data(entry, tensor));
  MLUOPS_TRY(check_pair(entry, opt_boundary));
  for (const TensorArgument &output : {ans_grad, px_grad, py_grad}) MLUOPS_TRY(check_apart(entry, t, output));
  MLUOPS_TRY(require_no_overlap(entry, {px_grad, py_grad}, {}));
  const MutualInformationBackwardProblem problem{entry.function,
                                                 tables_of(entry, t),
                                                 p.data,
                                                 const_cast<void *>(ans_grad.data),
                                                 overwrite_ans_grad,
                                                 const_cast<void *>(px_grad.data),
                                                 const_cast<void *>(py_grad.data)};
  return launch_mutual_information_backward(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(MutualInformationForward);
MLUOPS_IN_DOUBLE(MutualInformationBackward);

mluOpStatus_t MLUOP_WIN_API mluOpGetMutualInformationForwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const mluOpTensorDescriptor_t py_desc,
    const mluOpTensorDescriptor_t opt_boundary_desc, const mluOpTensorDescriptor_t p_desc,
    const mluOpTensorDescriptor_t ans_desc, size_t *workspace_size) {
  return mluops::guarded("mluOpGetMutualInformationForwardWorkspaceSize", [&] {
    const mluops::Tensors tensors{{"px", px_desc, nullptr},
                                  {"py", py_desc, nullptr},
                                  {"opt_boundary", opt_boundary_desc, nullptr},
                                  {"p", p_desc, nullptr},
                                  {"ans", ans_desc, nullptr}};
    return mluops::workspace_size({"mluOpGetMutualInformationForwardWorkspaceSize"}, handle, tensors, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpMutualInformationForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const void *px, const mluOpTensorDescriptor_t py_desc,
    const void *py, const mluOpTensorDescriptor_t opt_boundary_desc, const void *opt_boundary,
    const mluOpTensorDescriptor_t p_desc, void *p, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t ans_desc, void *ans) {
  return mluops::guarded("mluOpMutualInformationForward", [&] {
    return mluops::mutual_information_forward({"mluOpMutualInformationForward"}, handle, {"px", px_desc, px},
                                              {"py", py_desc, py}, {"opt_boundary", opt_boundary_desc, opt_boundary},
                                              {"p", p_desc, p}, workspace, workspace_size, {"ans", ans_desc, ans});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetMutualInformationBackwardWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const mluOpTensorDescriptor_t py_desc,
    const mluOpTensorDescriptor_t opt_boundary_desc, const mluOpTensorDescriptor_t p_desc,
    const mluOpTensorDescriptor_t ans_grad_desc, const bool, size_t *workspace_size) {
  return mluops::guarded("mluOpGetMutualInformationBackwardWorkspaceSize", [&] {
    const mluops::Tensors tensors{{"px", px_desc, nullptr},
                                  {"py", py_desc, nullptr},
                                  {"opt_boundary", opt_boundary_desc, nullptr},
                                  {"p", p_desc, nullptr},
                                  {"ans_grad", ans_grad_desc, nullptr}};
    return mluops::workspace_size({"mluOpGetMutualInformationBackwardWorkspaceSize"}, handle, tensors, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpMutualInformationBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t px_desc, const void *px, const mluOpTensorDescriptor_t py_desc,
    const void *py, const mluOpTensorDescriptor_t opt_boundary_desc, const void *opt_boundary,
    const mluOpTensorDescriptor_t p_desc, const void *p, const mluOpTensorDescriptor_t ans_grad_desc, void *ans_grad,
    const bool overwrite_ans_grad, void *workspace, const size_t workspace_size,
    const mluOpTensorDescriptor_t px_grad_desc, void *px_grad, const mluOpTensorDescriptor_t py_grad_desc,
    void *py_grad) {
  return mluops::guarded("mluOpMutualInformationBackward", [&] {
    return mluops::mutual_information_backward({"mluOpMutualInformationBackward"}, handle, {"px", px_desc, px},
                                               {"py", py_desc, py}, {"opt_boundary", opt_boundary_desc, opt_boundary},
                                               {"p", p_desc, p}, {"ans_grad", ans_grad_desc, ans_grad},
                                               overwrite_ans_grad, workspace, workspace_size,
                                               {"px_grad", px_grad_desc, px_grad}, {"py_grad", py_grad_desc, py_grad});
  });
}
