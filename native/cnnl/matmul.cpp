// Products of matrices.
#include <algorithm>

#include "arithmetic.h"
#include "objects.h"
#include "work.h"

namespace cnnl {
namespace {

struct MatMul {
  bool transposes_a = false, transposes_b = false, uses_beta = false;
};

struct Nothing {};

auto &g_mat_muls = *new Objects<MatMul, cnnlMatMulDescriptor_t>("desc");
auto &g_algorithms = *new Objects<Nothing, cnnlMatMulAlgo_t>("algo");
auto &g_results = *new Objects<Nothing, cnnlMatMulHeuristicResult_t>("result");

enum class Batches {
  kNone,    // each operand is one matrix
  kLeading  // all dims but the last two count matrices
};

cnnlStatus_t get_matrix(const char *function, const char *argument, cnnlTensorDescriptor_t desc, bool transposed,
                        Batches batches, Term *matrix) {
  CNNL_TRY(get_operand(function, argument, desc, matrix->data, &matrix->tensor));
  CNNL_TRY(check_numbers(function, argument, matrix->tensor));
  Tensor &tensor = matrix->tensor;
  if (tensor.rank() < 2 || (batches == Batches::kNone && tensor.rank() > 2)) {
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: %s: expected %s2 dims, got %d", function, argument,
                  batches == Batches::kNone ? "" : "at least ", tensor.rank());
  }
  if (transposed) {
    std::swap(tensor.dims.rbegin()[0], tensor.dims.rbegin()[1]);
    std::swap(tensor.strides.rbegin()[0], tensor.strides.rbegin()[1]);
    tensor.dense = false;
  }
  return CNNL_STATUS_SUCCESS;
}

// Returns the dims `leading` and those of a matrix.
Dims with_matrix(Dims leading, std::int64_t rows, std::int64_t columns) {
  leading.push_back(rows);
  leading.push_back(columns);
  return leading;
}

cnnlStatus_t mat_mul(const char *function, cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                     cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc, cnnlTensorDescriptor_t c_desc,
                     cnnlTensorDescriptor_t d_desc, Batches batches, Term a, Term b, Term c, void *d) {
  MatMul how;
  Term result = {{}, d, 1};
  CNNL_TRY(g_mat_muls.get(function, "desc", desc, &how));
  CNNL_TRY(get_matrix(function, "a", a_desc, how.transposes_a, batches, &a));
  CNNL_TRY(get_matrix(function, "b", b_desc, how.transposes_b, batches, &b));
  CNNL_TRY(get_matrix(function, "d", d_desc, false, batches, &result));
  const Dims leading(result.tensor.dims.begin(), result.tensor.dims.end() - 2);
  const std::int64_t rows = a.tensor.dims.rbegin()[1], depth = a.tensor.dims.rbegin()[0];
  const std::int64_t columns = b.tensor.dims.rbegin()[0];
  CNNL_TRY(repeat(function, "a", with_matrix(leading, rows, depth), &a.tensor));
  CNNL_TRY(repeat(function, "b", with_matrix(leading, depth, columns), &b.tensor));
  CNNL_TRY(check_dims(function, "d", result.tensor, with_matrix(leading, rows, columns)));
  if (!how.uses_beta) c.factor = 0;
  if (c.factor != 0) {
    CNNL_TRY(get_matrix(function, "c", c_desc, false, batches, &c));
    CNNL_TRY(check_dims(function, "c", c.tensor, result.tensor.dims));
  }
  return enqueue(function, handle,
                 [=, to = result.tensor, x = room_for(a.tensor), y = room_for(b.tensor), z = room_for(c.tensor),
                  room = room_for(result.tensor)] {
                   load(a.tensor, a.data, x.get());
                   load(b.tensor, b.data, y.get());
                   if (c.factor != 0) load(c.tensor, c.data, z.get());
                   for (std::int64_t i = 0; i < to.count; ++i) {
                     const std::int64_t row = i / columns, column = i % columns;  // rows of all matrices
                     const std::int64_t first = row / rows * depth;               // the row of b
                     double sum = 0;
                     for (std::int64_t k = 0; k < depth; ++k) {
                       sum += at(a.tensor, *x, row * depth + k) * at(b.tensor, *y, (first + k) * columns + column);
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
    return mat_mul(function, handle, desc, a_desc, b_desc, c_desc, d_desc, Batches::kNone, {{}, a, float_at(alpha, 1)},
                   {{}, b, 1}, {{}, c, float_at(beta, 0)}, d);
  });
}

cnnlStatus_t cnnlGetBatchMatMulExAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                                               cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc,
                                               cnnlTensorDescriptor_t c_desc, void *preference, int requested,
                                               cnnlMatMulHeuristicResult_t results[], int *returned) {
  return cnnlGetMatMulAlgoHeuristic(handle, desc, a_desc, b_desc, c_desc, c_desc, preference, requested, results,
                                    returned);
}

cnnlStatus_t cnnlGetBatchMatMulExHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo,
                                                 size_t *workspace_size) {
  return cnnlGetMatMulHeuristicResult(result, algo, workspace_size);
}

cnnlStatus_t cnnlGetBatchMatMulAlgoHeuristic(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc,
                                             cnnlTensorDescriptor_t a_desc, cnnlTensorDescriptor_t b_desc,
                                             cnnlTensorDescriptor_t c_desc, void *preference, int requested,
                                             cnnlMatMulHeuristicResult_t results[], int *returned) {
  return cnnlGetMatMulAlgoHeuristic(handle, desc, a_desc, b_desc, c_desc, c_desc, preference, requested, results,
                                    returned);
}

cnnlStatus_t cnnlGetBatchMatMulHeuristicResult(cnnlMatMulHeuristicResult_t result, cnnlMatMulAlgo_t algo,
                                               size_t *workspace_size) {
  return cnnlGetMatMulHeuristicResult(result, algo, workspace_size);
}

cnnlStatus_t cnnlBatchMatMulEx(cnnlHandle_t handle, cnnlMatMulDescriptor_t desc, cnnlMatMulAlgo_t, const void *alpha,
                               cnnlTensorDescriptor_t a_desc, const void *a, cnnlTensorDescriptor_t b_desc,
                               const void *b, const void *beta, cnnlTensorDescriptor_t c_desc, void *c, void *,
                               size_t) {
  return guarded(__func__, [&](const char *function) {
    return mat_mul(function, handle, desc, a_desc, b_desc, c_desc, c_desc, Batches::kLeading,
                   {{}, a, float_at(alpha, 1)}, {{}, b, 1}, {{}, c, float_at(beta, 0)}, c);
  });
}
