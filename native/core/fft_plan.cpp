// The FFT plan: the description of a transform, which mluOpExecFFT reads.
#include "core/check.h"
#include "core/exception_guard.h"
#include "core/settings.h"

namespace mluops {
namespace {

const Pool<mluOpFFTStruct>::AtLoad g_plan_at_load;

constexpr int kMostRank = 3;  // of the header; plans with 3 dims are not supported
constexpr std::size_t kReserveBytes = 0, kWorkspaceBytes = 0;

enum class Transform {
  kRealToComplex,
  kComplexToComplex,
  kComplexToReal
};

struct DtypePair {
  mluOpDataType_t input, output;
  Transform transform;
};
constexpr DtypePair kDtypePairs[] = {
    {MLUOP_DTYPE_HALF, MLUOP_DTYPE_COMPLEX_HALF, Transform::kRealToComplex},
    {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_COMPLEX_FLOAT, Transform::kRealToComplex},
    {MLUOP_DTYPE_COMPLEX_HALF, MLUOP_DTYPE_COMPLEX_HALF, Transform::kComplexToComplex},
    {MLUOP_DTYPE_COMPLEX_FLOAT, MLUOP_DTYPE_COMPLEX_FLOAT, Transform::kComplexToComplex},
    {MLUOP_DTYPE_COMPLEX_HALF, MLUOP_DTYPE_HALF, Transform::kComplexToReal},
    {MLUOP_DTYPE_COMPLEX_FLOAT, MLUOP_DTYPE_FLOAT, Transform::kComplexToReal}};

bool is_half(mluOpDataType_t dtype) { return dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_COMPLEX_HALF; }

bool is_real(mluOpDataType_t dtype) { return dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_FLOAT; }

mluOpStatus_t check_lengths(const char *function, int rank, const int *n) {
  MLUOPS_TRY(need_between(function, "rank", rank, 1, kMostRank));
  for (int i = 0; i < rank; ++i) MLUOPS_TRY(need_at_least(function, "n", n[i], 1));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_dims(const char *function, mluOpTensorDescriptor_t input, mluOpTensorDescriptor_t output,
                         int rank) {
  MLUOPS_REQUIRE(input->rank == rank || input->rank == rank + 1, MLUOP_STATUS_BAD_PARAM, function, "input_desc",
                 Text::format("%d dims, or %d with a batch", rank, rank + 1), describe(input));
  MLUOPS_REQUIRE(output->rank == input->rank, MLUOP_STATUS_BAD_PARAM, function, "output_desc",
                 Text::format("%d dims as the input", input->rank), describe(output));
  MLUOPS_REQUIRE(input->rank == rank || input->dims[0] == output->dims[0], MLUOP_STATUS_BAD_PARAM, function,
                 "output_desc", Text::format("the batch of the input, %lld", static_cast<long long>(input->dims[0])),
                 describe(output));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_innermost_stride(const char *function, const char *argument, mluOpTensorDescriptor_t desc) {
  const std::int64_t stride = desc->strides[desc->rank - 1];
  MLUOPS_REQUIRE(stride >= 0, MLUOP_STATUS_BAD_PARAM, function, argument, "no negative innermost stride",
                 Text::format("%lld", static_cast<long long>(stride)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t find_transform(const char *function, mluOpDataType_t input, mluOpDataType_t output,
                             Transform *transform) {
  for (const DtypePair &pair : kDtypePairs) {
    if (pair.input != input || pair.output != output) continue;
    *transform = pair.transform;
    return MLUOP_STATUS_SUCCESS;
  }
  return refuse(MLUOP_STATUS_BAD_PARAM, function, "output_desc",
                Text::format("a dtype that a transform of %s has", name_of(input)), name_of(output));
}

// The dims of one transformed signal; of three only the last, since three are refused later.
mluOpStatus_t check_output_dims(const char *function, mluOpTensorDescriptor_t output, int rank, const int *n,
                                Transform transform) {
  for (int i = rank == 2 ? 0 : rank - 1; i < rank; ++i) {
    const bool halved = i == rank - 1 && transform == Transform::kRealToComplex;
    const std::int64_t expected = halved ? n[i] / 2 + 1 : n[i];
    const int dim = output->rank - rank + i;
    MLUOPS_REQUIRE(output->dims[dim] == expected, MLUOP_STATUS_BAD_PARAM, function, "output_desc",
                   Text::format("dim %d = %lld", dim, static_cast<long long>(expected)), describe(output));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_onchip_dtype(const char *function, mluOpTensorDescriptor_t input) {
  const bool half = is_half(input->dtype);
  const mluOpDataType_t real = half ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT;
  const mluOpDataType_t fixed = half ? MLUOP_DTYPE_INT16 : MLUOP_DTYPE_INT31;
  MLUOPS_REQUIRE(input->onchip_dtype == real || input->onchip_dtype == fixed, MLUOP_STATUS_BAD_PARAM, function,
                 "input_desc", Text::format("on-chip dtype %s or %s", name_of(real), name_of(fixed)),
                 Text::format("on-chip dtype %s", name_of(input->onchip_dtype)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_supported(const char *function, mluOpTensorDescriptor_t input, int rank, const int *n) {
  MLUOPS_REQUIRE(rank < kMostRank, MLUOP_STATUS_NOT_SUPPORTED, function, "rank", "1 or 2", Text::format("%d", rank));
  const int last = n[rank - 1];
  MLUOPS_REQUIRE(!is_half(input->dtype) || (last & (last - 1)) == 0, MLUOP_STATUS_NOT_SUPPORTED, function, "n",
                 "a power of two for half", Text::format("%d", last));
  return MLUOP_STATUS_SUCCESS;
}

FftTensor copy_of(mluOpTensorDescriptor_t desc) {
  FftTensor tensor = {};
  tensor.dtype = desc->dtype;
  tensor.onchip_dtype = desc->onchip_dtype;
  tensor.rank = desc->rank;
  for (int i = 0; i < desc->rank; ++i) {
    tensor.dims[i] = desc->dims[i];
    tensor.strides[i] = desc->strides[i];
  }
  return tensor;
}

FftSettings settings_of(mluOpTensorDescriptor_t input, mluOpTensorDescriptor_t output, int rank, const int *n) {
  FftSettings settings = {};
  settings.rank = rank;
  for (int i = 0; i < rank; ++i) settings.n[i] = n[i];
  settings.batch = input->rank == rank ? 1 : input->dims[0];
  settings.input = copy_of(input);
  settings.output = copy_of(output);
  settings.workspace_bytes = kWorkspaceBytes;
  const bool real = is_real(settings.input.dtype) || is_real(settings.output.dtype);
  if (make_fft_tables != nullptr) settings.tables = make_fft_tables(rank, n, real);
  return settings;
}

mluOpStatus_t make(const char *function, mluOpHandle_t handle, mluOpFFTPlan_t fft_plan,
                   mluOpTensorDescriptor_t input_desc, mluOpTensorDescriptor_t output_desc, int rank, const int *n,
                   std::size_t *reservespace_size, std::size_t *workspace_size) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_REQUIRE(fft_plan != nullptr, MLUOP_STATUS_NOT_INITIALIZED, function, "fft_plan", "an fft plan", "NULL");
  MLUOPS_TRY(need_object(function, "fft_plan", fft_plan));
  MLUOPS_TRY(need_descriptor(function, "input_desc", input_desc));
  MLUOPS_TRY(need_descriptor(function, "output_desc", output_desc));
  MLUOPS_TRY(need_pointer(function, "n", n));
  MLUOPS_TRY(need_pointer(function, "reservespace_size", reservespace_size));
  MLUOPS_TRY(need_pointer(function, "workspace_size", workspace_size));
  MLUOPS_TRY(check_lengths(function, rank, n));
  MLUOPS_TRY(check_dims(function, input_desc, output_desc, rank));
  MLUOPS_TRY(check_innermost_stride(function, "input_desc", input_desc));
  MLUOPS_TRY(check_innermost_stride(function, "output_desc", output_desc));
  Transform transform = {};
  MLUOPS_TRY(find_transform(function, input_desc->dtype, output_desc->dtype, &transform));
  MLUOPS_TRY(check_output_dims(function, output_desc, rank, n, transform));
  MLUOPS_TRY(check_onchip_dtype(function, input_desc));
  MLUOPS_TRY(check_supported(function, input_desc, rank, n));
  store_settings(fft_plan, settings_of(input_desc, output_desc, rank, n));
  *reservespace_size = kReserveBytes;
  *workspace_size = kWorkspaceBytes;
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpCreateFFTPlan(mluOpFFTPlan_t *fft_plan) {
  return mluops::guarded(__func__, [&] { return mluops::create_object("mluOpCreateFFTPlan", "fft_plan", fft_plan); });
}

mluOpStatus_t MLUOP_WIN_API mluOpMakeFFTPlanMany(mluOpHandle_t handle, mluOpFFTPlan_t fft_plan,
                                                 const mluOpTensorDescriptor_t input_desc,
                                                 const mluOpTensorDescriptor_t output_desc, const int rank,
                                                 const int n[], size_t *reservespace_size, size_t *workspace_size) {
  return mluops::guarded(__func__, [&] {
    return mluops::make("mluOpMakeFFTPlanMany", handle, fft_plan, input_desc, output_desc, rank, n, reservespace_size,
                        workspace_size);
  });
}

// Plans keep nothing in the area, so NULL is allowed as for every area of 0 bytes.
mluOpStatus_t MLUOP_WIN_API mluOpSetFFTReserveArea(mluOpHandle_t handle, mluOpFFTPlan_t fft_plan, void *reservespace) {
  mluops::FftSettings settings;
  MLUOPS_TRY(mluops::need_handle(__func__, handle));
  MLUOPS_TRY(mluops::read_settings(__func__, "fft_plan", fft_plan, &settings, MLUOP_STATUS_NOT_INITIALIZED));
  fft_plan->settings.reserve_area = reservespace;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroyFFTPlan(mluOpFFTPlan_t fft_plan) {
  return mluops::destroy_object(__func__, "fft_plan", fft_plan);
}
