// Calls that sort elements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "objects.h"
#include "work.h"

namespace cnnl {
namespace {

using Order = std::vector<std::int64_t>;

// Whether one element precedes another; NaN comes last.
bool is_less(cnnlDataType_t dtype, const unsigned char *a, const unsigned char *b) {
  if (dtype == CNNL_DTYPE_UINT64) {
    const auto x = static_cast<std::uint64_t>(number_at<std::int64_t>(dtype, a));
    return x < static_cast<std::uint64_t>(number_at<std::int64_t>(dtype, b));
  }
  if (is_integer(dtype)) return number_at<std::int64_t>(dtype, a) < number_at<std::int64_t>(dtype, b);
  const double x = number_at<double>(dtype, a), y = number_at<double>(dtype, b);
  return std::isnan(y) ? !std::isnan(x) : x < y;
}

cnnlStatus_t check_numbers(const char *function, const Tensor &tensor) {
  if (is_integer(tensor.dtype) || is_real(tensor.dtype)) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: input: expected numbers with an order, got the data type %d", function,
                static_cast<int>(tensor.dtype));
}

// ---- Unique -------------------------------------------------------------------------------------

struct Unique {
  cnnlUniqueSort_t mode = CNNL_SORT_ASCEND;
  int dim = -1;
  bool with_indices = false;
  bool with_counts = false;
};

auto &g_uniques = *new Objects<Unique, cnnlUniqueDescriptor_t>("desc");

// Rows of elements: those of a tensor along its first dim, or single elements.
struct RowView {
  cnnlDataType_t dtype;
  std::size_t size;
  std::int64_t count;
  std::int64_t width;  // elements per row

  const unsigned char *at(const Elements &elements, std::int64_t row) const {
    return elements.data() + static_cast<std::size_t>(row * width) * size;
  }
  bool less(const Elements &elements, std::int64_t a, std::int64_t b) const {
    for (std::int64_t i = 0; i < width; ++i) {
      const std::size_t offset = static_cast<std::size_t>(i) * size;
      const unsigned char *x = at(elements, a) + offset, *y = at(elements, b) + offset;
      if (is_less(dtype, x, y)) return true;
      if (is_less(dtype, y, x)) return false;
    }
    return false;
  }
};

// The targets of the results; null for results that are not wanted.
struct UniqueOutputs {
  int *count;
  void *rows;
  Tensor indices, counts;
  void *indices_data, *counts_data;
};

// Scratch memory.
struct UniqueRoom {
  Elements elements, result, indices, counts;
  Order order, first, group;
};

// Numbers the groups of equal rows, by value or by first occurrence. Sets `group` of each row and
// `first` row of each group.
void find_groups(const RowView &rows, bool sorted, UniqueRoom *room) {
  Order &order = room->order;
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    if (rows.less(room->elements, a, b)) return true;
    return !rows.less(room->elements, b, a) && a < b;
  });
  std::size_t groups = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || rows.less(room->elements, order[i - 1], order[i])) room->first[groups++] = order[i];
    room->group[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(groups - 1);
  }
  room->first.resize(groups);
  if (sorted) return;
  std::sort(room->first.begin(), room->first.end());
  for (std::size_t i = 0; i < groups; ++i) {
    const std::int64_t group = room->group[static_cast<std::size_t>(room->first[i])];
    order[static_cast<std::size_t>(group)] = static_cast<std::int64_t>(i);
  }
  for (std::int64_t &group : room->group) group = order[static_cast<std::size_t>(group)];
}

void put_int(Elements *elements, std::size_t at, std::int64_t value) {
  put_number<std::int64_t>(CNNL_DTYPE_INT32, elements->data() + at * 4, value);
}

// Returns a tensor of the first `count` elements of another one.
Tensor shortened(Tensor tensor, std::int64_t count) {
  tensor.dims = {count};
  tensor.strides = {1};
  tensor.count = count;
  tensor.dense = true;
  return tensor;
}

void write_groups(const RowView &rows, const UniqueOutputs &outputs, UniqueRoom *room) {
  const auto groups = static_cast<std::int64_t>(room->first.size());
  const std::size_t row_bytes = static_cast<std::size_t>(rows.width) * rows.size;
  for (std::int64_t i = 0; i < groups; ++i) {
    const std::int64_t row = room->first[static_cast<std::size_t>(i)];
    std::copy_n(rows.at(room->elements, row), row_bytes, room->result.data() + static_cast<std::size_t>(i) * row_bytes);
  }
  Tensor written;
  written.dtype = rows.dtype;
  written.size = rows.size;
  store(shortened(written, groups * rows.width), outputs.rows, room->result);
  if (outputs.indices_data != nullptr) {
    for (std::size_t i = 0; i < room->group.size(); ++i) put_int(&room->indices, i, room->group[i]);
    store(outputs.indices, outputs.indices_data, room->indices);
  }
  if (outputs.counts_data != nullptr) {
    std::fill(room->order.begin(), room->order.end(), 0);
    for (const std::int64_t group : room->group) ++room->order[static_cast<std::size_t>(group)];
    for (std::int64_t i = 0; i < groups; ++i)
      put_int(&room->counts, static_cast<std::size_t>(i), room->order[static_cast<std::size_t>(i)]);
    store(shortened(outputs.counts, groups), outputs.counts_data, room->counts);
  }
  written.size = sizeof(int);
  put_int(&room->result, 0, groups);
  store(shortened(written, 1), outputs.count, room->result);
}

cnnlStatus_t check_int32(const char *function, const char *argument, cnnlTensorDescriptor_t desc, const void *data,
                         std::int64_t least, Tensor *tensor) {
  CNNL_TRY(get_operand(function, argument, desc, data, tensor));
  if (tensor->dtype == CNNL_DTYPE_INT32 && tensor->count >= least) return CNNL_STATUS_SUCCESS;
  return refuse(CNNL_STATUS_BAD_PARAM, "%s: %s: expected at least %lld elements of int32, got %lld of the data type %d",
                function, argument, static_cast<long long>(least), static_cast<long long>(tensor->count),
                static_cast<int>(tensor->dtype));
}

cnnlStatus_t unique(const char *function, cnnlHandle_t handle, cnnlUniqueDescriptor_t desc,
                    cnnlTensorDescriptor_t input_desc, const void *input, UniqueOutputs outputs,
                    cnnlTensorDescriptor_t output_desc, cnnlTensorDescriptor_t indices_desc,
                    cnnlTensorDescriptor_t counts_desc) {
  Unique how;
  Tensor from, to;
  CNNL_TRY(g_uniques.get(function, "desc", desc, &how));
  CNNL_TRY(get_operand(function, "input", input_desc, input, &from));
  CNNL_TRY(check_numbers(function, from));
  if (how.mode == CNNL_UNSORT_REVERSE) {
    return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: desc: CNNL_UNSORT_REVERSE is not supported", function);
  }
  if (outputs.count == nullptr) return refuse_null(function, "output_count");
  RowView rows = {from.dtype, from.size, from.count, 1};
  if (how.dim != -1) {
    CNNL_TRY(check_axis(function, "dim of desc", from.rank(), &how.dim));
    if (how.dim != 0) return refuse(CNNL_STATUS_NOT_SUPPORTED, "%s: desc: expected dim 0 or -1", function);
    rows.count = from.dims[0];
    rows.width = product(from.dims, 1, from.dims.size());
  }
  CNNL_TRY(get_operand(function, "output", output_desc, outputs.rows, &to));
  CNNL_TRY(check_same_type(function, "output", to, from));
  if (to.count < from.count || !to.dense) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: output: expected room for %lld elements without strides, got %lld",
                  function, static_cast<long long>(from.count), static_cast<long long>(to.count));
  }
  if (!how.with_indices) outputs.indices_data = nullptr;
  if (!how.with_counts) outputs.counts_data = nullptr;
  if (outputs.indices_data != nullptr) {
    CNNL_TRY(check_int32(function, "indices", indices_desc, outputs.indices_data, rows.count, &outputs.indices));
    outputs.indices = shortened(outputs.indices, rows.count);
  }
  if (outputs.counts_data != nullptr) {
    CNNL_TRY(check_int32(function, "counts", counts_desc, outputs.counts_data, rows.count, &outputs.counts));
  }
  auto room = std::make_shared<UniqueRoom>();
  const auto count = static_cast<std::size_t>(rows.count);
  room->elements.resize(from.bytes());
  room->result.resize(std::max(from.bytes(), sizeof(int)));
  room->indices.resize(4 * count);
  room->counts.resize(4 * count);
  room->order.resize(count);
  room->first.resize(count);
  room->group.resize(count);
  return enqueue(function, handle, [=, sorted = how.mode == CNNL_SORT_ASCEND] {
    load(from, input, &room->elements);
    find_groups(rows, sorted, room.get());
    write_groups(rows, outputs, room.get());
  });
}

// ---- Top k --------------------------------------------------------------------------------------

struct TopK {
  std::int64_t k, length;  // of the dim
  bool largest, lower_index_first;
};

struct TopRoom {
  Elements elements, values, indices;
  Order order;
};

// Sorts the positions of a row's elements, as far as the first k.
void rank_row(const Tensor &tensor, const TopK &how, const unsigned char *row, Order *order) {
  std::iota(order->begin(), order->end(), 0);
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const unsigned char *x = row + static_cast<std::size_t>(a) * tensor.size;
    const unsigned char *y = row + static_cast<std::size_t>(b) * tensor.size;
    if (is_less(tensor.dtype, x, y)) return !how.largest;
    if (is_less(tensor.dtype, y, x)) return how.largest;
    return how.lower_index_first ? a < b : a > b;
  };
  std::partial_sort(order->begin(), order->begin() + how.k, order->end(), before);
}

// Returns a tensor whose dim `dim` comes last.
Tensor with_last(const Tensor &tensor, int dim) {
  Tensor turned = tensor;
  std::rotate(turned.dims.begin() + dim, turned.dims.begin() + dim + 1, turned.dims.end());
  std::rotate(turned.strides.begin() + dim, turned.strides.begin() + dim + 1, turned.strides.end());
  if (dim != tensor.rank() - 1) turned.dense = false;
  return turned;
}

void fill_top(const Tensor &from, const Tensor &index, const TopK &how, TopRoom *room) {
  const std::int64_t rows = how.length == 0 ? 0 : from.count / how.length;
  for (std::int64_t row = 0; row < rows; ++row) {
    const unsigned char *source = room->elements.data() + static_cast<std::size_t>(row * how.length) * from.size;
    rank_row(from, how, source, &room->order);
    for (std::int64_t i = 0; i < how.k; ++i) {
      const std::int64_t place = room->order[static_cast<std::size_t>(i)];
      const auto target = static_cast<std::size_t>(row * how.k + i);
      std::copy_n(source + static_cast<std::size_t>(place) * from.size, from.size,
                  room->values.data() + target * from.size);
      put_number(index.dtype, room->indices.data() + target * index.size, place);
    }
  }
}

cnnlStatus_t top_k(const char *function, cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input,
                   int k, int dim, bool largest, bool lower_index_first, cnnlTensorDescriptor_t output_desc,
                   void *output, cnnlTensorDescriptor_t index_desc, void *index) {
  Tensor from, to, at;
  CNNL_TRY(get_operand(function, "input", input_desc, input, &from));
  CNNL_TRY(get_operand(function, "output", output_desc, output, &to));
  CNNL_TRY(get_operand(function, "index", index_desc, index, &at));
  CNNL_TRY(check_numbers(function, from));
  CNNL_TRY(check_axis(function, "dim", from.rank(), &dim));
  const std::int64_t length = from.dims[static_cast<std::size_t>(dim)];
  if (k < 0 || k > length) {
    return refuse(CNNL_STATUS_BAD_PARAM, "%s: k: expected 0 to %lld, got %d", function, static_cast<long long>(length),
                  k);
  }
  Dims wanted = from.dims;
  wanted[static_cast<std::size_t>(dim)] = k;
  CNNL_TRY(check_same_type(function, "output", to, from));
  CNNL_TRY(check_dims(function, "output", to, wanted));
  CNNL_TRY(check_index_type(function, "index", at));
  CNNL_TRY(check_dims(function, "index", at, wanted));
  auto room = std::make_shared<TopRoom>();
  room->elements.resize(from.bytes());
  room->values.resize(to.bytes());
  room->indices.resize(at.bytes());
  room->order.resize(static_cast<std::size_t>(length));
  const TopK how = {k, length, largest, lower_index_first};
  return enqueue(function, handle,
                 [=, source = with_last(from, dim), values = with_last(to, dim), places = with_last(at, dim)] {
                   load(source, input, &room->elements);
                   fill_top(source, places, how, room.get());
                   store(values, output, room->values);
                   store(places, index, room->indices);
                 });
}

}  // namespace
}  // namespace cnnl

using namespace cnnl;

cnnlStatus_t cnnlCreateUniqueDescriptor(cnnlUniqueDescriptor_t *desc) {
  return guarded(__func__, [&](const char *function) { return g_uniques.create(function, desc); });
}

cnnlStatus_t cnnlDestroyUniqueDescriptor(cnnlUniqueDescriptor_t desc) {
  return guarded(__func__, [&](const char *function) { return g_uniques.destroy(function, desc); });
}

cnnlStatus_t cnnlSetUniqueDescriptor(cnnlUniqueDescriptor_t desc, cnnlUniqueSort_t mode, int dim, bool return_indices,
                                     bool return_counts) {
  return guarded(__func__, [&](const char *function) {
    if (mode < CNNL_UNSORT_REVERSE || mode > CNNL_UNSORT_FORWARD) {
      return refuse(CNNL_STATUS_BAD_PARAM, "%s: mode: expected 0 to 2, got %d", function, static_cast<int>(mode));
    }
    return g_uniques.with(function, "desc", desc, [&](Unique &found) {
      found = {mode, dim, return_indices, return_counts};
      return CNNL_STATUS_SUCCESS;
    });
  });
}

cnnlStatus_t cnnlGetUniqueWorkspaceSize(cnnlHandle_t handle, cnnlUniqueDescriptor_t, cnnlTensorDescriptor_t,
                                        size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlUnique_v2(cnnlHandle_t handle, cnnlUniqueDescriptor_t desc, cnnlTensorDescriptor_t input_desc,
                           const void *input, void *, size_t, int *output_count, cnnlTensorDescriptor_t output_desc,
                           void *output, cnnlTensorDescriptor_t indices_desc, void *indices,
                           cnnlTensorDescriptor_t counts_desc, void *counts) {
  return guarded(__func__, [&](const char *function) {
    const UniqueOutputs outputs = {output_count, output, {}, {}, indices, counts};
    return unique(function, handle, desc, input_desc, input, outputs, output_desc, indices_desc, counts_desc);
  });
}

cnnlStatus_t cnnlGetTopKTensorWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t, int, int, bool,
                                            cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlTopKTensor_v3(cnnlHandle_t handle, cnnlTensorDescriptor_t input_desc, const void *input, int k,
                               int dim, bool largest, bool, bool lower_index_first, void *, size_t,
                               cnnlTensorDescriptor_t output_desc, void *output, cnnlTensorDescriptor_t index_desc,
                               void *index) {
  return guarded(__func__, [&](const char *function) {
    return top_k(function, handle, input_desc, input, k, dim, largest, lower_index_first, output_desc, output,
                 index_desc, index);
  });
}
