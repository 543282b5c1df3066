// Reductions over axes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "objects.h"
#include "work.h"

namespace cnnl {
namespace {

struct Reduce {
  std::vector<int> axes;
  cnnlReduceOp_t op = CNNL_REDUCE_ADD;
  cnnlReduceIndices_t indices = CNNL_REDUCE_NO_INDICES;
};

auto &g_reduces = *new Objects<Reduce, cnnlReduceDescriptor_t>("desc");

// ---- Numbers ------------------------------------------------------------------------------------

double greater(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double lesser(double a, double b) { return std::isnan(a) || a < b ? a : b; }
std::int64_t greater(std::int64_t a, std::int64_t b) { return std::max(a, b); }
std::int64_t lesser(std::int64_t a, std::int64_t b) { return std::min(a, b); }

// Integers wrap around.
double add(double a, double b) { return a + b; }
std::int64_t add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
double multiply(double a, double b) { return a * b; }
std::int64_t multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

template <typename Number>
Number first_of(cnnlReduceOp_t op) {
  switch (op) {
    case CNNL_REDUCE_MUL:
    case CNNL_REDUCE_AND:
      return 1;
    case CNNL_REDUCE_MAX:
      return std::numeric_limits<Number>::has_infinity ? -std::numeric_limits<Number>::infinity()
                                                       : std::numeric_limits<Number>::min();
    case CNNL_REDUCE_MIN:
      return std::numeric_limits<Number>::has_infinity ? std::numeric_limits<Number>::infinity()
                                                       : std::numeric_limits<Number>::max();
    default:
      return 0;
  }
}

template <typename Number>
Number combined(cnnlReduceOp_t op, Number sum, Number value) {
  switch (op) {
    case CNNL_REDUCE_MUL:
      return multiply(sum, value);
    case CNNL_REDUCE_MAX:
      return greater(sum, value);
    case CNNL_REDUCE_MIN:
      return lesser(sum, value);
    case CNNL_REDUCE_AND:
      return sum != 0 && value != 0 ? 1 : 0;
    case CNNL_REDUCE_OR:
      return sum != 0 || value != 0 ? 1 : 0;
    case CNNL_REDUCE_NORM1:
      return add(sum, value < 0 ? -value : value);
    case CNNL_REDUCE_NORM2:
      return add(sum, multiply(value, value));
    default:
      return add(sum, value);
  }
}

template <typename Number>
Number finished(cnnlReduceOp_t op, Number sum, std::int64_t count) {
  if (op == CNNL_REDUCE_AVG) return sum / static_cast<Number>(count);
  if (op == CNNL_REDUCE_NORM2) return static_cast<Number>(std::sqrt(static_cast<double>(sum)));
  return sum;
}

// ---- The work -----------------------------------------------------------------------------------

// The input with the kept dims before the reduced ones, so that each result comes from consecutive
// elements.
struct Job {
  Tensor from, to;
  cnnlReduceOp_t op;
  std::int64_t run;  // elements per result
  double alpha, beta;
};

struct Room {
  Elements elements, before, result;
};

template <typename Number>
void reduce_runs(const Job &job, Room *room) {
  for (std::int64_t i = 0; i < job.to.count; ++i) {
    Number sum = first_of<Number>(job.op);
    const unsigned char *at = room->elements.data() + static_cast<std::size_t>(i * job.run) * job.from.size;
    for (std::int64_t j = 0; j < job.run; ++j, at += job.from.size) {
      sum = combined(job.op, sum, number_at<Number>(job.from.dtype, at));
    }
    sum = job.run == 0 ? sum : finished(job.op, sum, job.run);
    const std::size_t place = static_cast<std::size_t>(i) * job.to.size;
    if (job.alpha != 1 || job.beta != 0) {
      const double before = job.beta != 0 ? number_at<double>(job.to.dtype, room->before.data() + place) : 0;
      sum = static_cast<Number>(job.alpha * static_cast<double>(sum) + job.beta * before);
    }
    put_number(job.to.dtype, room->result.data() + place, sum);
  }
}

cnnlStatus_t check_op(const char *function, const Reduce &how, const Tensor &from) {
  const bool integer = is_integer(from.dtype);
  if (how.indices != CNNL_REDUCE_NO_INDICES) {
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: desc: expected no indices", function);
  }
  const bool norm = how.op == CNNL_REDUCE_NORM1 || how.op == CNNL_REDUCE_NORM2;
  if ((!integer && !is_real(from.dtype)) || from.dtype == CNNL_DTYPE_UINT64 || (integer && norm)) {
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: input: the reduction %d does not take the data type %d", function,
                  static_cast<int>(how.op), static_cast<int>(from.dtype));
  }
  return CNNL_STATUS_SUCCESS;
}

// Puts the reduced dims last, and checks the dims of the output, in which reduced dims are 1 or
// absent.
cnnlStatus_t make_job(const char *function, const Reduce &how, const Tensor &from, const Tensor &to, Job *job) {
  std::vector<bool> reduced(from.dims.size(), false);
  for (int axis : how.axes) {
    CNNL_TRY(check_axis(function, "axes of desc", from.rank(), &axis));
    reduced[static_cast<std::size_t>(axis)] = true;
  }
  Tensor turned = from;
  Dims kept, with_ones, strides;
  turned.dims.clear();
  for (const bool last : {false, true}) {
    for (std::size_t d = 0; d < from.dims.size(); ++d) {
      if (reduced[d] != last) continue;
      turned.dims.push_back(from.dims[d]);
      strides.push_back(from.strides[d]);
    }
    if (!last) kept = turned.dims;
  }
  for (std::size_t d = 0; d < from.dims.size(); ++d) with_ones.push_back(reduced[d] ? 1 : from.dims[d]);
  if (to.dims != with_ones && !(kept.empty() && to.count == 1)) CNNL_TRY(check_dims(function, "output", to, kept));
  CNNL_TRY(check_same_type(function, "output", to, from));
  turned.strides = strides;
  turned.dense = false;
  *job = {turned, to, how.op, product(turned.dims, kept.size(), turned.dims.size()), 1, 0};
  return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t reduce(const char *function, cnnlHandle_t handle, cnnlReduceDescriptor_t desc,
                    cnnlTensorDescriptor_t input_desc, const void *input, const float *alpha, const float *beta,
                    cnnlTensorDescriptor_t output_desc, void *output) {
  Reduce how;
  Tensor from, to;
  Job job;
  CNNL_TRY(g_reduces.get(function, "desc", desc, &how));
  CNNL_TRY(get_operand(function, "input", input_desc, input, &from));
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  CNNL_TRY(check_op(function, how, from));
  CNNL_TRY(make_job(function, how, from, to, &job));
  if (alpha != nullptr) job.alpha = static_cast<double>(*alpha);
  if (beta != nullptr) job.beta = static_cast<double>(*beta);
  auto room = std::make_shared<Room>();
  room->elements.resize(from.bytes());
  room->before.resize(to.bytes());
  room->result.resize(to.bytes());
  return enqueue(function, handle, [=] {
    load(job.from, input, &room->elements);
    if (job.beta != 0) load(job.to, output, &room->before);
    if (is_integer(job.from.dtype)) {
      reduce_runs<std::int64_t>(job, room.get());
    } else {
      reduce_runs<double>(job, room.get());
    }
    store(job.to, output, room->result);
  });
}

cnnlStatus_t set(const char *function, cnnlReduceDescriptor_t desc, const int *axes, int axis_count, cnnlReduceOp_t op,
                 cnnlReduceIndices_t indices) {
  if (axis_count < 0 || axis_count > CNNL_DIM_MAX) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: axis_count: expected 0 to %d, got %d", function, CNNL_DIM_MAX,
                  axis_count);
  }
  if (axis_count > 0 && axes == nullptr) return refuse_null(function, "axes");
  if (op < CNNL_REDUCE_ADD || op > CNNL_REDUCE_NORM2) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: op: expected 0 to 8, got %d", function, static_cast<int>(op));
  }
  const Reduce wanted = {std::vector<int>(axes, axes + axis_count), op, indices};
  return g_reduces.with(function, "desc", desc, [&wanted](Reduce &found) {
    found = wanted;
    return CNNL_STATUS_SUCCESS;
  });
}

}  // namespace
}  // namespace cnnl

using namespace cnnl;

cnnlStatus_t cnnlCreateReduceDescriptor(cnnlReduceDescriptor_t *desc) {
  return guarded(__func__, [&](const char *function) { return g_reduces.create(function, desc); });
}

cnnlStatus_t cnnlDestroyReduceDescriptor(cnnlReduceDescriptor_t desc) {
  return guarded(__func__, [&](const char *function) { return g_reduces.destroy(function, desc); });
}

cnnlStatus_t cnnlSetReduceDescriptor(cnnlReduceDescriptor_t desc, int axes[], int axis_count, cnnlReduceOp_t op,
                                     cnnlDataType_t, cnnlNanPropagation_t, cnnlReduceIndices_t indices,
                                     cnnlIndicesType_t) {
  return guarded(__func__, [&](const char *function) { return set(function, desc, axes, axis_count, op, indices); });
}

cnnlStatus_t cnnlSetReduceDescriptor_v2(cnnlReduceDescriptor_t desc, int axes[], int axis_count, cnnlReduceOp_t op,
                                        cnnlDataType_t, cnnlNanPropagation_t, cnnlReduceIndices_t indices,
                                        cnnlIndicesType_t, float) {
  return guarded(__func__, [&](const char *function) { return set(function, desc, axes, axis_count, op, indices); });
}

cnnlStatus_t cnnlGetReduceOpWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                          cnnlReduceDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlGetReduceOpWorkspaceSize_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                             cnnlTensorDescriptor_t, cnnlReduceDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlReduce_v2(cnnlHandle_t handle, cnnlReduceDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void *input, const void *alpha, const void *beta, void *, size_t,
                           cnnlTensorDescriptor_t output_desc, void *output, cnnlTensorDescriptor_t, void *) {
  return guarded(__func__, [&](const char *function) {
    return reduce(function, handle, desc, input_desc, input, static_cast<const float *>(alpha),
                  static_cast<const float *>(beta), output_desc, output);
  });
}
