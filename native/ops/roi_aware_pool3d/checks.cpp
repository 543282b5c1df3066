#include "ops/roi_aware_pool3d/checks.h"

namespace mluops {

mluOpStatus_t need_voxels(const Entry &entry, const TensorArgument &tensor, const RoiAwareSizes &sizes,
                          const char *symbol, int size) {
  MLUOPS_TRY(need_dim(entry, tensor, 0, "boxes_num", sizes.boxes));
  MLUOPS_TRY(need_dim(entry, tensor, 1, "out_x", sizes.x));
  MLUOPS_TRY(need_dim(entry, tensor, 2, "out_y", sizes.y));
  MLUOPS_TRY(need_dim(entry, tensor, 3, "out_z", sizes.z));
  return need_dim(entry, tensor, 4, symbol, size);
}

mluOpStatus_t check_numbers(const Entry &entry, const RoiAwareSizes &sizes) {
  MLUOPS_REQUIRE(sizes.method == 0 || sizes.method == 1, MLUOP_STATUS_BAD_PARAM, entry, "pool_method",
                 "0 (maximum) or 1 (average)", Text::format("%d", sizes.method));
  MLUOPS_TRY(need_at_least(entry, "boxes_num", sizes.boxes, 1));
  MLUOPS_TRY(need_at_least(entry, "pts_num", sizes.points, 1));
  MLUOPS_TRY(need_at_least(entry, "channels", sizes.channels, 1));
  MLUOPS_TRY(need_at_least(entry, "max_pts_each_voxel", sizes.slots, 1));
  MLUOPS_TRY(need_at_least(entry, "out_x", sizes.x, 1));
  MLUOPS_TRY(need_at_least(entry, "out_y", sizes.y, 1));
  return need_at_least(entry, "out_z", sizes.z, 1);
}

mluOpStatus_t check_limits(const Entry &entry, const RoiAwareSizes &sizes) {
  constexpr int kLimit = 65536;
  MLUOPS_REQUIRE(sizes.boxes < kLimit, MLUOP_STATUS_NOT_SUPPORTED, entry, "boxes_num", "less than 65536",
                 Text::format("%d", sizes.boxes));
  MLUOPS_REQUIRE(sizes.channels < kLimit, MLUOP_STATUS_NOT_SUPPORTED, entry, "channels", "less than 65536",
                 Text::format("%d", sizes.channels));
  return MLUOP_STATUS_SUCCESS;
}

RoiAwareGeometry geometry_of(const RoiAwareSizes &sizes, const TensorArgument &real) {
  RoiAwareGeometry geometry;
  geometry.average = sizes.method == 1;
  geometry.half = real.desc->dtype == MLUOP_DTYPE_HALF;
  geometry.is_double = real.desc->dtype == MLUOP_DTYPE_DOUBLE;
  geometry.boxes = sizes.boxes;
  geometry.points = sizes.points;
  geometry.channels = sizes.channels;
  geometry.slots = sizes.slots;
  geometry.x = sizes.x;
  geometry.y = sizes.y;
  geometry.z = sizes.z;
  return geometry;
}

}  // namespace mluops
