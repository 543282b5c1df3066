#include "problem.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "abi.h"
#include "finding.h"
#include "mlu_op.h"

namespace fuzz {
namespace {

// The problems whose functions the library has.
const std::vector<problem_file::Problem> &problems() {
  static const std::vector<problem_file::Problem> all = [] {
    const char *path = std::getenv("MLUOPS_FUZZ_PROBLEMS");
    if (path == nullptr) finding("MLUOPS_FUZZ_PROBLEMS names no file");
    std::vector<problem_file::Problem> found;
    for (const problem_file::Problem &problem : problem_file::read(path)) {
      if (find_function(problem.function.c_str()) >= 0) found.push_back(problem);
    }
    return found;
  }();
  return all;
}

// ---- Edits --------------------------------------------------------------------------------------

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

void edit_number(problem_file::Number &number, Bytes &bytes) {
  number.integer = static_cast<std::int32_t>(bytes.number(next(number.integer)));
  number.value = bytes.real(number.value + 1);
}

void edit_settings(Settings &settings, Bytes &bytes) {
  if (bytes.one_in(8)) settings.desc = Desc::kAny;
  std::vector<int> &values = settings.fields[bytes.below(settings.fields.size())].second;
  int &value = values[bytes.below(values.size())];
  value = static_cast<int>(bytes.number(next(value)));
}

}  // namespace

Problem legal_problem(Bytes &bytes) {
  const problem_file::Problem &from = problems()[bytes.raw<std::uint16_t>() % problems().size()];
  Problem problem;
  problem.function = from.function;
  problem.size_function = from.workspace;
  problem.needs_workspace = from.needs_workspace;
  if (problem.has_workspace() && bytes.one_in(6)) problem.function = from.workspace;
  problem.numbers = from.numbers;
  problem.tensors = std::vector<Tensor>(from.tensors.begin(), from.tensors.end());
  problem.settings = std::vector<Settings>(from.settings.begin(), from.settings.end());
  return problem;
}

void edit_problem(Problem &problem, Bytes &bytes) {
  static constexpr int kEdits[] = {0, 0, 1, 1, 1, 1, 2, 4};
  problem.edits = kEdits[bytes.below(8)];
  for (int i = 0; i < problem.edits; ++i) {
    const std::size_t choice = bytes.below(8);
    if (choice == 0) {
      problem.handle = Desc::kAny;
    } else if (choice == 1 && !problem.numbers.empty()) {
      edit_number(problem.numbers[bytes.below(problem.numbers.size())], bytes);
    } else if (choice <= 2 && !problem.settings.empty()) {
      edit_settings(problem.settings[bytes.below(problem.settings.size())], bytes);
    } else if (choice == 3 && problem.has_workspace()) {
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

// ---- Contents -----------------------------------------------------------------------------------

namespace {

std::uint16_t half_of(double value) {
  // Sign, exponent and leading bits of the float: near enough, with infinities and NaN.
  const auto single = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &single, 4);
  const int exponent = static_cast<int>(bits >> 23 & 255) - 112;
  std::uint32_t half = bits >> 16 & 0x8000;
  if (exponent >= 31) half |= value != value ? 0x7e00u : 0x7c00u;
  if (exponent > 0 && exponent < 31) half |= static_cast<std::uint32_t>(exponent) << 10 | (bits >> 13 & 1023);
  return static_cast<std::uint16_t>(half);
}

template <typename T>
void put(T value, std::uint8_t *memory) {
  std::memcpy(memory, &value, sizeof value);
}

// A value from the edges of a type; of types that no operator has, none.
void put_edge(std::int64_t dtype, Bytes &bytes, std::uint8_t *memory) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      return put(half_of(bytes.real(1.5)), memory);
    case MLUOP_DTYPE_FLOAT:
      return put(static_cast<float>(bytes.real(1.5)), memory);
    case MLUOP_DTYPE_DOUBLE:
      return put(bytes.real(1.5), memory);
    case MLUOP_DTYPE_INT32:
      return put(static_cast<std::int32_t>(bytes.number(INT32_MIN + 1 + bytes.byte())), memory);
    case MLUOP_DTYPE_INT64:
      return put(bytes.number(INT64_MIN + 1 + bytes.byte()), memory);
    default:
      return;
  }
}

}  // namespace

bool fill(const Tensor &tensor, Bytes &bytes, std::uint8_t *memory, std::size_t size) {
  const std::size_t known = std::min(size, tensor.content.size());
  std::memset(memory, 0, size);
  std::copy_n(tensor.content.begin(), known, memory);
  const auto item = static_cast<std::size_t>(item_size(tensor.dtype));
  const std::size_t count = size / item;
  if (count == 0) return false;
  // Some elements are of the edges of their type; seldom where the library may refuse them.
  const std::size_t edges = tensor.any_content || bytes.one_in(8) ? bytes.below(4) * bytes.below(8) : 0;
  for (std::size_t edge = 0; edge < edges; ++edge) {
    put_edge(tensor.dtype, bytes, memory + bytes.below(std::min<std::size_t>(count, 65536)) * item);
  }
  return edges > 0 && !tensor.any_content;
}

}  // namespace fuzz
