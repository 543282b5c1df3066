#include "ops/pointwise/pointwise.h"

#include "core/exception_guard.h"
#include "ops/pointwise/places.h"

namespace mluops {
namespace {

using pointwise::need_own_memory;
using pointwise::need_places;
using pointwise::need_same_dense;
using pointwise::set_places;
typedef std::initializer_list<TensorArgument> Tensors;

struct TypePair {
  mluOpDataType_t in;
  mluOpDataType_t out;
};

constexpr TypePair kHalf{MLUOP_DTYPE_HALF, MLUOP_DTYPE_HALF}, kFloat{MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_FLOAT},
    kBfloat16{MLUOP_DTYPE_BFLOAT16, MLUOP_DTYPE_BFLOAT16}, kDouble{MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_DOUBLE};

// In the order of the vendor: the types of input and result fit, and are among those allowed. The
// numbers of dims are compared between the two.
mluOpStatus_t check_pair(const Entry &entry, const TensorArgument &x, const TensorArgument &y,
                         std::initializer_list<TypePair> allowed) {
  mluOpDataType_t wanted = x.desc->dtype;
  bool known = false;
  for (const TypePair &pair : allowed) {
    if (x.desc->dtype != pair.in) continue;
    wanted = pair.out;
    known = true;
  }
  if (wanted == x.desc->dtype) {
    MLUOPS_TRY(need_same_dtype(entry, y, x));
  } else {
    MLUOPS_TRY(need_dtype(entry, y, wanted));
  }
  MLUOPS_REQUIRE(x.desc->rank == y.desc->rank, MLUOP_STATUS_BAD_PARAM, entry, y.name,
                 Text::format("as many dims as %s has, %d", x.name, x.desc->rank), Text::format("%d", y.desc->rank));
  MLUOPS_REQUIRE(known, MLUOP_STATUS_BAD_PARAM, entry, x.name, "a type that the function computes", describe(x.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_dims(const char *function, Tensors tensors) {
  for (const TensorArgument &tensor : tensors)
    MLUOPS_REQUIRE(tensor.desc->rank > 0, MLUOP_STATUS_BAD_PARAM, function, tensor.name, "at least 1 dim", "a scalar");
  return MLUOP_STATUS_SUCCESS;
}

bool any_empty(Tensors tensors) {
  for (const TensorArgument &tensor : tensors) {
    if (tensor.desc->count == 0) return true;
  }
  return false;
}

// `same_dense`: tensors are walked as flat ones, and others are not supported.
mluOpStatus_t check_unary(const Entry &entry, mluOpHandle_t handle, const TensorArgument &x, const TensorArgument &y,
                          std::initializer_list<TypePair> allowed, bool same_dense) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {x, y}));
  if (entry.in_double) {
    MLUOPS_TRY(check_pair(entry, x, y, {kDouble}));
  } else {
    MLUOPS_TRY(check_pair(entry, x, y, allowed));
  }
  MLUOPS_TRY(need_dims(entry, {x, y}));
  MLUOPS_TRY(need_same_shape(entry, y, x));
  if (any_empty({x, y})) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {x, y}));
  if (same_dense) MLUOPS_TRY(need_same_dense(entry, {x, y}));
  MLUOPS_TRY(need_places(entry, {x, y}));
  return need_own_memory(entry, {x, y});
}

// Dims are compared from the last one on; where one of two is 1 it is stretched.
mluOpStatus_t need_broadcast(const char *function, const TensorArgument &a, const TensorArgument &b,
                             const TensorArgument &out) {
  const int rank = a.desc->rank > b.desc->rank ? a.desc->rank : b.desc->rank;
  MLUOPS_REQUIRE(out.desc->rank == rank, MLUOP_STATUS_BAD_PARAM, function, out.name, Text::format("%d dims", rank),
                 describe(out.desc));
  for (int dim = 0; dim < rank; ++dim) {
    const int of_a = dim - (rank - a.desc->rank), of_b = dim - (rank - b.desc->rank);
    const std::int64_t one = of_a < 0 ? 1 : a.desc->dims[of_a], other = of_b < 0 ? 1 : b.desc->dims[of_b];
    MLUOPS_REQUIRE(one == other || one == 1 || other == 1, MLUOP_STATUS_BAD_PARAM, function, b.name,
                   Text::format("dims that go together with %s", describe(a.desc).c_str()), describe(b.desc));
    const long long wanted = one == 1 ? other : one;
    MLUOPS_REQUIRE(out.desc->dims[dim] == wanted, MLUOP_STATUS_BAD_PARAM, function, out.name,
                   Text::format("dim %d = %lld", dim, wanted), describe(out.desc));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_binary(const Entry &entry, mluOpHandle_t handle, const TensorArgument &a, const TensorArgument &b,
                           const TensorArgument &out, bool broadcast) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {a, b, out}));
  MLUOPS_TRY(need_same_dtype(entry, b, a));
  MLUOPS_TRY(need_same_dtype(entry, out, a));
  MLUOPS_TRY(need_dims(entry, {a, b, out}));
  MLUOPS_TRY(need_float_or_half(entry, a));
  if (broadcast) {
    MLUOPS_TRY(need_broadcast(entry, a, b, out));
  } else {
    MLUOPS_TRY(need_same_shape(entry, b, a));
    MLUOPS_TRY(need_same_shape(entry, out, a));
  }
  if (any_empty({a, b, out})) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {a, b, out}));
  MLUOPS_TRY(need_same_dense(entry, {a, b, out}));
  MLUOPS_TRY(need_places(entry, {a, b, out}));
  return need_own_memory(entry, {a, b, out});
}

mluOpStatus_t compute(const Entry &entry, mluOpHandle_t handle, Formula formula, Tensors tensors) {
  if (any_empty(tensors)) return MLUOP_STATUS_SUCCESS;
  PointwiseProblem problem;
  problem.function = entry.function;
  problem.formula = formula;
  problem.in_type = tensors.begin()->desc->dtype;
  problem.out_type = tensors.end()[-1].desc->dtype;
  set_places(tensors, &problem);
  return launch_pointwise(handle, problem);
}

}  // namespace

mluOpStatus_t abs(const Entry &entry, mluOpHandle_t handle, const TensorArgument &x, const TensorArgument &y) {
  constexpr TypePair kInt32{MLUOP_DTYPE_INT32, MLUOP_DTYPE_INT32},
      kComplex{MLUOP_DTYPE_COMPLEX_FLOAT, MLUOP_DTYPE_FLOAT};
  MLUOPS_TRY(check_unary(entry, handle, x, y, {kHalf, kFloat, kInt32, kBfloat16, kComplex}, false));
  return compute(entry, handle, Formula::kAbs, {x, y});
}

mluOpStatus_t sqrt(const Entry &entry, mluOpHandle_t handle, mluOpComputationPreference_t prefer,
                   const TensorArgument &x, const TensorArgument &y) {
  constexpr TypePair kInt32{MLUOP_DTYPE_INT32, MLUOP_DTYPE_FLOAT};
  MLUOPS_TRY(need_between(entry, "prefer", static_cast<int>(prefer), MLUOP_COMPUTATION_FAST,
                          MLUOP_COMPUTATION_HIGH_PRECISION));
  MLUOPS_TRY(need_descriptors(entry, {x, y}));
  MLUOPS_TRY(check_unary(entry, handle, x, y, {kHalf, kFloat, kBfloat16, kInt32}, true));
  return compute(entry, handle, Formula::kSqrt, {x, y});
}

mluOpStatus_t sqrt_backward(const Entry &entry, mluOpHandle_t handle, const TensorArgument &y,
                            const TensorArgument &diff_y, const TensorArgument &diff_x) {
  MLUOPS_TRY(check_binary(entry, handle, y, diff_y, diff_x, false));
  return compute(entry, handle, Formula::kSqrtBackward, {y, diff_y, diff_x});
}

mluOpStatus_t log(const Entry &entry, mluOpHandle_t handle, mluOpComputationPreference_t, mluOpLogBase_t base,
                  const TensorArgument &x, const TensorArgument &y) {
  static constexpr Formula kFormulas[] = {Formula::kLogE, Formula::kLog2, Formula::kLog10};
  MLUOPS_TRY(check_unary(entry, handle, x, y, {kHalf, kFloat}, true));
  if (any_empty({x, y})) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_between(entry, "base", static_cast<int>(base), MLUOP_LOG_E, MLUOP_LOG_10));
  return compute(entry, handle, kFormulas[base], {x, y});
}

mluOpStatus_t div(const Entry &entry, mluOpHandle_t handle, mluOpComputationPreference_t, const TensorArgument &x,
                  const TensorArgument &y, const TensorArgument &z) {
  MLUOPS_TRY(check_binary(entry, handle, x, y, z, true));
  return compute(entry, handle, Formula::kDiv, {x, y, z});
}

mluOpStatus_t lgamma(const Entry &entry, mluOpHandle_t handle, const TensorArgument &x, const TensorArgument &y) {
  MLUOPS_TRY(check_unary(entry, handle, x, y, {kHalf, kFloat}, false));
  return compute(entry, handle, Formula::kLgamma, {x, y});
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(Abs);
MLUOPS_IN_DOUBLE(Sqrt);
MLUOPS_IN_DOUBLE(SqrtBackward);
MLUOPS_IN_DOUBLE(Log);
MLUOPS_IN_DOUBLE(Div);
MLUOPS_IN_DOUBLE(Lgamma);

mluOpStatus_t MLUOP_WIN_API mluOpAbs(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x,
                                     const mluOpTensorDescriptor_t y_desc, void *y) {
  return mluops::guarded("mluOpAbs",
                         [&] { return mluops::abs({"mluOpAbs"}, handle, {"x", x_desc, x}, {"y", y_desc, y}); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSqrt(mluOpHandle_t handle, const mluOpComputationPreference_t prefer,
                                      const mluOpTensorDescriptor_t x_desc, const void *x,
                                      const mluOpTensorDescriptor_t y_desc, void *y) {
  return mluops::guarded(
      "mluOpSqrt", [&] { return mluops::sqrt({"mluOpSqrt"}, handle, prefer, {"x", x_desc, x}, {"y", y_desc, y}); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSqrtBackward(mluOpHandle_t handle, const mluOpTensorDescriptor_t y_desc, const void *y,
                                              const mluOpTensorDescriptor_t dy_desc, const void *diff_y,
                                              const mluOpTensorDescriptor_t dx_desc, void *diff_x) {
  return mluops::guarded("mluOpSqrtBackward", [&] {
    return mluops::sqrt_backward({"mluOpSqrtBackward"}, handle, {"y", y_desc, y}, {"dy", dy_desc, diff_y},
                                 {"dx", dx_desc, diff_x});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpLog(mluOpHandle_t handle, const mluOpComputationPreference_t prefer,
                                     const mluOpLogBase_t base, const mluOpTensorDescriptor_t x_desc, const void *x,
                                     const mluOpTensorDescriptor_t y_desc, void *y) {
  return mluops::guarded(
      "mluOpLog", [&] { return mluops::log({"mluOpLog"}, handle, prefer, base, {"x", x_desc, x}, {"y", y_desc, y}); });
}

mluOpStatus_t MLUOP_WIN_API mluOpDiv(mluOpHandle_t handle, const mluOpComputationPreference_t prefer,
                                     const mluOpTensorDescriptor_t x_desc, const void *x,
                                     const mluOpTensorDescriptor_t y_desc, const void *y,
                                     const mluOpTensorDescriptor_t z_desc, void *z) {
  return mluops::guarded("mluOpDiv", [&] {
    return mluops::div({"mluOpDiv"}, handle, prefer, {"x", x_desc, x}, {"y", y_desc, y}, {"z", z_desc, z});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpLgamma(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x,
                                        const mluOpTensorDescriptor_t y_desc, void *y) {
  return mluops::guarded("mluOpLgamma",
                         [&] { return mluops::lgamma({"mluOpLgamma"}, handle, {"x", x_desc, x}, {"y", y_desc, y}); });
}
