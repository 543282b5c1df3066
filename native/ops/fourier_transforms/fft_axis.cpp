// Transforms along one dim without a plan.
#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/fourier_transforms.h"
#include "ops/fourier_transforms/fft.h"

namespace mluops {
namespace {

struct Call {
  const char *function;
  FftKind kind;
  bool inverse;
  double weight;
  double scale;
};

mluOpStatus_t check_shapes(const Call &call, const TensorArgument &input, const TensorArgument &output) {
  const bool from_real = call.kind == FftKind::kRealToComplex, to_real = call.kind == FftKind::kComplexToReal;
  MLUOPS_TRY(need_rank(call.function, input, from_real ? 3 : 4, from_real ? "[A, N, C]" : "[A, N, C, 2]"));
  MLUOPS_TRY(need_rank(call.function, output, to_real ? 3 : 4, to_real ? "[A, N, C]" : "[A, N, C, 2]"));
  if (!from_real) MLUOPS_TRY(need_dim(call.function, input, 3, "2", 2));
  if (!to_real) MLUOPS_TRY(need_dim(call.function, output, 3, "2", 2));
  MLUOPS_TRY(need_same_dim(call.function, output, 0, input, 0));
  MLUOPS_TRY(need_same_dim(call.function, output, 2, input, 2));
  if (call.kind == FftKind::kComplex) return need_same_dim(call.function, output, 1, input, 1);
  const TensorArgument &spectrum = from_real ? output : input, &signal = from_real ? input : output;
  const std::int64_t n = signal.desc->dims[1];
  const Text frequencies = Text::format("N / 2 + 1 of N=%lld", static_cast<long long>(n));
  return need_dim(call.function, spectrum, 1, frequencies.c_str(), n / 2 + 1);
}

FftLayout layout_of(const std::int64_t *dims) { return {dims[1] * dims[2], 1, {0, dims[2]}, {1, dims[1]}}; }

mluOpStatus_t transform(const Call &call, mluOpHandle_t handle, const TensorArgument &input,
                        const TensorArgument &output) {
  MLUOPS_TRY(need_handle(call.function, handle));
  MLUOPS_TRY(need_descriptors(call.function, {input, output}));
  MLUOPS_TRY(check_shapes(call, input, output));
  MLUOPS_TRY(need_packed(call.function, {input, output}));
  MLUOPS_TRY(need_real(call.function, input));
  MLUOPS_TRY(need_same_dtype(call.function, output, input));
  for (const TensorArgument &tensor : {input, output}) MLUOPS_TRY(need_elements(call.function, tensor));
  MLUOPS_TRY(need_indexable(call.function, {input, output}));
  MLUOPS_TRY(need_data(call.function, {input, output}));
  MLUOPS_TRY(require_no_overlap(call.function, {output}, {input}));
  FftProblem problem = {};
  problem.function = call.function;
  problem.kind = call.kind;
  problem.dtype = input.desc->dtype;
  problem.rank = 1;
  problem.n[0] = 1;
  problem.n[1] = (call.kind == FftKind::kComplexToReal ? output : input).desc->dims[1];
  problem.outer = input.desc->dims[0];
  problem.inner = input.desc->dims[2];
  problem.input = input.data;
  problem.output = const_cast<void *>(output.data);
  problem.from = layout_of(input.desc->dims);
  problem.to = layout_of(output.desc->dims);
  problem.inverse = call.inverse;
  problem.scale = call.scale;
  problem.weight = call.weight;
  const bool real = call.kind != FftKind::kComplex;
  if (problem.dtype == MLUOP_DTYPE_DOUBLE) {
    const SharedFftAxis<double> axis = fft_axis<double>(problem.n[1], real);
    problem.twofold.last = axis.get();
    return launch_fft(handle, problem);
  }
  const SharedFftAxis<float> axis = fft_axis<float>(problem.n[1], real);
  problem.single.last = axis.get();
  return launch_fft(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtFftForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                const void *input, const double scale_factor,
                                                const mluOpTensorDescriptor_t output_desc, void *output) {
  constexpr const char *kFunction = "mluopsExtFftForward";
  return mluops::guarded(kFunction, [&] {
    return mluops::transform({kFunction, mluops::FftKind::kComplex, false, 1.0, scale_factor}, handle,
                             {"input", input_desc, input}, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtFftInverse(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                const void *input, const double scale_factor,
                                                const mluOpTensorDescriptor_t output_desc, void *output) {
  constexpr const char *kFunction = "mluopsExtFftInverse";
  return mluops::guarded(kFunction, [&] {
    return mluops::transform({kFunction, mluops::FftKind::kComplex, true, 1.0, scale_factor}, handle,
                             {"input", input_desc, input}, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtFftRealForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                    const void *input, const double weight, const double scale_factor,
                                                    const mluOpTensorDescriptor_t output_desc, void *output) {
  constexpr const char *kFunction = "mluopsExtFftRealForward";
  return mluops::guarded(kFunction, [&] {
    return mluops::transform({kFunction, mluops::FftKind::kRealToComplex, false, weight, scale_factor}, handle,
                             {"input", input_desc, input}, {"output", output_desc, output});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtFftRealInverse(mluOpHandle_t handle, const mluOpTensorDescriptor_t input_desc,
                                                    const void *input, const double weight, const double scale_factor,
                                                    const mluOpTensorDescriptor_t output_desc, void *output) {
  constexpr const char *kFunction = "mluopsExtFftRealInverse";
  return mluops::guarded(kFunction, [&] {
    // The inverse of the whole spectrum counts such frequencies twice.
    return mluops::transform({kFunction, mluops::FftKind::kComplexToReal, true, weight / 2, scale_factor}, handle,
                             {"input", input_desc, input}, {"output", output_desc, output});
  });
}
