// Numbers in the elements of tensors, for calls that compute.
#ifndef CNNL_ARITHMETIC_H_
#define CNNL_ARITHMETIC_H_

#include "tensor.h"

namespace cnnl {

// A tensor in device memory, and its factor.
struct Term {
  Tensor tensor;
  const void *data;
  double factor;
};

// Repeats the tensor along dims of 1 and missing leading dims, so that it has the dims `dims`.
cnnlStatus_t repeat(const char *function, const char *argument, const Dims &dims, Tensor *tensor);

inline double float_at(const void *value, double otherwise) {
  return value != nullptr ? static_cast<double>(*static_cast<const float *>(value)) : otherwise;
}

inline cnnlStatus_t check_numbers(const char *function, const char *argument, const Tensor &tensor) {
  if (is_real(tensor.dtype) || (is_integer(tensor.dtype) && tensor.size <= 4)) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_NOT_SUPPORTED,
                "%s: %s: expected half, bfloat16, float, double or integers of at most 32 bits, got the data type %d",
                function, argument, static_cast<int>(tensor.dtype));
}

inline double at(const Tensor &tensor, const Elements &elements, std::int64_t i) {
  return number_at<double>(tensor.dtype, elements.data() + static_cast<std::size_t>(i) * tensor.size);
}

inline void put(const Tensor &tensor, Elements *elements, std::int64_t i, double value) {
  unsigned char *place = elements->data() + static_cast<std::size_t>(i) * tensor.size;
  if (is_integer(tensor.dtype)) {  // the product of any two is exact
    put_number(tensor.dtype, place, static_cast<std::int64_t>(value));
  } else {
    put_number(tensor.dtype, place, value);
  }
}

}  // namespace cnnl

#endif  // CNNL_ARITHMETIC_H_
