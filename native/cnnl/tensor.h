// Tensors: the contents of a descriptor, and the elements in device memory.
#ifndef CNNL_TENSOR_H_
#define CNNL_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "reason.h"

namespace cnnl {

using Dims = std::vector<std::int64_t>;
// Elements in host memory, in the order of their indices, without gaps.
using Elements = std::vector<unsigned char>;

struct Tensor {
  cnnlTensorLayout_t layout = CNNL_LAYOUT_ARRAY;
  cnnlDataType_t dtype = CNNL_DTYPE_INVALID;
  std::size_t size = 0;  // of an element
  Dims dims;
  Dims strides;  // in elements
  std::int64_t count = 0;
  bool dense = true;  // without gaps

  std::size_t bytes() const { return static_cast<std::size_t>(count) * size; }
  int rank() const { return static_cast<int>(dims.size()); }
};

// Returns 0 if there is no such type, or if its size is not fixed.
std::size_t size_of(cnnlDataType_t dtype);
bool is_integer(cnnlDataType_t dtype);
bool is_real(cnnlDataType_t dtype);

// The product of dims [begin, end).
std::int64_t product(const Dims &dims, std::size_t begin, std::size_t end);

// ---- Arguments ----------------------------------------------------------------------------------

// Reads a descriptor.
cnnlStatus_t get_tensor(const char *function, const char *argument, cnnlTensorDescriptor_t desc, Tensor *tensor);
// The same, and checks the pointer to the data, which must not be NULL unless there are no
// elements.
cnnlStatus_t get_operand(const char *function, const char *argument, cnnlTensorDescriptor_t desc, const void *data,
                         Tensor *tensor);
cnnlStatus_t check_same_type(const char *function, const char *argument, const Tensor &tensor, const Tensor &other);
cnnlStatus_t check_dims(const char *function, const char *argument, const Tensor &tensor, const Dims &dims);
cnnlStatus_t check_index_type(const char *function, const char *argument, const Tensor &tensor);
// An axis, from -rank to rank - 1, made positive.
cnnlStatus_t check_axis(const char *function, const char *argument, int rank, int *axis);
// Sets the size of a workspace, which is 0.
cnnlStatus_t no_workspace(const char *function, cnnlHandle_t handle, std::size_t *size);

// ---- Work in the handle's queue -----------------------------------------------------------------

cnnlStatus_t get_queue(const char *function, cnnlHandle_t handle, cnrtQueue_t *queue);

// Reads all elements, from the device.
void load(const Tensor &tensor, const void *data, Elements *elements);
// Writes all elements.
void store(const Tensor &tensor, void *data, const Elements &elements);

// Allocates elements of a tensor, to be shared with the work that fills them.
inline std::shared_ptr<Elements> room_for(const Tensor &tensor) { return std::make_shared<Elements>(tensor.bytes()); }

// ---- Numbers ------------------------------------------------------------------------------------

// The number type of arithmetic: double, or std::int64_t.
template <typename Number>
Number number_at(cnnlDataType_t dtype, const unsigned char *element);
template <typename Number>
void put_number(cnnlDataType_t dtype, unsigned char *element, Number value);

// An index of int32 or int64.
inline std::int64_t index_at(const Tensor &tensor, const Elements &elements, std::int64_t i) {
  return number_at<std::int64_t>(tensor.dtype, elements.data() + static_cast<std::size_t>(i) * tensor.size);
}

}  // namespace cnnl

#endif  // CNNL_TENSOR_H_
