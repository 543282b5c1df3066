// mluOpExecFFT: the transform of a plan.
#include "ops/fourier_transforms/fft.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "core/settings.h"

namespace mluops {
namespace {

constexpr std::int64_t kIndexable = std::int64_t{1} << 31;

struct Buffer {
  const char *name;
  const FftTensor *tensor;
  const void *data;

  std::int64_t elements() const {
    std::int64_t count = 1;
    for (int dim = 0; dim < tensor->rank; ++dim) count *= tensor->dims[dim];
    return count;
  }
};

Text dims_of(const FftTensor &tensor) {
  Text text = Text::format("[");
  for (int dim = 0; dim < tensor.rank; ++dim)
    text = Text::format("%s%s%lld", text.c_str(), dim == 0 ? "" : ", ", static_cast<long long>(tensor.dims[dim]));
  return Text::format("%s]", text.c_str());
}

// Whether the elements are those of a packed tensor whose dims may be in another order.
bool is_dense(const FftTensor &tensor) {
  std::int64_t expected = 1;
  bool used[MLUOP_DIM_MAX] = {};
  for (int i = 0; i < tensor.rank; ++i) {
    if (tensor.dims[i] == 0) return true;
    used[i] = tensor.dims[i] == 1;
  }
  for (int found = 0; found < tensor.rank; ++found) {
    int next = -1;
    for (int i = 0; i < tensor.rank; ++i) {
      if (!used[i] && (next < 0 || tensor.strides[i] < tensor.strides[next])) next = i;
    }
    if (next < 0) return true;
    if (tensor.strides[next] != expected) return false;
    expected *= tensor.dims[next];
    used[next] = true;
  }
  return true;
}

// Whether the bytes from the first to the last element, before and after the first, are numbers of
// 63 bits.
bool has_span(const FftTensor &tensor) {
  std::int64_t reach = 1, bytes;
  for (int dim = 0; dim < tensor.rank; ++dim) {
    std::int64_t step;
    if (__builtin_mul_overflow(tensor.dims[dim] - 1, tensor.strides[dim], &step) || step == INT64_MIN ||
        __builtin_add_overflow(reach, step < 0 ? -step : step, &reach))
      return false;
  }
  return !__builtin_mul_overflow(reach, static_cast<std::int64_t>(size_of(tensor.dtype)), &bytes);
}

mluOpStatus_t check_sizes(const char *function, const Buffer &input, const Buffer &output) {
  for (const Buffer &buffer : {input, output}) {
    MLUOPS_REQUIRE(buffer.elements() == 0 || has_span(*buffer.tensor), MLUOP_STATUS_NOT_SUPPORTED, function, "fft_plan",
                   Text::format("strides of the %s that reach less than 2^63 bytes", buffer.name),
                   dims_of(*buffer.tensor));
    MLUOPS_REQUIRE(buffer.elements() < kIndexable, MLUOP_STATUS_NOT_SUPPORTED, function, "fft_plan",
                   Text::format("fewer than 2^31 elements of the %s", buffer.name), dims_of(*buffer.tensor));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_data(const char *function, const Buffer &input, const Buffer &output) {
  if (input.elements() > 0) MLUOPS_TRY(need_pointer(function, input.name, input.data));
  MLUOPS_TRY(need_pointer(function, output.name, output.data));
  for (const Buffer &buffer : {input, output}) {
    const std::size_t real =
        buffer.tensor->dtype == MLUOP_DTYPE_HALF || buffer.tensor->dtype == MLUOP_DTYPE_COMPLEX_HALF
            ? sizeof(std::uint16_t)
            : sizeof(float);
    MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(buffer.data) % real == 0, MLUOP_STATUS_BAD_PARAM, function,
                   buffer.name, Text::format("an address aligned to %zu bytes", real), Text::format("%p", buffer.data));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_two_dims(const char *function, const FftSettings &plan, bool to_real) {
  if (plan.rank != 2) return MLUOP_STATUS_SUCCESS;
  for (const FftTensor *tensor : {&plan.input, &plan.output}) {
    MLUOPS_REQUIRE(is_dense(*tensor), MLUOP_STATUS_BAD_PARAM, function, "fft_plan", "dense tensors for two dims",
                   "strides with gaps");
  }
  const std::int64_t width = plan.input.dims[plan.input.rank - 1], most = to_real ? plan.n[1] / 2 + 1 : plan.n[1];
  MLUOPS_REQUIRE(width <= most, MLUOP_STATUS_BAD_PARAM, function, "fft_plan",
                 Text::format("at most %lld elements in the last dim of the input", static_cast<long long>(most)),
                 Text::format("%lld", static_cast<long long>(width)));
  return MLUOP_STATUS_SUCCESS;
}

// The bytes from the first to the last element, before and after `data`.
struct Span {
  std::intptr_t begin;
  std::intptr_t end;
};

Span span_of(const Buffer &buffer) {
  std::int64_t low = 0, high = 0;
  for (int dim = 0; dim < buffer.tensor->rank; ++dim) {
    const std::int64_t last = (buffer.tensor->dims[dim] - 1) * buffer.tensor->strides[dim];
    (last < 0 ? low : high) += last;
  }
  const auto bytes = static_cast<std::int64_t>(size_of(buffer.tensor->dtype));
  const auto start = reinterpret_cast<std::intptr_t>(buffer.data);
  return {start + low * bytes, start + (high + 1) * bytes};
}

// In place the result of a signal may not reach into the next one. Other memory may not be shared.
mluOpStatus_t check_overlap(const char *function, const FftSettings &plan, FftKind kind, const Buffer &input,
                            const Buffer &output) {
  if (input.elements() == 0 || output.elements() == 0) return MLUOP_STATUS_SUCCESS;
  const Span from = span_of(input), to = span_of(output);
  if (from.begin >= to.end || to.begin >= from.end) return MLUOP_STATUS_SUCCESS;
  MLUOPS_REQUIRE(input.data == output.data, MLUOP_STATUS_BAD_PARAM, function, "output",
                 "memory of its own, or the address of the input", "bytes that belong to input too");
  if (plan.batch < 2 || plan.input.rank == plan.rank) return MLUOP_STATUS_SUCCESS;
  const std::int64_t before = plan.input.strides[0], after = plan.output.strides[0];
  const bool fits = kind == FftKind::kComplex         ? after <= before
                    : kind == FftKind::kRealToComplex ? 2 * after <= before
                                                      : 2 * before <= after;
  MLUOPS_REQUIRE(fits, MLUOP_STATUS_BAD_PARAM, function, "output",
                 "in place, results that do not reach into the next signal",
                 Text::format("strides %lld and %lld", static_cast<long long>(before), static_cast<long long>(after)));
  return MLUOP_STATUS_SUCCESS;
}

FftLayout layout_of(const FftTensor &tensor, int rank) {
  FftLayout layout = {};
  const int first = tensor.rank - rank;
  if (first == 1) layout.outer = tensor.strides[0];
  layout.step[1] = tensor.strides[tensor.rank - 1];
  layout.count[1] = tensor.dims[tensor.rank - 1];
  layout.step[0] = rank == 2 ? tensor.strides[first] : 0;
  layout.count[0] = rank == 2 ? tensor.dims[first] : 1;
  return layout;
}

// Whether every element has a place of its own, as far as a look at two strides tells.
bool is_apart(const FftTensor &tensor) {
  if (tensor.rank == 1) return tensor.strides[0] != 0 || tensor.dims[0] < 2;
  const int inner = tensor.strides[0] < 0 || tensor.strides[0] >= tensor.strides[1] ? 1 : 0;
  const std::int64_t wide = tensor.strides[1 - inner] < 0 ? -tensor.strides[1 - inner] : tensor.strides[1 - inner];
  const std::int64_t reach = (tensor.dims[inner] - 1) * tensor.strides[inner];
  const bool rows = tensor.dims[inner] < 2 || tensor.strides[inner] != 0;
  return rows && (tensor.dims[1 - inner] < 2 || reach < wide);
}

FftKind kind_of(const FftSettings &plan) {
  const mluOpDataType_t in = plan.input.dtype, out = plan.output.dtype;
  if (in == MLUOP_DTYPE_FLOAT || in == MLUOP_DTYPE_HALF) return FftKind::kRealToComplex;
  return out == MLUOP_DTYPE_FLOAT || out == MLUOP_DTYPE_HALF ? FftKind::kComplexToReal : FftKind::kComplex;
}

mluOpStatus_t execute(const char *function, mluOpHandle_t handle, mluOpFFTPlan_t fft_plan, const void *data,
                      float scale_factor, const void *workspace, void *result, int direction) {
  FftSettings plan;
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(read_settings(function, "fft_plan", fft_plan, &plan, MLUOP_STATUS_NOT_INITIALIZED));
  if (plan.batch == 0) return MLUOP_STATUS_SUCCESS;
  const FftKind kind = kind_of(plan);
  const Buffer input{"input", &plan.input, data}, output{"output", &plan.output, result};
  MLUOPS_TRY(check_sizes(function, input, output));
  if (plan.workspace_bytes > 0) MLUOPS_TRY(need_pointer(function, "workspace", workspace));
  MLUOPS_TRY(check_data(function, input, output));
  MLUOPS_TRY(check_two_dims(function, plan, kind == FftKind::kComplexToReal));
  if (kind == FftKind::kComplex) MLUOPS_TRY(need_between(function, "direction", direction, 0, 1));
  MLUOPS_TRY(check_overlap(function, plan, kind, input, output));
  FftProblem problem = {};
  problem.function = function;
  problem.kind = kind;
  const bool half = plan.output.dtype == MLUOP_DTYPE_HALF || plan.output.dtype == MLUOP_DTYPE_COMPLEX_HALF;
  problem.dtype = half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT;
  problem.rank = plan.rank;
  problem.n[0] = plan.rank == 2 ? plan.n[0] : 1;
  problem.n[1] = plan.n[plan.rank - 1];
  problem.outer = plan.batch;
  problem.inner = 1;
  problem.input = input.elements() > 0 ? data : result;
  problem.output = result;
  problem.from = layout_of(plan.input, plan.rank);
  problem.to = layout_of(plan.output, plan.rank);
  problem.inverse = kind == FftKind::kComplexToReal || (kind == FftKind::kComplex && direction == 1);
  problem.overlapping = data == result && input.elements() > 0;
  problem.ordered = plan.rank == 1 && !is_apart(plan.output);
  problem.scale = static_cast<double>(scale_factor);
  problem.weight = 1;
  problem.single = {plan.tables->first.get(), plan.tables->last.get()};
  return launch_fft(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpExecFFT(mluOpHandle_t handle, const mluOpFFTPlan_t fft_plan, const void *input,
                                         const float scale_factor, void *workspace, void *output, int direction) {
  return mluops::guarded("mluOpExecFFT", [&] {
    return mluops::execute("mluOpExecFFT", handle, fft_plan, input, scale_factor, workspace, output, direction);
  });
}
