// Arithmetic with tensors, element by element, and products of matrices.
#include <algorithm>

#include "objects.h"
#include "work.h"

namespace cnnl {
namespace {

struct OpTensor {
  cnnlOpTensorDesc_t op = CNNL_OP_TENSOR_ADD;
};

struct MatMul {
  bool transposes_a = false, transposes_b = false, uses_beta = false;
};

struct Nothing {};

auto &g_op_tensors = *new Objects<OpTensor, cnnlOpTensorDescriptor_t>("desc");
auto &g_mat_muls = *new Objects<MatMul, cnnlMatMulDescriptor_t>("desc");
auto &g_algorithms = *new Objects<Nothing, cnnlMatMulAlgo_t>("algo");
auto &g_results = *new Objects<Nothing, cnnlMatMulHeuristicResult_t>("result");

double float_at(const void *value, double otherwise) {
  return value != nullptr ? static_cast<double>(*static_cast<const float *>(value)) : otherwise;
}

cnnlStatus_t check_numbers(const char *function, const char *argument, const Tensor &tensor) {
  if (is_real(tensor.dtype) || (is_integer(tensor.dtype) && tensor.size <= 4)) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_NOT_SUPPORTED,
                "%s: %s: expected half, bfloat16, float, double or integers of at most 32 bits, got the data type %d",
                function, argument, static_cast<int>(tensor.dtype));
}

double at(const Tensor &tensor, const Elements &elements, std::int64_t i) {
  return number_at<double>(tensor.dtype, elements.data() + static_cast<std::size_t>(i) * tensor.size);
}

void put(const Tensor &tensor, Elements *elements, std::int64_t i, double value) {
  unsigned char *place = elements->data() + static_cast<std::size_t>(i) * tensor.size;
  if (is_integer(tensor.dtype)) {  // the product of any two is exact
    put_number(tensor.dtype, place, static_cast<std::int64_t>(value));
  } else {
    put_number(tensor.dtype, place, value);
  }
}

// Returns the tensor with the dims `dims`: dims of 1, and missing leading dims, are repeated.
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

struct Operand {
  Tensor tensor;
  const void *data;
  double factor;
};

cnnlStatus_t op_tensor(const char *function, cnnlHandle_t handle, cnnlOpTensorDescriptor_t desc,
                       cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc, cnnlTensorDescriptor_t c_desc,
                       Operand a, Operand b, Operand c, void *output) {
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
  auto operands = std::make_shared<std::vector<Operand>>();
  for (int i = 0; i < count; ++i) {
    Operand operand = {{}, inputs[i], 1};
    CNNL_TRY(get_operand(function, "inputs", input_descs[i], inputs[i], &operand.tensor));
    CNNL_TRY(check_same_type(function, "inputs", operand.tensor, to));
    CNNL_TRY(check_dims(function, "inputs", operand.tensor, to.dims));
    operands->push_back(operand);
  }
  auto sums = std::make_shared<std::vector<double>>(static_cast<std::size_t>(to.count));
  return enqueue(function, handle, [=, room = room_for(to)] {
    for (const Operand &operand : *operands) {
      load(operand.tensor, operand.data, room.get());
      for (std::int64_t i = 0; i < to.count; ++i) (*sums)[static_cast<std::size_t>(i)] += at(to, *room, i);
    }
    for (std::int64_t i = 0; i < to.count; ++i) put(to, room.get(), i, (*sums)[static_cast<std::size_t>(i)]);
    store(to, output, *room);
  });
}

// ---- Matrices -----------------------------------------------------------------------------------

cnnlStatus_t get_matrix(const char *function, const char *argument, cnnlTensorDescriptor_t desc, bool transposed,
                        Operand *matrix) {
  CNNL_TRY(get_operand(function, argument, desc, matrix->data, &matrix->tensor));
  CNNL_TRY(check_numbers(function, argument, matrix->tensor));
  Tensor &tensor = matrix->tensor;
  if (tensor.rank() != 2) {
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: %s: expected 2 dims, got %d", function, argument, tensor.rank());
  }
  if (transposed) {
    std::swap(tensor.dims[0], tensor.dims[1]);
    std::swap(tensor.strides[0], tensor.strides[1]);
    tensor.dense = false;
  }
  return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t mat_mul(const char *function, cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                     cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc, cnnlTensorDescriptor_t c_desc,
                     cnnlTensorDescriptor_t d_desc, Operand a, Operand b, Operand c, void *d) {
  MatMul how;
  Operand result = {{}, d, 1};
  CNNL_TRY(g_mat_muls.get(function, "desc", desc, &how));
  CNNL_TRY(get_matrix(function, "a", a_desc, how.transposes_a, &a));
  CNNL_TRY(get_matrix(function, "b", b_desc, how.transposes_b, &b));
  CNNL_TRY(get_matrix(function, "d", d_desc, false, &result));
  const std::int64_t rows = a.tensor.dims[0], depth = a.tensor.dims[1], columns = b.tensor.dims[1];
  CNNL_TRY(check_dims(function, "b", b.tensor, {depth, columns}));
  CNNL_TRY(check_dims(function, "d", result.tensor, {rows, columns}));
  if (!how.uses_beta) c.factor = 0;
  if (c.factor != 0) {
    CNNL_TRY(get_matrix(function, "c", c_desc, false, &c));
    CNNL_TRY(check_dims(function, "c", c.tensor, {rows, columns}));
  }
  return enqueue(function, handle,
                 [=, to = result.tensor, x = room_for(a.tensor), y = room_for(b.tensor), z = room_for(c.tensor),
                  room = room_for(result.tensor)] {
                   load(a.tensor, a.data, x.get());
                   load(b.tensor, b.data, y.get());
                   if (c.factor != 0) load(c.tensor, c.data, z.get());
                   for (std::int64_t i = 0; i < to.count; ++i) {
                     const std::int64_t row = i / columns, column = i % columns;
                     double sum = 0;
                     for (std::int64_t k = 0; k < depth; ++k) {
                       sum += at(a.tensor, *x, row * depth + k) * at(b.tensor, *y, k * columns + column);
                     }
                     sum *= a.factor;
                     put(to, room.get(), i, c.factor != 0 ? sum + c.factor * at(c.tensor, *z, i) : sum);
                   }
                   store(to, d, *room);
                 });
}

cnnlStatus_t set_attribute(const char *function, cnnlMatMulDescriptor_t desc, cnnlMatMulDescAttribute_t attribute,
                           const void *value, std::size_t bytes) {
  if (value == nullptr) return refuse_null(function, "value");
  if (bytes != sizeof(int) && bytes != sizeof(bool)) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: bytes: expected 1 or %zu, got %zu", function, sizeof(int), bytes);
  }
  int number = 0;
  std::memcpy(&number, value, bytes);
  return g_mat_muls.with(function, "desc", desc, [&](MatMul &found) {
    switch (attribute) {
      case CNNL_MATMUL_DESC_TRANSA:
        found.transposes_a = number != 0;
        return CNNL_STATUS_SUCCESS;
      case CNNL_MATMUL_DESC_TRANSB:
        found.transposes_b = number != 0;
        return CNNL_STATUS_SUCCESS;
      case CNNL_MATMUL_USE_BETA:
        found.uses_beta = number != 0;
        return CNNL_STATUS_SUCCESS;
      case CNNL_MATMUL_DESC_COMPUTE_TYPE:  // products are made in double
      case CNNL_MATMUL_ALLOW_TF32:
      case CNNL_MATMUL_USE_STRIDE:  // strides always count
        return CNNL_STATUS_SUCCESS;
      default:
        return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: attribute: expected 0 to 5, got %d", function,
                      static_cast<int>(attribute));
    }
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

cnnlStatus_t cnnlCreateMatMulDescriptor(cnnlMatMulDescriptor_t *desc) {
  return guarded(__func__, [&](const char *function) { return g_mat_muls.create(function, desc); });
}

cnnlStatus_t cnnlDestroyMatMulDescriptor(cnnlMatMulDescriptor_t desc) {
  return guarded(__func__, [&](const char *function) { return g_mat_muls.destroy(function, desc); });
}

cnnlStatus_t cnnlSetMatMulDescAttr(cnnlMatMulDescriptor_t desc, cnnlMatMulDescAttribute_t attribute, const void *value,
                                   size_t bytes) {
  return guarded(__func__,
                 [&](const char *function) { return set_attribute(function, desc, attribute, value, bytes); });
}

cnnlStatus_t cnnlCreateMatMulAlgo(cnnlMatMulAlgo_t *algo) {
  return guarded(__func__, [&](const char *function) { return g_algorithms.create(function, algo); });
}

cnnlStatus_t cnnlDestroyMatMulAlgo(cnnlMatMulAlgo_t algo) {
  return guarded(__func__, [&](const char *function) { return g_algorithms.destroy(function, algo); });
}

cnnlStatus_t cnnlCreateMatMulHeuristicResult(cnnlMatMulHeuristicResult_t *result) {
  return guarded(__func__, [&](const char *function) { return g_results.create(function, result); });
}

cnnlStatus_t cnnlDestroyMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result) {
  return guarded(__func__, [&](const char *function) { return g_results.destroy(function, result); });
}

cnnlStatus_t cnnlGetMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo,
                                          size_t *workspace_size) {
  return guarded(__func__, [&](const char *function) {
    Nothing nothing;
    CNNL_TRY(g_results.get(function, "result", result, &nothing));
    CNNL_TRY(g_algorithms.get(function, "algo", algo, &nothing));
    if (workspace_size == nullptr) return refuse_null(function, "workspace_size");
    *workspace_size = 0;
    return CNNL_STATUS_SUCCESS;
  });
}

cnnlStatus_t cnnlGetMatMulAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlTensorDescriptor_t,
                                        cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, void *,
                                        int requested, cnnlMatMulHeuristicResult_t results[], int *returned) {
  return guarded(__func__, [&](const char *function) {
    MatMul how;
    cnrtQueue_t queue = nullptr;
    CNNL_TRY(get_queue(function, handle, &queue));
    CNNL_TRY(g_mat_muls.get(function, "desc", desc, &how));
    if (results == nullptr || returned == nullptr)
      return refuse_null(function, results == nullptr ? "results" : "returned");
    if (requested < 1) {
      return refuse(CNNL_STATUS_BAD_PARAM, "%s: requested: expected at least 1, got %d", function, requested);
    }
    *returned = 1;
    return CNNL_STATUS_SUCCESS;
  });
}

cnnlStatus_t cnnlMatMul_v2(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlMatMulAlgo_t, const void *alpha,
                           cnnlTensorDescriptor_t a_desc, const void *a, cnnlTensorDescriptor_t b_desc, const void *b,
                           const void *beta, cnnlTensorDescriptor_t c_desc, void *c, void *, size_t,
                           cnnlTensorDescriptor_t d_desc, void *d) {
  return guarded(__func__, [&](const char *function) {
    return mat_mul(function, handle, desc, a_desc, b_desc, c_desc, d_desc, {{}, a, float_at(alpha, 1)}, {{}, b, 1},
                   {{}, c, float_at(beta, 0)}, d);
  });
}
