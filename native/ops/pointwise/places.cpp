#include "ops/pointwise/places.h"

namespace mluops {
namespace pointwise {
namespace {

// The dims of a tensor that have more than one element, from the largest stride to the smallest.
struct Order {
  explicit Order(const mluOpTensorStruct &desc) {
    for (int dim = 0; dim < desc.rank; ++dim) {
      if (desc.dims[dim] == 1) continue;
      int place = count++;
      for (; place > 0 && desc.strides[dims[place - 1]] < desc.strides[dim]; --place) dims[place] = dims[place - 1];
      dims[place] = dim;
    }
  }
  int count = 0;
  int dims[MLUOP_DIM_MAX] = {};
};

// How many elements lie between the first one and the end of the last one; false if that, in
// bytes, is no number of 63 bits. No stride is negative.
bool span_of(const mluOpTensorStruct &desc, std::int64_t *span) {
  std::int64_t last = 0;
  for (int dim = 0; dim < desc.rank && desc.count > 0; ++dim) {
    std::int64_t step;
    if (__builtin_mul_overflow(desc.dims[dim] - 1, desc.strides[dim], &step) ||
        __builtin_add_overflow(last, step, &last))
      return false;
  }
  std::int64_t bytes;
  *span = desc.count > 0 ? last + 1 : 0;
  return last < INT64_MAX && !__builtin_mul_overflow(*span, static_cast<std::int64_t>(size_of(desc.dtype)), &bytes);
}

std::int64_t bytes_of(const mluOpTensorStruct &desc) {
  std::int64_t span = 0;
  span_of(desc, &span);
  return span * static_cast<std::int64_t>(size_of(desc.dtype));
}

bool is_dense(const mluOpTensorStruct &desc) {
  const Order order(desc);
  std::int64_t expected = 1;
  for (int i = order.count - 1; i >= 0; --i) {
    if (desc.strides[order.dims[i]] != expected) return false;
    expected *= desc.dims[order.dims[i]];
  }
  return true;
}

bool same_places(const mluOpTensorStruct &one, const mluOpTensorStruct &other) {
  if (one.rank != other.rank) return false;
  for (int dim = 0; dim < one.rank; ++dim) {
    if (one.dims[dim] != other.dims[dim] || (one.dims[dim] != 1 && one.strides[dim] != other.strides[dim]))
      return false;
  }
  return true;
}

// Whether each stride leads past all elements of the smaller ones, so that no two share memory. Few
// layouts without shared memory do not have that.
bool are_apart(const mluOpTensorStruct &desc) {
  const Order order(desc);
  std::int64_t behind = 0;
  for (int i = order.count - 1; i >= 0; --i) {
    const int dim = order.dims[i];
    if (desc.strides[dim] <= behind) return false;
    behind += (desc.dims[dim] - 1) * desc.strides[dim];
  }
  return true;
}

Text strides_of(const TensorArgument &tensor) {
  return Text::format("a strided tensor %s", describe(tensor.desc).c_str());
}

}  // namespace

mluOpStatus_t need_same_dense(const char *function, std::initializer_list<TensorArgument> tensors) {
  bool strided = false;
  for (const TensorArgument &tensor : tensors) strided = strided || !tensor.desc->packed();
  const TensorArgument *first = nullptr;
  for (const TensorArgument &tensor : tensors) {
    if (!strided || tensor.desc->count == 1) continue;
    if (first == nullptr) first = &tensor;
    MLUOPS_REQUIRE(is_dense(*tensor.desc) && same_places(*tensor.desc, *first->desc), MLUOP_STATUS_NOT_SUPPORTED,
                   function, tensor.name, Text::format("strides without gaps like those of %s", first->name),
                   strides_of(tensor));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_places(const char *function, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    if (tensor.desc->count == 0) continue;
    for (int dim = 0; dim < tensor.desc->rank; ++dim) {
      MLUOPS_REQUIRE(tensor.desc->dims[dim] == 1 || tensor.desc->strides[dim] >= 0, MLUOP_STATUS_NOT_SUPPORTED,
                     function, tensor.name, "strides that are not negative", strides_of(tensor));
    }
    std::int64_t span;
    MLUOPS_REQUIRE(span_of(*tensor.desc, &span), MLUOP_STATUS_NOT_SUPPORTED, function, tensor.name,
                   "strides within 2^63 bytes", strides_of(tensor));
  }
  const TensorArgument &result = tensors.end()[-1];
  MLUOPS_REQUIRE(result.desc->count == 0 || are_apart(*result.desc), MLUOP_STATUS_NOT_SUPPORTED, function, result.name,
                 "strides that are each larger than the span of the smaller ones", strides_of(result));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_own_memory(const char *function, std::initializer_list<TensorArgument> tensors) {
  const TensorArgument &result = tensors.end()[-1];
  for (const TensorArgument *input = tensors.begin(); input != tensors.end() - 1; ++input) {
    const bool in_place = input->data == result.data && input->desc->dtype == result.desc->dtype &&
                          same_places(*input->desc, *result.desc);
    if (in_place) continue;
    MLUOPS_TRY(require_no_overlap(function, result.name, result.data, bytes_of(*result.desc), input->name, input->data,
                                  bytes_of(*input->desc)));
  }
  return MLUOP_STATUS_SUCCESS;
}

void set_places(std::initializer_list<TensorArgument> tensors, PointwiseProblem *problem) {
  const TensorArgument *const all = tensors.begin();
  const int operands = static_cast<int>(tensors.size());
  const mluOpTensorStruct &result = *all[operands - 1].desc;
  const Order order(result);
  problem->operands = operands;
  problem->count = result.count;
  problem->rank = 0;
  for (int i = 0; i < order.count; ++i) {
    const int dim = order.dims[i];
    std::int64_t strides[kMostOperands];
    for (int k = 0; k < operands; ++k) {
      const mluOpTensorStruct &desc = *all[k].desc;
      const int own = dim - (result.rank - desc.rank);
      strides[k] = own < 0 || desc.dims[own] == 1 ? 0 : desc.strides[own];
    }
    const int before = problem->rank - 1;
    bool joined = before >= 0;
    for (int k = 0; k < operands && joined; ++k) joined = problem->strides[k][before] == strides[k] * result.dims[dim];
    const int place = joined ? before : problem->rank++;
    problem->dims[place] = joined ? problem->dims[place] * result.dims[dim] : result.dims[dim];
    for (int k = 0; k < operands; ++k) problem->strides[k][place] = strides[k];
  }
  if (problem->rank == 0) {
    problem->rank = 1;
    problem->dims[0] = 1;
    for (int k = 0; k < operands; ++k) problem->strides[k][0] = 1;
  }
  for (int k = 0; k + 1 < operands; ++k) problem->in[k] = all[k].data;
  problem->out = const_cast<void *>(all[operands - 1].data);
}

}  // namespace pointwise
}  // namespace mluops
