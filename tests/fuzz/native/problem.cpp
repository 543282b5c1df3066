#include "problem.h"

#include <algorithm>
#include <cstring>

namespace fuzz {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t small(Bytes &bytes, std::int64_t least, std::size_t count) {
  return least + static_cast<std::int64_t>(bytes.below(count));
}

Problem tin_shift(bool backward, Bytes &bytes, std::int64_t dtype) {
  const std::int64_t n = small(bytes, 1, 3), t = small(bytes, 1, 6), g = small(bytes, 1, 3), c = g * small(bytes, 1, 3);
  const Dims dims = {n, t, c, small(bytes, 1, 40)};
  const char *names[2][2] = {{"input", "output"}, {"grad_output", "grad_input"}};
  return {backward ? "mluOpTinShiftBackward" : "mluOpTinShiftForward",
          {{names[backward][0], dims, dtype},
           {"shifts", {n, g}, MLUOP_DTYPE_INT32, MLUOP_LAYOUT_ARRAY, false, Content::kShifts},
           {names[backward][1], dims, dtype, MLUOP_LAYOUT_ARRAY, true}}};
}

Problem psamask(bool backward, Bytes &bytes) {
  const std::int64_t n = small(bytes, 1, 2), h = small(bytes, 1, 6), w = small(bytes, 1, 6);
  const std::int64_t h_mask = small(bytes, 1, 9), w_mask = small(bytes, 1, 9);
  const Dims mask = {n, h, w, h_mask * w_mask}, map = {n, h, w, h * w};
  Problem problem = {backward ? "mluOpPsamaskBackward" : "mluOpPsamaskForward",
                     {{backward ? "dy" : "x", backward ? map : mask, MLUOP_DTYPE_FLOAT, MLUOP_LAYOUT_NHWC},
                      {backward ? "dx" : "y", backward ? mask : map, MLUOP_DTYPE_FLOAT, MLUOP_LAYOUT_NHWC, true}}};
  problem.values = {{"psa_type", small(bytes, 0, 2)}, {"h_mask", h_mask}, {"w_mask", w_mask}};
  return problem;
}

Problem border_align(bool backward, Bytes &bytes, std::int64_t dtype) {
  const std::int64_t n = small(bytes, 1, 2), k = small(bytes, 1, 9), c = small(bytes, 1, 9);
  const Dims image = {n, small(bytes, 1, 6), small(bytes, 1, 6), 4 * c}, border = {n, k, 4, c};
  Problem problem;
  const Tensor boxes = {"boxes", {n, k, 4}, dtype, MLUOP_LAYOUT_ARRAY, false, Content::kBoxes};
  const Tensor argmax = {"argmax_idx", border, MLUOP_DTYPE_INT32, MLUOP_LAYOUT_NHWC, !backward, Content::kArgmax};
  if (backward) {
    problem = {"mluOpBorderAlignBackward",
               {{"grad_output", border, dtype, MLUOP_LAYOUT_NHWC},
                boxes,
                argmax,
                {"grad_input", image, dtype, MLUOP_LAYOUT_NHWC, true}}};
  } else {
    problem = {"mluOpBorderAlignForward",
               {{"input", image, dtype, MLUOP_LAYOUT_NHWC},
                boxes,
                {"output", border, dtype, MLUOP_LAYOUT_NHWC, true},
                argmax}};
  }
  problem.values = {{"pool_size", small(bytes, 1, 12)}};
  return problem;
}

Problem three_interpolate(bool backward, Bytes &bytes, std::int64_t dtype) {
  const std::int64_t b = small(bytes, 1, 2), c = small(bytes, 1, 20), n = small(bytes, 1, 40), m = small(bytes, 1, 40);
  const Tensor indices = {"indices", {b, n, 3}, MLUOP_DTYPE_INT32, MLUOP_LAYOUT_ARRAY, false, Content::kIndices};
  const Tensor weights = {"weights", {b, n, 3}, dtype};
  if (backward) {
    return {"mluOpThreeInterpolateBackward",
            {{"grad_output", {b, c, n}, dtype},
             indices,
             weights,
             {"grad_features", {b, c, m}, dtype, MLUOP_LAYOUT_ARRAY, true}}};
  }
  return {"mluOpThreeInterpolateForward",
          {{"features", {b, c, m}, dtype}, indices, weights, {"output", {b, c, n}, dtype, MLUOP_LAYOUT_ARRAY, true}}};
}

Problem get_indice_pairs(bool size_only, Bytes &bytes) {
  Problem problem;
  Sparse &sparse = problem.sparse;
  problem.has_sparse = true;
  sparse.sub_m = small(bytes, 0, 2);
  sparse.batch = small(bytes, 1, 3);
  std::int64_t volume = 1, cells = sparse.batch, input_cells = sparse.batch;
  for (int axis = 0; axis < 3; ++axis) {
    const auto filter = static_cast<int>(small(bytes, 1, 4));
    const auto input = static_cast<int>(small(bytes, 1, 9)) + filter;
    const int pad = sparse.sub_m != 0 ? filter / 2 : static_cast<int>(small(bytes, 0, 3));
    const int stride = sparse.sub_m != 0 ? 1 : static_cast<int>(small(bytes, 1, 3));
    const int output = sparse.sub_m != 0 ? input : (input + 2 * pad - filter) / stride + 1;
    const int axes[] = {pad, stride, 1, input, filter, output};
    for (int kind = 0; kind < 6; ++kind) sparse.axes[kind][axis] = axes[kind];
    volume *= filter;
    cells *= output;
    input_cells *= input;
  }
  const std::int64_t rows = std::min(small(bytes, 1, 24), input_cells);
  const std::int64_t out_rows = sparse.sub_m != 0 ? rows : std::min(cells, rows * volume);
  const auto table = [](const char *name, Dims dims, bool output, Content content) {
    return Tensor{name, std::move(dims), MLUOP_DTYPE_INT32, MLUOP_LAYOUT_ARRAY, output, content};
  };
  problem.function = size_only ? "mluOpGetIndicePairsWorkspaceSize" : "mluOpGetIndicePairs";
  problem.tensors = {table("indices", {rows, 4}, false, Content::kVoxels),
                     table("indice_pairs", {volume, 2, rows}, true, Content::kNothing),
                     table("out_indices", {out_rows, 4}, true, Content::kNothing),
                     table("indice_num", {volume}, true, Content::kNothing)};
  return problem;
}

// ---- Edits --------------------------------------------------------------------------------------------------------------

std::int64_t next(std::int64_t value) { return value == INT64_MAX ? value : value + 1; }

void edit_dims(Tensor &tensor, Bytes &bytes) {
  const std::size_t rank = tensor.dims.size(), choice = bytes.below(8);
  if (choice == 6 && rank > 0) {
    tensor.dims.pop_back();
  } else if (choice == 7) {
    tensor.dims.push_back(bytes.number(1));
  } else if (choice == 5 && rank > 1) {
    std::swap(tensor.dims[0], tensor.dims[rank - 1]);
  } else if (rank > 0) {
    std::int64_t &dim = tensor.dims[bytes.below(rank)];
    dim = bytes.number(next(dim));
  }
}

void edit_strides(Tensor &tensor, Bytes &bytes) {
  tensor.strides.assign(tensor.dims.size(), 1);
  for (std::size_t i = tensor.dims.size(); i-- > 1;) {
    if (__builtin_mul_overflow(tensor.strides[i], tensor.dims[i], &tensor.strides[i - 1])) tensor.strides[i - 1] = 0;
  }
  if (!tensor.strides.empty() && bytes.one_in(2)) {
    std::int64_t &stride = tensor.strides[bytes.below(tensor.strides.size())];
    stride = bytes.number(next(stride));
  }
}

void edit_tensor(Problem &problem, Bytes &bytes) {
  const std::size_t count = problem.tensors.size();
  Tensor &tensor = problem.tensors[bytes.below(count)];
  switch (bytes.below(8)) {
    case 0:
    case 1:
      edit_dims(tensor, bytes);
      break;
    case 2:
      tensor.dtype = bytes.number(static_cast<std::int64_t>(bytes.below(19)));
      break;
    case 3:
      tensor.layout = bytes.number(static_cast<std::int64_t>(bytes.below(12)));
      break;
    case 4:
      edit_strides(tensor, bytes);
      break;
    case 5:
      tensor.desc = Desc::kAny;
      break;
    case 6:
      tensor.data = bytes.one_in(2) ? Data::kNull : Data::kMisaligned;
      break;
    default:
      tensor.data = Data::kOverlap;
      tensor.other = bytes.below(count);
      tensor.distance = bytes.below(4) * 4 * bytes.below(64);
      break;
  }
}

void edit_sparse(Problem &problem, Bytes &bytes) {
  if (bytes.one_in(8)) problem.sparse_desc = Desc::kAny;
  Sparse &sparse = problem.sparse;
  const std::size_t choice = bytes.below(20);
  if (choice == 18) {
    sparse.batch = bytes.number(next(sparse.batch));
  } else if (choice == 19) {
    sparse.sub_m = bytes.number(1);
  } else {
    int &value = sparse.axes[choice % 6][choice / 6];
    value = static_cast<int>(bytes.number(next(value)));
  }
}

}  // namespace

Problem legal_problem(Bytes &bytes) {
  const std::size_t which = bytes.below(10);
  const std::int64_t dtype = bytes.one_in(2) ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT;
  const bool backward = which % 2 != 0;
  switch (which / 2) {
    case 0:
      return tin_shift(backward, bytes, dtype);
    case 1:
      return psamask(backward, bytes);
    case 2:
      return border_align(backward, bytes, dtype);
    case 3:
      return three_interpolate(backward, bytes, dtype);
    default:
      return get_indice_pairs(backward, bytes);
  }
}

void edit_problem(Problem &problem, Bytes &bytes) {
  static constexpr int kEdits[] = {0, 0, 1, 1, 1, 1, 2, 4};
  problem.edits = kEdits[bytes.below(8)];
  for (int i = 0; i < problem.edits; ++i) {
    const std::size_t choice = bytes.below(8);
    if (choice == 0) {
      problem.handle = Desc::kAny;
    } else if (choice == 1 && !problem.values.empty()) {
      auto value = problem.values.begin();
      std::advance(value, static_cast<std::ptrdiff_t>(bytes.below(problem.values.size())));
      value->second = static_cast<std::int32_t>(bytes.number(next(value->second)));
    } else if (choice <= 2 && problem.has_sparse) {
      edit_sparse(problem, bytes);
    } else if (choice == 3 && problem.has_sparse) {
      problem.workspace = static_cast<Workspace>(bytes.below(6));
    } else {
      edit_tensor(problem, bytes);
    }
  }
}

std::int64_t elements(const Tensor &tensor) {
  if (std::find(tensor.dims.begin(), tensor.dims.end(), 0) != tensor.dims.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(count, dim, &count)) return -1;
  }
  return count;
}

std::int64_t item_size(std::int64_t dtype) {
  switch (dtype) {
    case MLUOP_DTYPE_INT8:
    case MLUOP_DTYPE_UINT8:
    case MLUOP_DTYPE_BOOL:
      return 1;
    case MLUOP_DTYPE_HALF:
    case MLUOP_DTYPE_BFLOAT16:
    case MLUOP_DTYPE_INT16:
    case MLUOP_DTYPE_UINT16:
      return 2;
    case MLUOP_DTYPE_DOUBLE:
    case MLUOP_DTYPE_INT64:
    case MLUOP_DTYPE_UINT64:
    case MLUOP_DTYPE_COMPLEX_FLOAT:
      return 8;
    default:
      return 4;
  }
}

// ---- Contents -----------------------------------------------------------------------------------------------------------

namespace {

// Ordinary values: the same for the same byte.
class Ordinary {
 public:
  explicit Ordinary(std::uint8_t seed) : state_(seed * 2654435761u + 1) {}
  std::uint32_t next(std::uint32_t count) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % count;
  }

 private:
  std::uint32_t state_;
};

void put_real(std::int64_t dtype, double value, std::uint8_t *memory, std::size_t index) {
  if (dtype == MLUOP_DTYPE_FLOAT) {
    const auto single = static_cast<float>(value);
    std::memcpy(memory + index * 4, &single, 4);
  } else if (dtype == MLUOP_DTYPE_HALF) {
    // Sign, exponent and leading bits of the float: near enough, with infinities and NaN.
    const auto single = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &single, 4);
    const int exponent = static_cast<int>(bits >> 23 & 255) - 112;
    std::uint32_t half = bits >> 16 & 0x8000;
    if (exponent >= 31) half |= value != value ? 0x7e00u : 0x7c00u;
    if (exponent > 0 && exponent < 31) half |= static_cast<std::uint32_t>(exponent) << 10 | (bits >> 13 & 1023);
    std::memcpy(memory + index * 2, &half, 2);
  }
}

void put_integer(std::int64_t value, std::uint8_t *memory, std::size_t index) {
  const auto number = static_cast<std::int32_t>(value);
  std::memcpy(memory + index * 4, &number, 4);
}

std::int64_t ordinary_integer(const Problem &problem, Content content, std::size_t index, Ordinary &random) {
  switch (content) {
    case Content::kShifts:
      return static_cast<std::int64_t>(random.next(9)) - 4;
    case Content::kArgmax:
      return random.next(
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(problem.values.at("pool_size"), 0, 1000) + 1));
    case Content::kIndices:
      // As many as `features` or `grad_features` have.
      return random.next(static_cast<std::uint32_t>(std::clamp<std::int64_t>(
          problem.tensors[problem.tensors[0].name == "features" ? 0 : 3].dims.back(), 1, 1000)));
    default: {
      const std::size_t axis = index % 4;
      const std::int64_t extent = axis == 0 ? problem.sparse.batch : problem.sparse.axes[3][axis - 1];
      return random.next(static_cast<std::uint32_t>(std::clamp<std::int64_t>(extent, 1, 1000)));
    }
  }
}

}  // namespace

bool fill(const Problem &problem, const Tensor &tensor, Bytes &bytes, std::uint8_t *memory, std::size_t size) {
  const bool real = tensor.content == Content::kFloats || tensor.content == Content::kBoxes;
  const auto item = static_cast<std::size_t>(real ? item_size(tensor.dtype) : 4);
  const std::size_t count = size / item;
  const bool plain = real ? tensor.dtype == MLUOP_DTYPE_FLOAT || tensor.dtype == MLUOP_DTYPE_HALF : true;
  if (tensor.content == Content::kNothing || count == 0 || !plain) return false;
  Ordinary random(bytes.byte());
  for (std::size_t i = 0; i < count; ++i) {
    if (real) {
      const double value = static_cast<double>(random.next(1024)) / 128.0 - (tensor.content == Content::kBoxes ? 1 : 4);
      put_real(tensor.dtype, value, memory, i);
    } else {
      put_integer(ordinary_integer(problem, tensor.content, i, random), memory, i);
    }
  }
  // Some elements are of the edges of their type.
  const std::size_t edges = bytes.below(4) * bytes.below(8);
  for (std::size_t edge = 0; edge < edges; ++edge) {
    const std::size_t place = bytes.below(std::min<std::size_t>(count, 65536));
    if (real) {
      put_real(tensor.dtype, bytes.real(1.5), memory, place);
    } else {
      put_integer(bytes.number(INT32_MIN + 1 + bytes.byte()), memory, place);
    }
  }
  return edges > 0;
}

}  // namespace fuzz
