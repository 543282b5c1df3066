#include "core/region_pool.h"

#include <cmath>

namespace mluops {

namespace {

mluOpStatus_t check_types(const Entry &entry, const RegionTensors &t, const LikePooled &more, bool takes_half) {
  const mluOpDataType_t dtype = t.given().desc->dtype;
  MLUOPS_TRY(need_real(entry, t.given()));
  MLUOPS_REQUIRE(takes_half || dtype != MLUOP_DTYPE_HALF, MLUOP_STATUS_BAD_PARAM, entry,
                 Text::format("%s_desc", t.given().name).c_str(), "float or double", describe(t.given().desc));
  MLUOPS_TRY(need_same_dtype(entry, t.rois, t.given()));
  MLUOPS_TRY(need_same_dtype(entry, t.written(), t.given()));
  for (const TensorArgument &tensor : more.tensors)
    MLUOPS_TRY(need_dtype(entry, tensor, more.dtype == MLUOP_DTYPE_INVALID ? dtype : more.dtype));
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace

mluOpStatus_t check_region_tensors(const Entry &entry, const RegionTensors &t, const char *row, int row_size,
                                   const LikePooled &more, bool takes_half) {
  MLUOPS_TRY(need_rank(entry, t.map, 4, "[B, H, W, C]"));
  MLUOPS_TRY(need_rank(entry, t.rois, 2, Text::format("[R, %d]", row_size).c_str()));
  MLUOPS_TRY(need_rank(entry, t.pooled, 4, "[R, ph, pw, C]"));
  for (const TensorArgument &tensor : more.tensors) MLUOPS_TRY(need_rank(entry, tensor, 4, "[R, ph, pw, C]"));
  MLUOPS_TRY(check_types(entry, t, more, takes_half));
  MLUOPS_TRY(need_layout(entry, t.map, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_layout(entry, t.pooled, MLUOP_LAYOUT_NHWC));
  for (const TensorArgument &tensor : more.tensors) MLUOPS_TRY(need_layout(entry, tensor, MLUOP_LAYOUT_NHWC));
  MLUOPS_TRY(need_packed(entry, {t.map, t.rois, t.pooled}));
  MLUOPS_TRY(need_packed(entry, more.tensors));
  MLUOPS_TRY(need_dim(entry, t.rois, 1, row, row_size));
  MLUOPS_TRY(need_same_dim(entry, t.pooled, 0, t.rois, 0));
  MLUOPS_TRY(need_same_dim(entry, t.pooled, 3, t.map, 3));
  for (const TensorArgument &tensor : more.tensors) MLUOPS_TRY(need_same_shape(entry, tensor, t.pooled));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_region_data(const Entry &entry, const RegionTensors &t, std::initializer_list<TensorArgument> more) {
  for (const TensorArgument &tensor : {t.map, t.rois, t.pooled}) MLUOPS_TRY(need_elements(entry, tensor));
  MLUOPS_TRY(need_indexable(entry, {t.map, t.rois, t.pooled}));
  MLUOPS_TRY(need_data(entry, {t.given(), t.rois, t.written()}));
  return need_data(entry, more);
}

mluOpStatus_t check_region_data(const Entry &entry, const RegionTensors &t,
                                std::initializer_list<TensorArgument> more) {
  MLUOPS_TRY(need_region_data(entry, t, more));
  return require_no_overlap(entry, {t.written()}, {t.given(), t.rois});
}

RegionSizes region_sizes(const RegionTensors &t) {
  const std::int64_t *const map = t.map.desc->dims, *const pooled = t.pooled.desc->dims;
  return {t.map.desc->dtype, map[0], map[1], map[2], map[3], t.rois.desc->dims[0], pooled[1], pooled[2]};
}

mluOpStatus_t need_sampling_ratio(const Entry &entry, const char *argument, int value) {
  return need_between(entry, argument, value, 0, 256);
}

mluOpStatus_t need_positive(const Entry &entry, const char *argument, double value) {
  MLUOPS_REQUIRE(value > 0 && std::isfinite(value), MLUOP_STATUS_BAD_PARAM, entry, argument, "a positive finite number",
                 Text::format("%g", value));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_not_negative(const Entry &entry, const char *argument, double value) {
  MLUOPS_REQUIRE(value >= 0 && std::isfinite(value), MLUOP_STATUS_BAD_PARAM, entry, argument,
                 "a finite number, at least 0", Text::format("%g", value));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_finite(const Entry &entry, const char *argument, double value) {
  MLUOPS_REQUIRE(std::isfinite(value), MLUOP_STATUS_BAD_PARAM, entry, argument, "a finite number",
                 Text::format("%g", value));
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops
