// Slices with steps.
#include <string>

#include "work.h"

namespace cnnl {
namespace {

// Replaces one dim of the tensor by the elements begin, begin + step, ... before `end`. Negative
// numbers count from the end, as in NumPy; `*offset` grows by the place of the first element.
cnnlStatus_t take_slice(const char *function, std::size_t d, std::int64_t begin, std::int64_t end, std::int64_t step,
                        Tensor *tensor, std::int64_t *offset) {
  const std::int64_t dim = tensor->dims[d];
  if (step == 0) return refuse(CNNL_STATUS_BAD_PARAM, "%s: stride[%zu]: expected another number than 0", function, d);
  if (begin < 0) begin += dim;
  if (end < 0) end += dim;
  const std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? dim : dim - 1;
  begin = begin < least ? least : begin > most ? most : begin;
  end = end < least ? least : end > most ? most : end;
  const std::int64_t span = step > 0 ? end - begin : begin - end;
  const std::int64_t width = step > 0 ? step : -step;
  tensor->dims[d] = span <= 0 ? 0 : (span + width - 1) / width;
  *offset += begin * tensor->strides[d];
  tensor->strides[d] *= step;
  return CNNL_STATUS_SUCCESS;
}

template <typename Index>
cnnlStatus_t strided_slice(const char *function, cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc,
                           const void *input, const Index *begin, const Index *end, const Index *stride,
                           cnnlTensorDescriptor_t output_desc, void *output) {
  Tensor from, to;
  CNNL_TRY(get_operand(function, "input", input_desc, input, &from));
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  CNNL_TRY(check_same_type(function, "output", to, from));
  if (from.rank() > 0 && (begin == nullptr || end == nullptr || stride == nullptr)) {
    return refuse_null(function, begin == nullptr ? "begin" : end == nullptr ? "end" : "stride");
  }
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    CNNL_TRY(take_slice(function, d, begin[d], end[d], stride[d], &from, &offset));
  }
  from.count = product(from.dims, 0, from.dims.size());
  from.dense = false;
  CNNL_TRY(check_dims(function, "output", to, from.dims));
  const void *first = static_cast<const unsigned char *>(input) + offset * static_cast<std::int64_t>(from.size);
  return enqueue(function, handle, [from, to, first, output, room = room_for(from)] {
    load(from, first, room.get());
    store(to, output, *room);
  });
}

}  // namespace
}  // namespace cnnl

using namespace cnnl;

cnnlStatus_t cnnlStridedSlice(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                              const int begin[], const int end[], const int stride[],
                              cnnlTensorDescriptor_t output_desc, void *output) {
  return guarded(__func__, [&](const char *function) {
    return strided_slice(function, handle, input_desc, input, begin, end, stride, output_desc, output);
  });
}

cnnlStatus_t cnnlStridedSlice_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                                 const int64_t begin[], const int64_t end[], const int64_t stride[],
                                 cnnlTensorDescriptor_t output_desc, void *output) {
  return guarded(__func__, [&](const char *function) {
    return strided_slice(function, handle, input_desc, input, begin, end, stride, output_desc, output);
  });
}
