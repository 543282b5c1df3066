#include "ops/deform_conv/checks.h"

namespace mluops {

mluOpStatus_t check_deform_conv_ranks(const Entry &entry, const DeformConvTensors &t) {
  MLUOPS_TRY(need_rank(entry, t.filter, 4, "[Co, kh, kw, Ci / conv_group]"));
  MLUOPS_TRY(need_rank(entry, t.input, 4, "[N, H, W, Ci]"));
  MLUOPS_TRY(need_rank(entry, t.offset, 4, "[N, Ho, Wo, deformable_group * kh * kw * 2]"));
  if (t.mask.desc != nullptr) MLUOPS_TRY(need_rank(entry, t.mask, 4, "[N, Ho, Wo, deformable_group * kh * kw]"));
  return need_rank(entry, t.output, 4, "[N, Ho, Wo, Co]");
}

mluOpStatus_t check_deform_conv_shapes(const Entry &entry, const DeformConvTensors &t, const DeformConvNumbers &n) {
  const std::int64_t *const filter = t.filter.desc->dims;
  MLUOPS_TRY(need_dim(entry, t.input, 3, "conv_group times Ci of the filter", n.conv_group * filter[3]));
  const std::int64_t outputs = filter[0], channels = t.input.desc->dims[3];
  MLUOPS_REQUIRE(outputs % n.conv_group == 0, MLUOP_STATUS_BAD_PARAM, entry, t.filter.name,
                 Text::format("a Co that conv_group=%d divides", n.conv_group),
                 Text::format("Co=%lld", static_cast<long long>(outputs)));
  MLUOPS_REQUIRE(channels % n.deformable_group == 0, MLUOP_STATUS_BAD_PARAM, entry, t.input.name,
                 Text::format("a Ci that deformable_group=%d divides", n.deformable_group),
                 Text::format("Ci=%lld", static_cast<long long>(channels)));
  std::int64_t places;
  MLUOPS_REQUIRE(!__builtin_mul_overflow(filter[1], filter[2], &places) &&
                     !__builtin_mul_overflow(places, 2 * std::int64_t{n.deformable_group}, &places),
                 MLUOP_STATUS_BAD_PARAM, entry, t.filter.name, "fewer cells", describe(t.filter.desc));
  MLUOPS_TRY(need_same_dim(entry, t.offset, 0, t.input, 0));
  MLUOPS_TRY(need_dim(entry, t.offset, 3, "deformable_group * kh * kw * 2", places));
  if (t.mask.desc != nullptr) {
    for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(entry, t.mask, dim, t.offset, dim));
    MLUOPS_TRY(need_dim(entry, t.mask, 3, "deformable_group * kh * kw", places / 2));
  }
  for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(entry, t.output, dim, t.offset, dim));
  return need_dim(entry, t.output, 3, "Co", outputs);
}

DeformConvGeometry deform_conv_geometry(const DeformConvTensors &t, const DeformConvNumbers &n) {
  DeformConvGeometry g;
  g.batches = t.input.desc->dims[0];
  g.channels = t.input.desc->dims[3];
  g.out_channels = t.filter.desc->dims[0];
  for (int axis = 0; axis < 2; ++axis) {
    g.size[axis] = t.input.desc->dims[1 + axis];
    g.out_size[axis] = t.output.desc->dims[1 + axis];
    g.kernel[axis] = t.filter.desc->dims[1 + axis];
    g.stride[axis] = n.stride[axis];
    g.pad[axis] = n.pad[axis];
    g.dilation[axis] = n.dilation[axis];
  }
  g.conv_groups = n.conv_group;
  g.deformable_groups = n.deformable_group;
  g.dtype = t.input.desc->dtype;
  return g;
}

}  // namespace mluops
