#include "ops/bev_pool/bev_pool.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/bev_pool.h"

namespace mluops {
namespace {

// `rows` are the features or their gradient, `cells` the output or its gradient.
struct Tensors {
  TensorArgument rows;
  TensorArgument places;
  TensorArgument lengths;
  TensorArgument starts;
  TensorArgument cells;
};

mluOpStatus_t need_real(const char *function, const char *argument, const TensorArgument &tensor) {
  const mluOpDataType_t dtype = tensor.desc->dtype;
  MLUOPS_REQUIRE(dtype == MLUOP_DTYPE_FLOAT || dtype == MLUOP_DTYPE_DOUBLE, MLUOP_STATUS_BAD_PARAM, function, argument,
                 "float or double", describe(tensor.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check(const char *function, const char *first, const TensorArgument &given, const TensorArgument &written,
                    const Tensors &t) {
  MLUOPS_TRY(need_real(function, first, given));
  MLUOPS_TRY(need_same_dtype(function, written, given));
  for (const TensorArgument &tensor : {t.places, t.lengths, t.starts})
    MLUOPS_TRY(need_dtype(function, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_rank(function, t.rows, 2, "[N, C]"));
  MLUOPS_TRY(need_rank(function, t.places, 2, "[N, 4]"));
  MLUOPS_TRY(need_rank(function, t.lengths, 1, "[K]"));
  MLUOPS_TRY(need_rank(function, t.starts, 1, "[K]"));
  MLUOPS_TRY(need_rank(function, t.cells, 5, "[B, D, H, W, C]"));
  MLUOPS_TRY(need_packed(function, {t.rows, t.places, t.lengths, t.starts, t.cells}));
  MLUOPS_TRY(need_same_dim(function, t.places, 0, t.rows, 0));
  MLUOPS_TRY(need_dim(function, t.places, 1, "height, width, depth and batch", 4));
  MLUOPS_TRY(need_same_dim(function, t.starts, 0, t.lengths, 0));
  MLUOPS_TRY(need_same_dim(function, t.cells, 4, t.rows, 1));
  MLUOPS_TRY(need_indexable(function, {t.rows, t.places, t.lengths, t.starts, t.cells}));
  for (const TensorArgument &tensor : {t.rows, t.places, t.lengths, t.starts, t.cells})
    MLUOPS_TRY(need_elements(function, tensor));
  MLUOPS_TRY(need_data(function, {t.rows, t.places, t.lengths, t.starts, t.cells}));
  return require_no_overlap(function, {written}, {given, t.places, t.lengths, t.starts});
}

BevPoolGeometry geometry_of(const Tensors &t) {
  BevPoolGeometry geometry;
  geometry.rows = t.rows.desc->dims[0];
  geometry.channels = t.rows.desc->dims[1];
  geometry.intervals = t.lengths.desc->dims[0];
  geometry.batches = t.cells.desc->dims[0];
  geometry.depth = t.cells.desc->dims[1];
  geometry.height = t.cells.desc->dims[2];
  geometry.width = t.cells.desc->dims[3];
  geometry.places = static_cast<const std::int32_t *>(t.places.data);
  geometry.lengths = static_cast<const std::int32_t *>(t.lengths.data);
  geometry.starts = static_cast<const std::int32_t *>(t.starts.data);
  geometry.is_double = t.rows.desc->dtype == MLUOP_DTYPE_DOUBLE;
  return geometry;
}

mluOpStatus_t forward(const char *function, mluOpHandle_t handle, const Tensors &t) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.rows, t.places, t.lengths, t.starts, t.cells}));
  MLUOPS_TRY(check(function, "features_desc", t.rows, t.cells, t));
  return launch_bev_pool_forward(handle, {function, geometry_of(t), t.rows.data, const_cast<void *>(t.cells.data)});
}

mluOpStatus_t backward(const char *function, mluOpHandle_t handle, const Tensors &t) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.cells, t.places, t.lengths, t.starts, t.rows}));
  MLUOPS_TRY(check(function, "grad_output_desc", t.cells, t.rows, t));
  return launch_bev_pool_backward(handle, {function, geometry_of(t), t.cells.data, const_cast<void *>(t.rows.data)});
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtBevPoolForward(mluOpHandle_t handle, const mluOpTensorDescriptor_t features_desc,
                                                    const void *features, const mluOpTensorDescriptor_t geometry_desc,
                                                    const void *geometry,
                                                    const mluOpTensorDescriptor_t interval_lengths_desc,
                                                    const void *interval_lengths,
                                                    const mluOpTensorDescriptor_t interval_starts_desc,
                                                    const void *interval_starts,
                                                    const mluOpTensorDescriptor_t output_desc, void *output) {
  constexpr const char *kFunction = "mluopsExtBevPoolForward";
  return mluops::guarded(kFunction, [&] {
    return mluops::forward(kFunction, handle,
                           {{"features", features_desc, features},
                            {"geometry", geometry_desc, geometry},
                            {"interval_lengths", interval_lengths_desc, interval_lengths},
                            {"interval_starts", interval_starts_desc, interval_starts},
                            {"output", output_desc, output}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtBevPoolBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void *grad_output,
    const mluOpTensorDescriptor_t geometry_desc, const void *geometry,
    const mluOpTensorDescriptor_t interval_lengths_desc, const void *interval_lengths,
    const mluOpTensorDescriptor_t interval_starts_desc, const void *interval_starts,
    const mluOpTensorDescriptor_t grad_features_desc, void *grad_features) {
  constexpr const char *kFunction = "mluopsExtBevPoolBackward";
  return mluops::guarded(kFunction, [&] {
    return mluops::backward(kFunction, handle,
                            {{"grad_features", grad_features_desc, grad_features},
                             {"geometry", geometry_desc, geometry},
                             {"interval_lengths", interval_lengths_desc, interval_lengths},
                             {"interval_starts", interval_starts_desc, interval_starts},
                             {"grad_output", grad_output_desc, grad_output}});
  });
}
