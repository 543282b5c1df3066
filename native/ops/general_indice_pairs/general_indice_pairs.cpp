#include "ops/general_indice_pairs/general_indice_pairs.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/general_indice_pairs.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument indices;
  TensorArgument pairs;
  TensorArgument out_indices;
  TensorArgument counts;
};

// The caller's arguments for each axis.
struct Axes {
  const std::int64_t *input_space;
  const std::int64_t *filter_space;
  const std::int64_t *output_space;
  const std::int64_t *stride;
  const std::int64_t *pad;
  const std::int64_t *dilation;
};

mluOpStatus_t need_range(const char *function, const char *argument, std::int64_t value, std::int64_t least,
                         std::int64_t most) {
  MLUOPS_REQUIRE(least <= value && value <= most, MLUOP_STATUS_BAD_PARAM, function, argument,
                 Text::format("%lld to %lld", static_cast<long long>(least), static_cast<long long>(most)),
                 Text::format("%lld", static_cast<long long>(value)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t read_axes(const char *function, const char *argument, const std::int64_t *values, std::int64_t least,
                        int axes, std::int64_t (&read)[kMostAxes]) {
  MLUOPS_TRY(need_pointer(function, argument, values));
  for (int axis = 0; axis < axes; ++axis) {
    read[axis] = values[axis];
    MLUOPS_TRY(need_range(function, argument, read[axis], least, INT32_MAX));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t read_geometry(const char *function, const Axes &axes, GeneralGeometry *g) {
  MLUOPS_TRY(read_axes(function, "input_space", axes.input_space, 1, g->axes, g->input));
  MLUOPS_TRY(read_axes(function, "filter_space", axes.filter_space, 1, g->axes, g->filter));
  MLUOPS_TRY(read_axes(function, "output_space", axes.output_space, 1, g->axes, g->output));
  MLUOPS_TRY(read_axes(function, "stride", axes.stride, 1, g->axes, g->stride));
  MLUOPS_TRY(read_axes(function, "pad", axes.pad, 0, g->axes, g->pad));
  MLUOPS_TRY(read_axes(function, "dilation", axes.dilation, 1, g->axes, g->dilation));
  constexpr std::int64_t kMostPlaces = std::int64_t{1} << 62;
  std::int64_t places = g->batch;
  for (int axis = 0; axis < g->axes; ++axis) {
    const bool wraps = __builtin_mul_overflow(places, g->output[axis], &places);
    MLUOPS_REQUIRE(!wraps && places < kMostPlaces, MLUOP_STATUS_NOT_SUPPORTED, function, "output_space",
                   "fewer than 2^62 places in all batches", "more");
    MLUOPS_REQUIRE(!g->sub_m || (g->output[axis] == g->input[axis] && g->stride[axis] == 1), MLUOP_STATUS_BAD_PARAM,
                   function, "sub_m", "0 where spaces differ or a stride is not 1", "1");
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_cells(const char *function, const TensorArgument &pairs, const GeneralGeometry &g) {
  std::int64_t cells = 1;
  for (int axis = 0; axis < g.axes; ++axis) {
    if (__builtin_mul_overflow(cells, g.filter[axis], &cells)) cells = INT64_MAX;
  }
  return need_dim(function, pairs, 0, "K = cells of the filter", cells);
}

mluOpStatus_t check_tensors(const char *function, const Tensors &t) {
  MLUOPS_TRY(need_descriptors(function, {t.indices, t.pairs, t.out_indices, t.counts}));
  for (const TensorArgument &tensor : {t.indices, t.pairs, t.out_indices, t.counts})
    MLUOPS_TRY(need_dtype(function, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_rank(function, t.indices, 2, "[L, 1 + axes]"));
  MLUOPS_TRY(need_rank(function, t.pairs, 3, "[K, 2, L]"));
  MLUOPS_TRY(need_rank(function, t.out_indices, 2, "[rows, 1 + axes]"));
  MLUOPS_TRY(need_rank(function, t.counts, 1, "[K]"));
  MLUOPS_TRY(need_range(function, "indices_desc", t.indices.desc->dims[1], 2, 1 + kMostAxes));
  MLUOPS_TRY(need_same_dim(function, t.out_indices, 1, t.indices, 1));
  MLUOPS_TRY(need_dim(function, t.pairs, 1, "input and output row", 2));
  MLUOPS_TRY(need_same_dim(function, t.pairs, 2, t.indices, 0));
  MLUOPS_TRY(need_same_dim(function, t.counts, 0, t.pairs, 0));
  MLUOPS_TRY(need_packed(function, {t.indices, t.pairs, t.out_indices, t.counts}));
  return need_indexable(function, {t.indices, t.pairs, t.out_indices, t.counts});
}

// Arrays without elements have no memory to check.
mluOpStatus_t check_memory(const char *function, const Tensors &t, const std::int64_t *num_act_out) {
  for (const TensorArgument &tensor : {t.indices, t.pairs, t.out_indices, t.counts}) {
    if (tensor.desc->count > 0) MLUOPS_TRY(need_data(function, {tensor}));
  }
  MLUOPS_TRY(require_no_overlap(function, {t.pairs, t.out_indices, t.counts}, {t.indices}));
  return need_pointer(function, "num_act_out", num_act_out);
}

mluOpStatus_t check_outcome(const char *function, const GeneralPairsProblem &problem, std::int64_t *num_act_out) {
  const GeneralPairsOutcome &outcome = *problem.outcome;
  MLUOPS_REQUIRE(outcome.bad_row < 0, MLUOP_STATUS_BAD_PARAM, function, "indices", "rows inside of batch and space",
                 Text::format("another one at row %lld", static_cast<long long>(outcome.bad_row)));
  *num_act_out = outcome.rows_out;
  MLUOPS_REQUIRE(outcome.fits, MLUOP_STATUS_BAD_PARAM, function, "out_indices_desc",
                 Text::format("at least %lld rows", static_cast<long long>(outcome.rows_out)),
                 Text::format("%lld", static_cast<long long>(problem.out_rows)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t general_pairs(const char *function, mluOpHandle_t handle, const Tensors &t, const Axes &axes,
                            std::int64_t batch, std::int64_t sub_m, std::int64_t transpose, std::int64_t *num_act_out) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(check_tensors(function, t));
  MLUOPS_TRY(need_range(function, "batch", batch, 1, INT32_MAX));
  MLUOPS_TRY(need_range(function, "sub_m", sub_m, 0, 1));
  MLUOPS_TRY(need_range(function, "transpose", transpose, 0, 1 - sub_m));
  GeneralPairsProblem problem;
  problem.geometry.axes = static_cast<int>(t.indices.desc->dims[1]) - 1;
  problem.geometry.batch = batch;
  problem.geometry.sub_m = sub_m == 1;
  problem.geometry.transpose = transpose == 1;
  MLUOPS_TRY(read_geometry(function, axes, &problem.geometry));
  MLUOPS_TRY(need_cells(function, t.pairs, problem.geometry));
  MLUOPS_TRY(check_memory(function, t, num_act_out));
  GeneralPairsOutcome outcome;
  problem.indices = static_cast<const std::int32_t *>(t.indices.data);
  problem.rows = t.indices.desc->dims[0];
  problem.cells = t.pairs.desc->dims[0];
  problem.pairs = static_cast<std::int32_t *>(const_cast<void *>(t.pairs.data));
  problem.out_indices = static_cast<std::int32_t *>(const_cast<void *>(t.out_indices.data));
  problem.out_rows = t.out_indices.desc->dims[0];
  problem.counts = static_cast<std::int32_t *>(const_cast<void *>(t.counts.data));
  problem.outcome = &outcome;
  MLUOPS_TRY(launch_general_indice_pairs(handle, problem));
  return check_outcome(function, problem, num_act_out);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtGetIndicePairs(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t indices_desc, const void *indices, const int64_t batch,
    const int64_t input_space[], const int64_t filter_space[], const int64_t output_space[], const int64_t stride[],
    const int64_t pad[], const int64_t dilation[], const int64_t sub_m, const int64_t transpose,
    const mluOpTensorDescriptor_t indice_pairs_desc, void *indice_pairs, const mluOpTensorDescriptor_t out_indices_desc,
    void *out_indices, const mluOpTensorDescriptor_t indice_num_desc, void *indice_num, int64_t *num_act_out) {
  constexpr const char *kFunction = "mluopsExtGetIndicePairs";
  return mluops::guarded(kFunction, [&] {
    return mluops::general_pairs(kFunction, handle,
                                 {{"indices", indices_desc, indices},
                                  {"indice_pairs", indice_pairs_desc, indice_pairs},
                                  {"out_indices", out_indices_desc, out_indices},
                                  {"indice_num", indice_num_desc, indice_num}},
                                 {input_space, filter_space, output_space, stride, pad, dilation}, batch, sub_m,
                                 transpose, num_act_out);
  });
}
