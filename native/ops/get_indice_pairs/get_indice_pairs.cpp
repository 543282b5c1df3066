#include "ops/get_indice_pairs/get_indice_pairs.h"

#include <limits>

#include "core/check.h"
#include "core/exception_guard.h"
#include "ops/get_indice_pairs/limits.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument indices;
  TensorArgument pairs;
  TensorArgument out_indices;
  TensorArgument counts;
};

// factor * a * b * c, saturated.
std::int64_t saturating_product(std::int64_t factor, const int (&space)[kSpaceDims]) {
  for (const int extent : space) {
    if (__builtin_mul_overflow(factor, static_cast<std::int64_t>(extent), &factor)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return factor;
}

mluOpStatus_t check_objects(const char *function, mluOpHandle_t handle, mluOpSparseConvolutionDescriptor_t sparse,
                            const Tensors &tensors) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_REQUIRE(alive(sparse), MLUOP_STATUS_BAD_PARAM, function, "sparse_conv_desc", "a sparse convolution descriptor",
                 sparse == nullptr ? "NULL" : "a destroyed descriptor or something else");
  return need_descriptors(function, {tensors.indices, tensors.pairs, tensors.out_indices, tensors.counts});
}

mluOpStatus_t need_most(const char *function, const char *argument, const char *quantity, std::int64_t value,
                        std::int64_t most) {
  MLUOPS_REQUIRE(value <= most, MLUOP_STATUS_BAD_PARAM, function, argument,
                 Text::format("%s of at most %lld", quantity, static_cast<long long>(most)),
                 Text::format("%lld", static_cast<long long>(value)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_ranks(const char *function, const Tensors &tensors) {
  MLUOPS_TRY(need_rank(function, tensors.indices, 2, "[L, 4]"));
  MLUOPS_TRY(need_rank(function, tensors.pairs, 3, "[K, 2, L]"));
  MLUOPS_TRY(need_rank(function, tensors.out_indices, 2, "[rows, 4]"));
  MLUOPS_TRY(need_rank(function, tensors.counts, 1, "[K]"));
  MLUOPS_TRY(need_dim(function, tensors.indices, 1, "batch, depth, height, width", 4));
  MLUOPS_TRY(need_dim(function, tensors.out_indices, 1, "batch, depth, height, width", 4));
  MLUOPS_TRY(need_dim(function, tensors.pairs, 1, "input and output row", 2));
  MLUOPS_TRY(need_same_dim(function, tensors.pairs, 2, tensors.indices, 0));
  return need_same_dim(function, tensors.pairs, 0, tensors.counts, 0);
}

mluOpStatus_t check_axes(const char *function, const SparseGeometry &geometry) {
  for (int axis = 0; axis < kSpaceDims; ++axis) {
    const int stride = geometry.stride[axis], dilation = geometry.dilation[axis];
    MLUOPS_REQUIRE(geometry.pad[axis] >= 0 && dilation >= 1 && stride >= 1, MLUOP_STATUS_BAD_PARAM, function,
                   "sparse_conv_desc", "a descriptor that was set", "one with stride or dilation 0");
    MLUOPS_REQUIRE(dilation == 1 || stride == 1, MLUOP_STATUS_BAD_PARAM, function, "sparse_conv_desc",
                   "stride or dilation 1 on every axis",
                   Text::format("stride %d and dilation %d on axis %d", stride, dilation, axis));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_sub_manifold(const char *function, const SparseGeometry &geometry) {
  for (int axis = 0; geometry.sub_m != 0 && axis < kSpaceDims; ++axis) {
    MLUOPS_REQUIRE(geometry.input_space[axis] == geometry.output_space[axis] && geometry.stride[axis] == 1 &&
                       geometry.dilation[axis] == 1,
                   MLUOP_STATUS_BAD_PARAM, function, "sparse_conv_desc",
                   "equal spaces, stride 1 and dilation 1 in sub-manifold mode",
                   Text::format("input %d, output %d, stride %d, dilation %d on axis %d", geometry.input_space[axis],
                                geometry.output_space[axis], geometry.stride[axis], geometry.dilation[axis], axis));
  }
  return MLUOP_STATUS_SUCCESS;
}

// All checks of descriptors, in the documented order.
mluOpStatus_t check_geometry(const char *function, const SparseGeometry &geometry, const Tensors &tensors) {
  const IndicePairsLimits &limits = indice_pairs_limits();
  MLUOPS_REQUIRE(limits.supported, MLUOP_STATUS_ARCH_MISMATCH, function, "handle",
                 "a device of architecture 372 or newer", "an older one");
  MLUOPS_TRY(check_ranks(function, tensors));
  const std::int64_t cells_in = saturating_product(geometry.batch, geometry.input_space);
  const std::int64_t cells_out = saturating_product(geometry.batch, geometry.output_space);
  const std::int64_t rows = tensors.indices.desc->dims[0];
  MLUOPS_TRY(need_most(function, "indices_desc", "rows for batch and input space", rows, cells_in));
  MLUOPS_TRY(check_axes(function, geometry));
  const std::int64_t volume = saturating_product(1, geometry.filter_space);
  MLUOPS_TRY(need_dim(function, tensors.pairs, 0, "K = cells of the filter", volume));
  MLUOPS_TRY(need_most(function, "indice_pairs_desc", "number of filter cells", volume, limits.volume));
  MLUOPS_TRY(need_most(function, "out_indices_desc", "rows for batch and output space",
                       tensors.out_indices.desc->dims[0], cells_out));
  MLUOPS_TRY(need_packed(function, {tensors.indices, tensors.pairs, tensors.out_indices, tensors.counts}));
  MLUOPS_TRY(need_most(function, "indices_desc", "number of rows", rows, limits.rows));
  MLUOPS_TRY(need_indexable(function, {tensors.indices, tensors.pairs, tensors.out_indices, tensors.counts}));
  for (const TensorArgument &tensor : {tensors.indices, tensors.pairs, tensors.out_indices, tensors.counts}) {
    MLUOPS_TRY(need_dtype(function, tensor, MLUOP_DTYPE_INT32));
  }
  MLUOPS_TRY(check_sub_manifold(function, geometry));
  constexpr std::int64_t kTooMany = std::numeric_limits<std::int64_t>::max();
  MLUOPS_REQUIRE(cells_in < kTooMany && cells_out < kTooMany, MLUOP_STATUS_NOT_SUPPORTED, function, "sparse_conv_desc",
                 "spaces of fewer than 2^63 cells", "more");
  return MLUOP_STATUS_SUCCESS;
}

bool any_empty(const Tensors &tensors) {
  return tensors.indices.desc->count == 0 || tensors.pairs.desc->count == 0 || tensors.out_indices.desc->count == 0 ||
         tensors.counts.desc->count == 0;
}

mluOpStatus_t check_memory(const char *function, const SparseGeometry &geometry, const Tensors &tensors,
                           const void *workspace, std::size_t workspace_size) {
  MLUOPS_TRY(need_data(function, {tensors.indices, tensors.pairs, tensors.out_indices, tensors.counts}));
  if (workspace_size != 0) MLUOPS_TRY(need_pointer(function, "workspace", workspace));
  const std::size_t needed = workspace_get_indice_pairs(geometry, tensors.indices.desc->dims[0]);
  MLUOPS_REQUIRE(workspace_size >= needed, MLUOP_STATUS_BAD_PARAM, function, "workspace_size",
                 Text::format("at least %zu bytes", needed), Text::format("%zu", workspace_size));
  MLUOPS_TRY(require_no_overlap(function, {tensors.pairs, tensors.out_indices, tensors.counts}, {tensors.indices}));
  for (const TensorArgument &tensor : {tensors.indices, tensors.pairs, tensors.out_indices, tensors.counts}) {
    MLUOPS_TRY(require_no_overlap(function, "workspace", workspace, static_cast<std::int64_t>(needed), tensor.name,
                                  tensor.data, tensor.desc->bytes()));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_outcome(const char *function, const GetIndicePairsProblem &problem,
                            mluOpSparseConvolutionDescriptor_t sparse) {
  const GetIndicePairsOutcome &outcome = *problem.outcome;
  if (outcome.bad_row >= 0) {
    const SparseGeometry &g = problem.geometry;
    const std::int32_t (&place)[4] = outcome.bad_place;
    return refuse(MLUOP_STATUS_BAD_PARAM, function, "indices",
                  Text::format("rows (batch, depth, height, width) inside (%d, %d, %d, %d)", g.batch, g.input_space[0],
                               g.input_space[1], g.input_space[2]),
                  Text::format("(%d, %d, %d, %d) in row %lld", place[0], place[1], place[2], place[3],
                               static_cast<long long>(outcome.bad_row)));
  }
  sparse->num_act_out = static_cast<int>(outcome.rows_out);
  MLUOPS_REQUIRE(outcome.fits, MLUOP_STATUS_BAD_PARAM, function, "out_indices_desc",
                 Text::format("at least %lld rows", static_cast<long long>(outcome.rows_out)),
                 Text::format("%lld", static_cast<long long>(problem.out_rows)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t get_indice_pairs(const char *function, mluOpHandle_t handle, mluOpSparseConvolutionDescriptor_t sparse,
                               const Tensors &tensors, void *workspace, std::size_t workspace_size) {
  MLUOPS_TRY(check_objects(function, handle, sparse, tensors));
  const SparseGeometry geometry = sparse->geometry;
  MLUOPS_TRY(check_geometry(function, geometry, tensors));
  if (any_empty(tensors)) {
    sparse->num_act_out = 0;
    return MLUOP_STATUS_SUCCESS;
  }
  MLUOPS_TRY(check_memory(function, geometry, tensors, workspace, workspace_size));
  GetIndicePairsOutcome outcome;
  GetIndicePairsProblem problem;
  problem.geometry = geometry;
  problem.indices = static_cast<const std::int32_t *>(tensors.indices.data);
  problem.rows = tensors.indices.desc->dims[0];
  problem.volume = tensors.counts.desc->dims[0];
  problem.workspace = workspace;
  problem.pairs = static_cast<std::int32_t *>(const_cast<void *>(tensors.pairs.data));
  problem.out_indices = static_cast<std::int32_t *>(const_cast<void *>(tensors.out_indices.data));
  problem.out_rows = tensors.out_indices.desc->dims[0];
  problem.counts = static_cast<std::int32_t *>(const_cast<void *>(tensors.counts.data));
  problem.outcome = &outcome;
  MLUOPS_TRY(launch_get_indice_pairs(handle, problem));
  return check_outcome(function, problem, sparse);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpGetIndicePairs(mluOpHandle_t handle,
                                                const mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
                                                const mluOpTensorDescriptor_t indices_desc, const void *indices,
                                                void *workspace, const size_t workspace_size,
                                                const mluOpTensorDescriptor_t indice_pairs_desc, void *indice_pairs,
                                                const mluOpTensorDescriptor_t out_indices_desc, void *out_indices,
                                                const mluOpTensorDescriptor_t indice_num_desc, void *indice_num) {
  return mluops::guarded("mluOpGetIndicePairs", [&] {
    return mluops::get_indice_pairs("mluOpGetIndicePairs", handle, sparse_conv_desc,
                                    {{"indices", indices_desc, indices},
                                     {"indice_pairs", indice_pairs_desc, indice_pairs},
                                     {"out_indices", out_indices_desc, out_indices},
                                     {"indice_num", indice_num_desc, indice_num}},
                                    workspace, workspace_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetIndicePairsWorkspaceSize(mluOpHandle_t handle,
                                                             const mluOpSparseConvolutionDescriptor_t sparse_conv_desc,
                                                             const mluOpTensorDescriptor_t indices_desc,
                                                             const mluOpTensorDescriptor_t indice_pairs_desc,
                                                             const mluOpTensorDescriptor_t out_indices_desc,
                                                             const mluOpTensorDescriptor_t indice_num_desc,
                                                             size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetIndicePairsWorkspaceSize";
  return mluops::guarded(kFunction, [&] {
    const mluops::Tensors tensors = {{"indices", indices_desc, nullptr},
                                     {"indice_pairs", indice_pairs_desc, nullptr},
                                     {"out_indices", out_indices_desc, nullptr},
                                     {"indice_num", indice_num_desc, nullptr}};
    MLUOPS_TRY(mluops::check_objects(kFunction, handle, sparse_conv_desc, tensors));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "workspace_size", workspace_size));
    if (mluops::any_empty(tensors)) {
      *workspace_size = 0;
      return MLUOP_STATUS_SUCCESS;
    }
    MLUOPS_TRY(mluops::check_geometry(kFunction, sparse_conv_desc->geometry, tensors));
    *workspace_size = mluops::workspace_get_indice_pairs(sparse_conv_desc->geometry, indices_desc->dims[0]);
    return MLUOP_STATUS_SUCCESS;
  });
}
