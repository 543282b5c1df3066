#include "core/check.h"

#include <cstdio>

namespace mluops {
namespace {

constexpr std::int64_t kIndexableElements = std::int64_t{1} << 31;

long long wide(std::int64_t value) { return static_cast<long long>(value); }

// Parameter name of a tensor's descriptor, for example "input_desc".
struct DescriptorName {
  char text[64];
  explicit DescriptorName(const char *tensor) { std::snprintf(text, sizeof text, "%s_desc", tensor); }
};

Text dim_text(const TensorArgument &tensor, int dim) {
  return Text::format("%lld in %s", wide(tensor.desc->dims[dim]), describe(tensor.desc).c_str());
}

}  // namespace

Text describe(mluOpTensorDescriptor_t desc) {
  char shape[160] = "";
  std::size_t used = 0;
  for (int i = 0; i < desc->rank && used < sizeof shape; ++i) {
    used += static_cast<std::size_t>(
        std::snprintf(shape + used, sizeof shape - used, i == 0 ? "%lld" : ", %lld", wide(desc->dims[i])));
  }
  return Text::format("[%s] %s", shape, name_of(desc->dtype));
}

mluOpStatus_t need_pointer(const char *function, const char *argument, const void *pointer) {
  MLUOPS_REQUIRE(pointer != nullptr, MLUOP_STATUS_BAD_PARAM, function, argument, "a pointer", "NULL");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_at_least(const char *function, const char *argument, int value, int least) {
  MLUOPS_REQUIRE(value >= least, MLUOP_STATUS_BAD_PARAM, function, argument, Text::format("at least %d", least),
                 Text::format("%d", value));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_between(const char *function, const char *argument, int value, int least, int most) {
  MLUOPS_REQUIRE(value >= least && value <= most, MLUOP_STATUS_BAD_PARAM, function, argument,
                 least == most ? Text::format("%d", least) : Text::format("%d to %d", least, most),
                 Text::format("%d", value));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_handle(const char *function, mluOpHandle_t handle) {
  MLUOPS_REQUIRE(alive(handle), MLUOP_STATUS_BAD_PARAM, function, "handle", "a handle from mluOpCreate",
                 handle == nullptr ? "NULL" : "a destroyed handle or something else");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_descriptor(const char *function, const char *argument, mluOpTensorDescriptor_t desc) {
  MLUOPS_REQUIRE(alive(desc), MLUOP_STATUS_BAD_PARAM, function, argument, "a tensor descriptor",
                 desc == nullptr ? "NULL" : "a destroyed descriptor or something else");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_descriptors(const char *function, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    // Formatting the name takes longer than all other checks, so it is done only on failure.
    if (!alive(tensor.desc)) return need_descriptor(function, DescriptorName(tensor.name).text, tensor.desc);
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_descriptors_or_null(const char *function, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    if (tensor.desc != nullptr) MLUOPS_TRY(need_descriptors(function, {tensor}));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_rank(const char *function, const TensorArgument &tensor, int rank, const char *meaning) {
  MLUOPS_REQUIRE(tensor.desc->rank == rank, MLUOP_STATUS_BAD_PARAM, function, DescriptorName(tensor.name).text,
                 Text::format("%d dim%s %s", rank, rank == 1 ? "" : "s", meaning),
                 Text::format("%d: %s", tensor.desc->rank, describe(tensor.desc).c_str()));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_dim(const char *function, const TensorArgument &tensor, int dim, const char *symbol,
                       std::int64_t expected) {
  MLUOPS_REQUIRE(tensor.desc->dims[dim] == expected, MLUOP_STATUS_BAD_PARAM, function, DescriptorName(tensor.name).text,
                 Text::format("dim %d = %s = %lld", dim, symbol, wide(expected)), dim_text(tensor, dim));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_same_dim(const char *function, const TensorArgument &tensor, int dim, const TensorArgument &other,
                            int other_dim) {
  MLUOPS_REQUIRE(
      tensor.desc->dims[dim] == other.desc->dims[other_dim], MLUOP_STATUS_BAD_PARAM, function,
      DescriptorName(tensor.name).text,
      Text::format("dim %d = dim %d of %s = %lld", dim, other_dim, other.name, wide(other.desc->dims[other_dim])),
      dim_text(tensor, dim));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_same_shape(const char *function, const TensorArgument &tensor, const TensorArgument &other) {
  bool same = tensor.desc->rank == other.desc->rank;
  for (int i = 0; same && i < tensor.desc->rank; ++i) same = tensor.desc->dims[i] == other.desc->dims[i];
  MLUOPS_REQUIRE(same, MLUOP_STATUS_BAD_PARAM, function, DescriptorName(tensor.name).text,
                 Text::format("the shape of %s, %s", other.name, describe(other.desc).c_str()), describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_nonzero_dim(const char *function, const TensorArgument &tensor, int dim, const char *symbol) {
  MLUOPS_REQUIRE(tensor.desc->dims[dim] != 0, MLUOP_STATUS_BAD_PARAM, function, DescriptorName(tensor.name).text,
                 Text::format("dim %d = %s > 0", dim, symbol), dim_text(tensor, dim));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_elements(const char *function, const TensorArgument &tensor) {
  MLUOPS_REQUIRE(tensor.desc->count != 0, MLUOP_STATUS_BAD_PARAM, function, DescriptorName(tensor.name).text,
                 "at least one element", describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_dtype(const char *function, const TensorArgument &tensor, mluOpDataType_t dtype) {
  MLUOPS_REQUIRE(tensor.desc->dtype == dtype, MLUOP_STATUS_BAD_PARAM, function, DescriptorName(tensor.name).text,
                 name_of(dtype), describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_float(const Entry &entry, const TensorArgument &tensor) {
  return need_dtype(entry, tensor, entry.in_double ? MLUOP_DTYPE_DOUBLE : MLUOP_DTYPE_FLOAT);
}

mluOpStatus_t need_float_or_half(const Entry &entry, const TensorArgument &tensor) {
  if (entry.in_double) return need_dtype(entry, tensor, MLUOP_DTYPE_DOUBLE);
  MLUOPS_REQUIRE(tensor.desc->dtype == MLUOP_DTYPE_FLOAT || tensor.desc->dtype == MLUOP_DTYPE_HALF,
                 MLUOP_STATUS_BAD_PARAM, entry, DescriptorName(tensor.name).text, "float or half",
                 describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_real(const char *function, const TensorArgument &tensor) {
  if (tensor.desc->dtype == MLUOP_DTYPE_DOUBLE) return MLUOP_STATUS_SUCCESS;
  MLUOPS_REQUIRE(tensor.desc->dtype == MLUOP_DTYPE_FLOAT || tensor.desc->dtype == MLUOP_DTYPE_HALF,
                 MLUOP_STATUS_BAD_PARAM, function, DescriptorName(tensor.name).text, "half, float or double",
                 describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_same_dtype(const char *function, const TensorArgument &tensor, const TensorArgument &other) {
  MLUOPS_REQUIRE(tensor.desc->dtype == other.desc->dtype, MLUOP_STATUS_BAD_PARAM, function,
                 DescriptorName(tensor.name).text,
                 Text::format("the dtype of %s, %s", other.name, name_of(other.desc->dtype)), describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_layout(const char *function, const TensorArgument &tensor, mluOpTensorLayout_t layout) {
  MLUOPS_REQUIRE(tensor.desc->layout == layout, MLUOP_STATUS_BAD_PARAM, function, DescriptorName(tensor.name).text,
                 Text::format("layout %s", name_of(layout)), Text::format("layout %s", name_of(tensor.desc->layout)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_packed(const char *function, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    MLUOPS_REQUIRE(tensor.desc->packed(), MLUOP_STATUS_NOT_SUPPORTED, function, DescriptorName(tensor.name).text,
                   "packed strides", Text::format("a strided tensor %s", describe(tensor.desc).c_str()));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_indexable(const char *function, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    MLUOPS_REQUIRE(tensor.desc->count < kIndexableElements, MLUOP_STATUS_NOT_SUPPORTED, function,
                   DescriptorName(tensor.name).text, "fewer than 2^31 elements", describe(tensor.desc));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_data(const char *function, std::initializer_list<TensorArgument> tensors) {
  for (const TensorArgument &tensor : tensors) {
    MLUOPS_TRY(need_pointer(function, tensor.name, tensor.data));
    const std::uintptr_t misplaced = reinterpret_cast<std::uintptr_t>(tensor.data) % size_of(tensor.desc->dtype);
    MLUOPS_REQUIRE(misplaced == 0, MLUOP_STATUS_BAD_PARAM, function, tensor.name,
                   Text::format("an address aligned to %s", name_of(tensor.desc->dtype)),
                   Text::format("%p", tensor.data));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t require_no_overlap(const char *function, const char *argument, const void *data, std::int64_t bytes,
                                 const char *other_argument, const void *other, std::int64_t other_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto other_begin = reinterpret_cast<std::uintptr_t>(other);
  const bool overlap = bytes > 0 && other_bytes > 0 && begin < other_begin + static_cast<std::uintptr_t>(other_bytes) &&
                       other_begin < begin + static_cast<std::uintptr_t>(bytes);
  MLUOPS_REQUIRE(!overlap, MLUOP_STATUS_BAD_PARAM, function, argument, "memory of its own",
                 Text::format("bytes that belong to %s too", other_argument));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t require_no_overlap(const char *function, std::initializer_list<TensorArgument> outputs,
                                 std::initializer_list<TensorArgument> inputs) {
  for (const TensorArgument *output = outputs.begin(); output != outputs.end(); ++output) {
    for (const TensorArgument &input : inputs) {
      MLUOPS_TRY(require_no_overlap(function, output->name, output->data, output->desc->bytes(), input.name, input.data,
                                    input.desc->bytes()));
    }
    for (const TensorArgument *earlier = outputs.begin(); earlier != output; ++earlier) {
      MLUOPS_TRY(require_no_overlap(function, output->name, output->data, output->desc->bytes(), earlier->name,
                                    earlier->data, earlier->desc->bytes()));
    }
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops
