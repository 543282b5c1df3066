// Arithmetic with tensors, element by element.
#include <algorithm>

#include "arithmetic.h"
#include "objects.h"
#include "work.h"

namespace cnnl {

cnnlStatus_t repeat(const char *function, const char *argument, const Dims &dims, Tensor *tensor) {
  const std::size_t missing = dims.size() - std::min(dims.size(), tensor->dims.size());
  Tensor result = *tensor;
  result.dims.insert(result.dims.begin(), missing, 1);
  result.strides.insert(result.strides.begin(), missing, 0);
  for (std::size_t d = 0; d < dims.size() && result.dims.size() == dims.size(); ++d) {
    if (result.dims[d] != 1 || dims[d] == 1) continue;
    result.dims[d] = dims[d];
    result.strides[d] = 0;
    result.dense = false;
  }
  if (result.dims != dims) return check_dims(function, argument, *tensor, dims);
  result.count = product(dims, 0, dims.size());
  *tensor = result;
  return CNNL_STATUS_SUCCESS;
}

namespace {

struct OpTensor {
  cnnlOpTensorDesc_t op = CNNL_OP_TENSOR_ADD;
};

auto &g_op_tensors = *new Objects<OpTensor, cnnlOpTensorDescriptor_t>("desc");
double computed(cnnlOpTensorDesc_t op, double a, double b) {
  switch (op) {
    case CNNL_OP_TENSOR_SUB:
      return a - b;
    case CNNL_OP_TENSOR_MUL:
      return a * b;
    default:
      return a + b;
  }
}

cnnlStatus_t op_tensor(const char *function, cnnlHandle_t handle, cnnlOpTensorDescriptor_t desc,
                       cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc, cnnlTensorDescriptor_t c_desc,
                       Term a, Term b, Term c, void *output) {
  OpTensor how;
  CNNL_TRY(g_op_tensors.get(function, "desc", desc, &how));
  CNNL_TRY(get_operand(function, "a", a_desc, a.data, &a.tensor));
  CNNL_TRY(get_operand(function, "b", b_desc, b.data, &b.tensor));
  CNNL_TRY(get_operand(function, "c", c_desc, c.data, &c.tensor));
  CNNL_TRY(check_numbers(function, "c", c.tensor));
  CNNL_TRY(check_same_type(function, "a", a.tensor, c.tensor));
  CNNL_TRY(check_same_type(function, "b", b.tensor, c.tensor));
  CNNL_TRY(repeat(function, "a", c.tensor.dims, &a.tensor));
  CNNL_TRY(repeat(function, "b", c.tensor.dims, &b.tensor));
  return enqueue(function, handle,
                 [=, op = how.op, x = room_for(a.tensor), y = room_for(b.tensor), z = room_for(c.tensor)] {
                   load(a.tensor, a.data, x.get());
                   load(b.tensor, b.data, y.get());
                   if (c.factor != 0) load(c.tensor, c.data, z.get());
                   for (std::int64_t i = 0; i < c.tensor.count; ++i) {
                     const double value = computed(op, a.factor * at(a.tensor, *x, i), b.factor * at(b.tensor, *y, i));
                     put(c.tensor, z.get(), i, c.factor != 0 ? value + c.factor * at(c.tensor, *z, i) : value);
                   }
                   store(c.tensor, output, *z);
                 });
}

cnnlStatus_t transform(const char *function, cnnlHandle_t handle, cnnlPointerMode_t mode, const void *alpha,
                       cnnlTensorDescriptor_t x_desc, const void *x, const void *beta, cnnlTensorDescriptor_t y_desc,
                       void *y) {
  Tensor from, to;
  CNNL_TRY(get_operand(function, "x", x_desc, x, &from));
  CNNL_TRY(get_operand(function, "y", y_desc, y, &to));
  CNNL_TRY(check_numbers(function, "x", from));
  CNNL_TRY(check_same_type(function, "y", to, from));
  CNNL_TRY(check_dims(function, "y", to, from.dims));
  if (mode != CNNL_POINTER_MODE_HOST) {
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: mode: expected 0, got %d", function, static_cast<int>(mode));
  }
  const auto factor = [&from](const void *value, double otherwise) {
    if (value == nullptr || from.dtype != CNNL_DTYPE_INT32) return float_at(value, otherwise);
    return static_cast<double>(*static_cast<const int *>(value));
  };
  return enqueue(function, handle, [=, a = factor(alpha, 1), b = factor(beta, 0), room = room_for(from)] {
    load(from, x, room.get());
    for (std::int64_t i = 0; i < from.count; ++i) put(from, room.get(), i, a * at(from, *room, i) + b);
    store(to, y, *room);
  });
}

cnnlStatus_t add_n(const char *function, cnnlHandle_t handle, const cnnlTensorDescriptor_t *input_descs,
                   const void *const *inputs, int count, cnnlTensorDescriptor_t output_desc, void *output) {
  if (count < 1) return refuse(CNNL_STATUS_BAD_PARAM, "%s: count: expected at least 1, got %d", function, count);
  if (input_descs == nullptr || inputs == nullptr) {
    return refuse_null(function, input_descs == nullptr ? "input_descs" : "inputs");
  }
  Tensor to;
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  CNNL_TRY(check_numbers(function, "output", to));
  auto terms = std::make_shared<std::vector<Term>>();
  for (int i = 0; i < count; ++i) {
    Term term = {{}, inputs[i], 1};
    CNNL_TRY(get_operand(function, "inputs", input_descs[i], inputs[i], &term.tensor));
    CNNL_TRY(check_same_type(function, "inputs", term.tensor, to));
    CNNL_TRY(check_dims(function, "inputs", term.tensor, to.dims));
    terms->push_back(term);
  }
  auto sums = std::make_shared<std::vector<double>>(static_cast<std::size_t>(to.count));
  return enqueue(function, handle, [=, room = room_for(to)] {
    for (const Term &term : *terms) {
      load(term.tensor, term.data, room.get());
      for (std::int64_t i = 0; i < to.count; ++i) (*sums)[static_cast<std::size_t>(i)] += at(to, *room, i);
    }
    for (std::int64_t i = 0; i < to.count; ++i) put(to, room.get(), i, (*sums)[static_cast<std::size_t>(i)]);
    store(to, output, *room);
  });
}

}  // namespace
}  // namespace cnnl

using namespace cnnl;

cnnlStatus_t cnnlCreateOpTensorDescriptor(cnnlOpTensorDescriptor_t *desc) {
  return guarded(__func__, [&](const char *function) { return g_op_tensors.create(function, desc); });
}

cnnlStatus_t cnnlDestroyOpTensorDescriptor(cnnlOpTensorDescriptor_t desc) {
  return guarded(__func__, [&](const char *function) { return g_op_tensors.destroy(function, desc); });
}

cnnlStatus_t cnnlSetOpTensorDescriptor(cnnlOpTensorDescriptor_t desc, cnnlOpTensorDesc_t op, cnnlDataType_t,
                                       cnnlNanPropagation_t) {
  return guarded(__func__, [&](const char *function) {
    if (op < CNNL_OP_TENSOR_ADD || op > CNNL_OP_TENSOR_MUL) {
      return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: op: expected 0 to 2, got %d", function, static_cast<int>(op));
    }
    return g_op_tensors.with(function, "desc", desc, [op](OpTensor &found) {
      found.op = op;
      return CNNL_STATUS_SUCCESS;
    });
  });
}

cnnlStatus_t cnnlGetOpTensorWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                          cnnlTensorDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlOpTensor(cnnlHandle_t handle, cnnlOpTensorDescriptor_t desc, const void *alpha1,
                          cnnlTensorDescriptor_t a_desc, const void *a, const void *alpha2,
                          cnnlTensorDescriptor_t b_desc, const void *b, void *, size_t, const void *beta,
                          cnnlTensorDescriptor_t c_desc, void *c) {
  return guarded(__func__, [&](const char *function) {
    return op_tensor(function, handle, desc, a_desc, b_desc, c_desc, {{}, a, float_at(alpha1, 1)},
                     {{}, b, float_at(alpha2, 1)}, {{}, c, float_at(beta, 0)}, c);
  });
}

cnnlStatus_t cnnlTransform_v2(cnnlHandle_t handle, cnnlPointerMode_t mode, const void *alpha,
                              cnnlTensorDescriptor_t x_desc, const void *x, const void *beta,
                              cnnlTensorDescriptor_t y_desc, void *y) {
  return guarded(__func__, [&](const char *function) {
    return transform(function, handle, mode, alpha, x_desc, x, beta, y_desc, y);
  });
}

cnnlStatus_t cnnlGetAddNWorkspaceSize(cnnlHandle_t handle, const cnnlTensorDescriptor_t[], int, cnnlTensorDescriptor_t,
                                      size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlAddN_v2(cnnlHandle_t handle, const cnnlTensorDescriptor_t input_descs[], const void *const inputs[],
                         int count, cnnlTensorDescriptor_t output_desc, void *output, void *, size_t) {
  return guarded(__func__, [&](const char *function) {
    return add_n(function, handle, input_descs, inputs, count, output_desc, output);
  });
}
