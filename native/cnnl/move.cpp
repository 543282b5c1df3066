// Calls that only move elements.
#include <algorithm>

#include "objects.h"
#include "work.h"

namespace cnnl {
namespace {

struct Transpose {
  std::vector<int> permute;
};

auto &g_transposes = *new Objects<Transpose, cnnlTransposeDescriptor_t>("desc");

cnnlStatus_t copy(const char *function, cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                  cnnlTensorDescriptor_t output_desc, void *output) {
  Tensor from, to;
  CNNL_TRY(get_operand(function, "input", input_desc, input, &from));
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  CNNL_TRY(check_same_type(function, "output", to, from));
  CNNL_TRY(check_dims(function, "output", to, from.dims));
  return enqueue(function, handle, [from, to, input, output, room = room_for(from)] {
    load(from, input, room.get());
    store(to, output, *room);
  });
}

// Returns the tensor with its dims in another order.
Tensor permuted(const Tensor &tensor, const std::vector<int> &permute) {
  Tensor result = tensor;
  for (std::size_t d = 0; d < permute.size(); ++d) {
    result.dims[d] = tensor.dims[static_cast<std::size_t>(permute[d])];
    result.strides[d] = tensor.strides[static_cast<std::size_t>(permute[d])];
  }
  result.dense = false;
  return result;
}

cnnlStatus_t transpose(const char *function, cnnlHandle_t handle, cnnlTransposeDescriptor_t desc,
                       cnnlTensorDescriptor_t input_desc, const void *input, cnnlTensorDescriptor_t output_desc,
                       void *output) {
  Transpose how;
  Tensor from, to;
  CNNL_TRY(g_transposes.get(function, "desc", desc, &how));
  CNNL_TRY(get_operand(function, "input", input_desc, input, &from));
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  if (how.permute.size() != from.dims.size()) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: input: expected the %zu dims of desc, got %d", function,
                  how.permute.size(), from.rank());
  }
  const Tensor turned = permuted(from, how.permute);
  CNNL_TRY(check_same_type(function, "output", to, from));
  CNNL_TRY(check_dims(function, "output", to, turned.dims));
  return enqueue(function, handle, [turned, to, input, output, room = room_for(to)] {
    load(turned, input, room.get());
    store(to, output, *room);
  });
}

// ---- Rows by indices ----------------------------------------------------------------------------

// Rows of a tensor chosen by indices: the last dim of the indices holds positions along the first
// `depth` dims.
struct Rows {
  Dims dims;  // of the first `depth` dims
  std::int64_t depth = 0;
  std::int64_t count = 0;     // number of chosen rows
  std::size_t row_bytes = 0;  // of one row

  // Returns the offset of the row in bytes; -1 if there is no such row.
  std::int64_t place(const Tensor &tensor, const Elements &indices, std::int64_t row) const {
    std::int64_t at = 0;
    for (std::int64_t d = 0; d < depth; ++d) {
      const std::int64_t index = index_at(tensor, indices, row * depth + d);
      const std::int64_t dim = dims[static_cast<std::size_t>(d)];
      if (index < 0 || index >= dim) return -1;
      at = at * dim + index;
    }
    return at * static_cast<std::int64_t>(row_bytes);
  }
};

// `*chosen` becomes the dims of the chosen rows together.
cnnlStatus_t get_rows(const char *function, const Tensor &tensor, const Tensor &indices, Rows *rows, Dims *chosen) {
  CNNL_TRY(check_index_type(function, "indices", indices));
  const std::int64_t depth = indices.dims.empty() ? 0 : indices.dims.back();
  if (depth < 1 || depth > tensor.rank()) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: indices: expected a last dim of 1 to %d, got %lld", function,
                  tensor.rank(), static_cast<long long>(depth));
  }
  const auto split = static_cast<std::size_t>(depth);
  rows->dims.assign(tensor.dims.begin(), tensor.dims.begin() + depth);
  rows->depth = depth;
  rows->count = product(indices.dims, 0, indices.dims.size() - 1);
  rows->row_bytes = static_cast<std::size_t>(product(tensor.dims, split, tensor.dims.size())) * tensor.size;
  chosen->assign(indices.dims.begin(), indices.dims.end() - 1);
  chosen->insert(chosen->end(), tensor.dims.begin() + depth, tensor.dims.end());
  return CNNL_STATUS_SUCCESS;
}

cnnlStatus_t gather(const char *function, cnnlHandle_t handle, cnnlTensorDescriptor_t params_desc, const void *params,
                    cnnlTensorDescriptor_t indices_desc, const void *indices, cnnlTensorDescriptor_t output_desc,
                    void *output) {
  Tensor from, at, to;
  CNNL_TRY(get_operand(function, "params", params_desc, params, &from));
  CNNL_TRY(get_operand(function, "indices", indices_desc, indices, &at));
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  Rows rows;
  Dims chosen;
  CNNL_TRY(get_rows(function, from, at, &rows, &chosen));
  CNNL_TRY(check_same_type(function, "output", to, from));
  CNNL_TRY(check_dims(function, "output", to, chosen));
  return enqueue(function, handle, [=, source = room_for(from), numbers = room_for(at), result = room_for(to)] {
    load(from, params, source.get());
    load(at, indices, numbers.get());
    for (std::int64_t row = 0; row < rows.count; ++row) {
      unsigned char *target = result->data() + static_cast<std::size_t>(row) * rows.row_bytes;
      const std::int64_t place = rows.place(at, *numbers, row);
      if (place < 0) {
        std::fill_n(target, rows.row_bytes, static_cast<unsigned char>(0));
      } else {
        std::copy_n(source->data() + place, rows.row_bytes, target);
      }
    }
    store(to, output, *result);
  });
}

void add_row(cnnlDataType_t dtype, unsigned char *target, const unsigned char *update, std::size_t bytes,
             std::size_t size) {
  for (std::size_t at = 0; at < bytes; at += size) {
    if (is_integer(dtype)) {
      const auto sum = static_cast<std::uint64_t>(number_at<std::int64_t>(dtype, target + at)) +
                       static_cast<std::uint64_t>(number_at<std::int64_t>(dtype, update + at));
      put_number(dtype, target + at, static_cast<std::int64_t>(sum));
    } else {
      put_number(dtype, target + at, number_at<double>(dtype, target + at) + number_at<double>(dtype, update + at));
    }
  }
}

cnnlStatus_t scatter(const char *function, cnnlHandle_t handle, cnnlScatterNdMode_t mode,
                     cnnlTensorDescriptor_t indices_desc, const void *indices, cnnlTensorDescriptor_t updates_desc,
                     const void *updates, cnnlTensorDescriptor_t input_desc, const void *input,
                     cnnlTensorDescriptor_t output_desc, void *output) {
  Tensor at, from, start, to;
  CNNL_TRY(get_operand(function, "indices", indices_desc, indices, &at));
  CNNL_TRY(get_operand(function, "updates", updates_desc, updates, &from));
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  if (input != nullptr) {
    CNNL_TRY(get_tensor(function, "input", input_desc, &start));
    CNNL_TRY(check_same_type(function, "input", start, to));
    CNNL_TRY(check_dims(function, "input", start, to.dims));
  }
  Rows rows;
  Dims chosen;
  CNNL_TRY(get_rows(function, to, at, &rows, &chosen));
  CNNL_TRY(check_same_type(function, "updates", from, to));
  CNNL_TRY(check_dims(function, "updates", from, chosen));
  const bool adds = mode == CNNL_SCATTERND_ADD;
  if (!adds && mode != CNNL_SCATTERND_UPDATE) {
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: mode: expected 0 or 1, got %d", function, static_cast<int>(mode));
  }
  if (adds && !is_integer(to.dtype) && !is_real(to.dtype)) {
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: output: expected numbers to add, got the data type %d", function,
                  static_cast<int>(to.dtype));
  }
  return enqueue(function, handle, [=, numbers = room_for(at), source = room_for(from), result = room_for(to)] {
    load(at, indices, numbers.get());
    load(from, updates, source.get());
    if (input != nullptr) {
      load(start, input, result.get());
    } else {
      std::fill(result->begin(), result->end(), static_cast<unsigned char>(0));
    }
    for (std::int64_t row = 0; row < rows.count; ++row) {
      const std::int64_t place = rows.place(at, *numbers, row);
      if (place < 0) continue;
      const unsigned char *update = source->data() + static_cast<std::size_t>(row) * rows.row_bytes;
      if (adds) {
        add_row(to.dtype, result->data() + place, update, rows.row_bytes, to.size);
      } else {
        std::copy_n(update, rows.row_bytes, result->data() + place);
      }
    }
    store(to, output, *result);
  });
}

// ---- Parts of tensors ---------------------------------------------------------------------------

// Returns the box of `dims` in the tensor, from `begin` on, as a tensor, and adds its offset in
// bytes to `*place`.
Tensor box_of(const Tensor &tensor, const Dims &begin, const Dims &dims, std::int64_t *place) {
  Tensor box = tensor;
  box.dims = dims;
  box.count = product(dims, 0, dims.size());
  box.dense = false;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    *place += begin[d] * tensor.strides[d] * static_cast<std::int64_t>(tensor.size);
  }
  return box;
}

struct Part {
  Tensor from;
  const void *input;
  Tensor box;
  std::int64_t place;
  std::shared_ptr<Elements> room;
};

cnnlStatus_t concat(const char *function, cnnlHandle_t handle, int count, int axis,
                    const cnnlTensorDescriptor_t *input_descs, const void *const *inputs,
                    cnnlTensorDescriptor_t output_desc, void *output) {
  if (count < 1) return refuse(CNNL_STATUS_BAD_PARAM, "%s: count: expected at least 1, got %d", function, count);
  if (input_descs == nullptr || inputs == nullptr) {
    return refuse_null(function, input_descs == nullptr ? "input_descs" : "inputs");
  }
  Tensor to;
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  CNNL_TRY(check_axis(function, "axis", to.rank(), &axis));
  const auto along = static_cast<std::size_t>(axis);
  Dims begin(to.dims.size(), 0);
  auto parts = std::make_shared<std::vector<Part>>();
  for (int i = 0; i < count; ++i) {
    Part part = {};
    CNNL_TRY(get_operand(function, "inputs", input_descs[i], inputs[i], &part.from));
    CNNL_TRY(check_same_type(function, "inputs", part.from, to));
    Dims wanted = to.dims;
    if (part.from.dims.size() == wanted.size()) wanted[along] = part.from.dims[along];
    CNNL_TRY(check_dims(function, "inputs", part.from, wanted));
    part.input = inputs[i];
    part.box = box_of(to, begin, wanted, &part.place);
    part.room = room_for(part.from);
    begin[along] += wanted[along];
    parts->push_back(part);
  }
  Dims whole = to.dims;
  whole[along] = begin[along];
  CNNL_TRY(check_dims(function, "output", to, whole));
  return enqueue(function, handle, [parts, output] {
    for (const Part &part : *parts) load(part.from, part.input, part.room.get());
    for (const Part &part : *parts) store(part.box, static_cast<unsigned char *>(output) + part.place, *part.room);
  });
}

// Returns elements of a tensor that all have the same value.
std::shared_ptr<Elements> filled(const Tensor &tensor, const void *value) {
  auto elements = room_for(tensor);
  for (std::size_t at = 0; at < elements->size(); at += tensor.size) {
    std::memcpy(elements->data() + at, value, tensor.size);
  }
  return elements;
}

cnnlStatus_t pad(const char *function, cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                 const int *paddings, const void *value, cnnlTensorDescriptor_t output_desc, void *output) {
  Tensor from, to;
  CNNL_TRY(get_operand(function, "input", input_desc, input, &from));
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  if (paddings == nullptr || value == nullptr) return refuse_null(function, paddings == nullptr ? "paddings" : "value");
  Dims begin, wanted;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    if (paddings[2 * d] < 0 || paddings[2 * d + 1] < 0) {
      return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: paddings: expected no negative number for dim %zu", function, d);
    }
    begin.push_back(paddings[2 * d]);
    wanted.push_back(from.dims[d] + paddings[2 * d] + paddings[2 * d + 1]);
  }
  CNNL_TRY(check_same_type(function, "output", to, from));
  CNNL_TRY(check_dims(function, "output", to, wanted));
  std::int64_t place = 0;
  const Tensor box = box_of(to, begin, from.dims, &place);
  return enqueue(function, handle, [=, frame = filled(to, value), room = room_for(from)] {
    load(from, input, room.get());
    store(to, output, *frame);
    store(box, static_cast<unsigned char *>(output) + place, *room);
  });
}

}  // namespace
}  // namespace cnnl

using namespace cnnl;

cnnlStatus_t cnnlFill_v3(cnnlHandle_t handle, cnnlPointerMode_t mode, const void *value, cnnlTensorDescriptor_t desc,
                         void *output) {
  return guarded(__func__, [&](const char *function) {
    Tensor to;
    CNNL_TRY(get_operand(function, "output", desc, output, &to));
    if (value == nullptr) return refuse_null(function, "value");
    if (mode == CNNL_POINTER_MODE_HOST) {
      return enqueue(function, handle, [to, output, elements = filled(to, value)] { store(to, output, *elements); });
    }
    if (mode != CNNL_POINTER_MODE_DEVICE) {
      return refuse(CNNL_STATUS_BAD_PARAM, "%s: mode: expected 0 or 1, got %d", function, static_cast<int>(mode));
    }
    Tensor repeated = to;  // one element, repeated
    std::fill(repeated.strides.begin(), repeated.strides.end(), 0);
    repeated.dense = false;
    return enqueue(function, handle, [repeated, to, value, output, room = room_for(to)] {
      load(repeated, value, room.get());
      store(to, output, *room);
    });
  });
}

cnnlStatus_t cnnlGetCopyWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,
                                      size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlCopy(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                      cnnlTensorDescriptor_t output_desc, void *output) {
  return guarded(__func__,
                 [&](const char *function) { return copy(function, handle, input_desc, input, output_desc, output); });
}

cnnlStatus_t cnnlCopy_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                         cnnlTensorDescriptor_t output_desc, void *output, void *, size_t) {
  return guarded(__func__,
                 [&](const char *function) { return copy(function, handle, input_desc, input, output_desc, output); });
}

cnnlStatus_t cnnlCreateTransposeDescriptor(cnnlTransposeDescriptor_t *desc) {
  return guarded(__func__, [&](const char *function) { return g_transposes.create(function, desc); });
}

cnnlStatus_t cnnlDestroyTransposeDescriptor(cnnlTransposeDescriptor_t desc) {
  return guarded(__func__, [&](const char *function) { return g_transposes.destroy(function, desc); });
}

cnnlStatus_t cnnlSetTransposeDescriptor(cnnlTransposeDescriptor_t desc, int dim_count, const int permute[]) {
  return guarded(__func__, [&](const char *function) {
    if (dim_count < 0 || dim_count > CNNL_DIM_MAX) {
      return refuse(CNNL_STATUS_BAD_PARAM, "%s: dim_count: expected 0 to %d, got %d", function, CNNL_DIM_MAX,
                    dim_count);
    }
    if (dim_count > 0 && permute == nullptr) return refuse_null(function, "permute");
    const std::vector<int> order(permute, permute + dim_count);
    for (int d = 0; d < dim_count; ++d) {
      if (std::count(order.begin(), order.end(), d) == 1) continue;
      return refuse(CNNL_STATUS_BAD_PARAM, "%s: permute: expected each of 0 to %d once", function, dim_count - 1);
    }
    return g_transposes.with(function, "desc", desc, [&order](Transpose &found) {
      found.permute = order;
      return CNNL_STATUS_SUCCESS;
    });
  });
}

cnnlStatus_t cnnlGetTransposeWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t, cnnlTransposeDescriptor_t,
                                           size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlTranspose(cnnlHandle_t handle, cnnlTransposeDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void *input, cnnlTensorDescriptor_t output_desc, void *output) {
  return guarded(__func__, [&](const char *function) {
    return transpose(function, handle, desc, input_desc, input, output_desc, output);
  });
}

cnnlStatus_t cnnlTranspose_v2(cnnlHandle_t handle, cnnlTransposeDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                              const void *input, cnnlTensorDescriptor_t output_desc, void *output, void *, size_t) {
  return guarded(__func__, [&](const char *function) {
    return transpose(function, handle, desc, input_desc, input, output_desc, output);
  });
}

cnnlStatus_t cnnlGatherNd_v2(cnnlHandle_t handle, int batch_dims, cnnlTensorDescriptor_t params_desc,
                             const void *params, cnnlTensorDescriptor_t indices_desc, const void *indices,
                             cnnlTensorDescriptor_t output_desc, void *output) {
  return guarded(__func__, [&](const char *function) {
    if (batch_dims != 0) {
      return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: batch_dims: expected 0, got %d", function, batch_dims);
    }
    return gather(function, handle, params_desc, params, indices_desc, indices, output_desc, output);
  });
}

cnnlStatus_t cnnlScatterNd_v2(cnnlHandle_t handle, cnnlScatterNdMode_t mode, cnnlTensorDescriptor_t indices_desc,
                              const void *indices, cnnlTensorDescriptor_t updates_desc, const void *updates,
                              cnnlTensorDescriptor_t input_desc, const void *input, cnnlTensorDescriptor_t output_desc,
                              void *output) {
  return guarded(__func__, [&](const char *function) {
    return scatter(function, handle, mode, indices_desc, indices, updates_desc, updates, input_desc, input, output_desc,
                   output);
  });
}

cnnlStatus_t cnnlGetConcatWorkspaceSize(cnnlHandle_t handle, int, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlConcat(cnnlHandle_t handle, int count, int axis, const cnnlTensorDescriptor_t input_descs[],
                        const void *const inputs[], void *, size_t, cnnlTensorDescriptor_t output_desc, void *output) {
  return guarded(__func__, [&](const char *function) {
    return concat(function, handle, count, axis, input_descs, inputs, output_desc, output);
  });
}

cnnlStatus_t cnnlPad(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input, const void *paddings,
                     const void *value, cnnlTensorDescriptor_t output_desc, void *output) {
  return guarded(__func__, [&](const char *function) {
    return pad(function, handle, input_desc, input, static_cast<const int *>(paddings), value, output_desc, output);
  });
}
