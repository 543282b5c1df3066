#include "ops/logspace/logspace.h"

#include <cmath>

#include "core/check.h"
#include "core/exception_guard.h"

namespace mluops {
namespace {

// The value in the type of the result: the next half, or the whole number towards 0 within int32.
double in_type(float value, mluOpDataType_t dtype) {
  const double wide = static_cast<double>(value);
  if (dtype == MLUOP_DTYPE_INT32) {
    if (std::isnan(wide)) return 0;
    return std::trunc(wide < -2147483648.0 ? -2147483648.0 : wide > 2147483647.0 ? 2147483647.0 : wide);
  }
  if (dtype != MLUOP_DTYPE_HALF || !std::isfinite(wide) || wide == 0) return wide;
  // Halves are 2^-10 of their power of two apart, from 2^-14 down always 2^-24.
  const double step = std::ldexp(1.0, (std::ilogb(wide) < -14 ? -14 : std::ilogb(wide)) - 10);
  const double rounded = std::nearbyint(wide / step) * step;
  return std::fabs(rounded) < 65520 ? rounded : std::copysign(HUGE_VAL, wide);
}

mluOpStatus_t logspace(mluOpHandle_t handle, float start, float end, std::int64_t steps, float base,
                       const TensorArgument &res) {
  constexpr const char *kFunction = "mluOpLogspace";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {res}));
  MLUOPS_REQUIRE(steps >= 0, MLUOP_STATUS_BAD_PARAM, kFunction, "steps", "at least 0",
                 Text::format("%lld", static_cast<long long>(steps)));
  MLUOPS_REQUIRE(steps <= res.desc->count, MLUOP_STATUS_BAD_PARAM, kFunction, "steps",
                 Text::format("at most the elements of res, %lld", static_cast<long long>(res.desc->count)),
                 Text::format("%lld", static_cast<long long>(steps)));
  const mluOpDataType_t dtype = res.desc->dtype;
  MLUOPS_REQUIRE(dtype == MLUOP_DTYPE_FLOAT || dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_INT32,
                 MLUOP_STATUS_BAD_PARAM, kFunction, "res_desc", "half, float or int32", describe(res.desc));
  MLUOPS_TRY(need_packed(kFunction, {res}));
  if (steps == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(kFunction, {res}));
  // A single value has the exponent as it was given.
  const bool alone = steps == 1;
  return launch_logspace(handle, {kFunction, alone ? static_cast<double>(start) : in_type(start, dtype),
                                  in_type(end, dtype), base, steps, dtype, const_cast<void *>(res.data)});
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpLogspace(mluOpHandle_t handle, const float start, const float end, const int64_t steps,
                                          const float base, const mluOpTensorDescriptor_t res_desc, void *res) {
  return mluops::guarded("mluOpLogspace",
                         [&] { return mluops::logspace(handle, start, end, steps, base, {"res", res_desc, res}); });
}
