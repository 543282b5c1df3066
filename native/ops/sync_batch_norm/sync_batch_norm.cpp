#include "mlu_op.h"
#include "ops/sync_batch_norm/arguments.h"

namespace mluops {
namespace sync_batch_norm {
namespace {

mluOpStatus_t need_channels_last(const char *function, const TensorArgument &tensor) {
  switch (tensor.desc->layout) {
    case MLUOP_LAYOUT_ARRAY:
    case MLUOP_LAYOUT_NHWC:
    case MLUOP_LAYOUT_NDHWC:
    case MLUOP_LAYOUT_NC:
    case MLUOP_LAYOUT_NLC:
      return MLUOP_STATUS_SUCCESS;
    default:
      return refuse(MLUOP_STATUS_BAD_PARAM, function, tensor.name, "a layout whose channels come last",
                    Text::format("layout %d", static_cast<int>(tensor.desc->layout)));
  }
}

// Descriptor and data are given, or none of the two.
mluOpStatus_t need_whole(const char *function, const TensorArgument &tensor) {
  MLUOPS_REQUIRE(tensor.desc != nullptr || tensor.data == nullptr, MLUOP_STATUS_BAD_PARAM, function, tensor.name,
                 "a descriptor beside its data", "NULL");
  return MLUOP_STATUS_SUCCESS;
}

// Both tensors are given, or none of the two.
mluOpStatus_t need_both(const char *function, const TensorArgument &one, const TensorArgument &other) {
  MLUOPS_REQUIRE((one.desc == nullptr) == (other.desc == nullptr), MLUOP_STATUS_BAD_PARAM, function, other.name,
                 Text::format("a descriptor exactly if %s has one", one.name), other.desc == nullptr ? "NULL" : "one");
  MLUOPS_REQUIRE((one.data == nullptr) == (other.data == nullptr), MLUOP_STATUS_BAD_PARAM, function, other.name,
                 Text::format("data exactly if %s has some", one.name), other.data == nullptr ? "NULL" : "some");
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_workspace(const char *function, const void *workspace, std::size_t size) {
  return size > 0 ? need_pointer(function, "workspace", workspace) : MLUOP_STATUS_SUCCESS;
}

// All but the data.
mluOpStatus_t check_descriptors(const Arguments &t) {
  const char *const function = t.function();
  const int rank = t.values().desc->rank;
  MLUOPS_REQUIRE(rank >= 1, MLUOP_STATUS_BAD_PARAM, function, t.values().name, "at least one dim, [.., C]", "none");
  MLUOPS_TRY(t.need_shapes(rank - 1));
  for (const Argument &one : t) {
    if (one.role == Role::kValues) MLUOPS_TRY(need_channels_last(function, one.tensor));
  }
  MLUOPS_TRY(need_float_or_half({function}, t.values()));
  MLUOPS_TRY(t.need_types());
  return t.need_packed_tensors();
}

mluOpStatus_t check_memory(const Arguments &t) {
  MLUOPS_TRY(t.need_tensor_data());
  return t.need_own_memory();
}

ChannelShape shape_of(const Arguments &t) {
  const mluOpTensorDescriptor_t desc = t.values().desc;
  const std::int64_t channels = desc->dims[desc->rank - 1];
  return {channels == 0 ? 0 : desc->count / channels, channels, 1, desc->dtype};
}

mluOpStatus_t workspace_size(const char *function, mluOpHandle_t handle, mluOpTensorDescriptor_t x_desc,
                             std::size_t *size) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptor(function, "x_desc", x_desc));
  MLUOPS_TRY(need_pointer(function, "workspace_size", size));
  *size = 0;  // partial sums are in memory of the call's own
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t stats(const char *function, mluOpHandle_t handle, const TensorArgument &x, const void *workspace,
                    std::size_t workspace_size, float eps, const TensorArgument &mean, const TensorArgument &invstd) {
  Arguments t(function);
  t.read(Role::kValues, x);
  t.write(Role::kChannel, mean);
  t.write(Role::kChannel, invstd);
  MLUOPS_TRY(t.need_objects(handle));
  MLUOPS_TRY(check_descriptors(t));
  MLUOPS_TRY(need_workspace(function, workspace, workspace_size));
  if (x.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(check_memory(t));
  return launch_channel_stats(
      handle, {function, shape_of(t), x.data, eps, const_cast<void *>(mean.data), const_cast<void *>(invstd.data)});
}

struct Devices {
  TensorArgument mean_all;
  TensorArgument invstd_all;
  TensorArgument moving_mean;
  TensorArgument moving_var;
  TensorArgument count_all;
  TensorArgument mean;
  TensorArgument invstd;

  bool moves() const { return moving_mean.desc != nullptr; }
};

mluOpStatus_t check_device_tensors(const char *function, const Devices &t) {
  MLUOPS_TRY(need_rank(function, t.mean_all, 2, "[D, C]"));
  MLUOPS_TRY(need_same_shape(function, t.invstd_all, t.mean_all));
  MLUOPS_TRY(need_rank(function, t.count_all, 1, "[D]"));
  MLUOPS_TRY(need_same_dim(function, t.count_all, 0, t.mean_all, 0));
  MLUOPS_TRY(need_float_or_half({function}, t.count_all));
  for (const TensorArgument &tensor : {t.mean_all, t.invstd_all, t.mean, t.invstd})
    MLUOPS_TRY(need_dtype(function, tensor, MLUOP_DTYPE_FLOAT));
  for (const TensorArgument &tensor : {t.mean, t.invstd}) {
    MLUOPS_TRY(need_rank(function, tensor, 1, "[C]"));
    MLUOPS_TRY(need_same_dim(function, tensor, 0, t.mean_all, 1));
  }
  MLUOPS_TRY(need_packed(function, {t.mean_all, t.invstd_all, t.count_all, t.mean, t.invstd}));
  if (!t.moves()) return MLUOP_STATUS_SUCCESS;
  for (const TensorArgument &tensor : {t.moving_mean, t.moving_var}) {
    MLUOPS_TRY(need_rank(function, tensor, 1, "[C]"));
    MLUOPS_TRY(need_same_dim(function, tensor, 0, t.mean_all, 1));
    MLUOPS_TRY(need_same_dtype(function, tensor, t.count_all));
  }
  return need_packed(function, {t.moving_mean, t.moving_var});
}

mluOpStatus_t gather(const char *function, mluOpHandle_t handle, const Devices &t, float momentum, float eps) {
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, {t.mean_all, t.invstd_all, t.count_all, t.mean, t.invstd}));
  MLUOPS_TRY(need_both(function, t.moving_mean, t.moving_var));
  MLUOPS_TRY(need_whole(function, t.moving_mean));
  if (t.moves()) MLUOPS_TRY(need_descriptors(function, {t.moving_mean, t.moving_var}));
  MLUOPS_TRY(check_device_tensors(function, t));
  if (t.mean_all.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(function, {t.mean_all, t.invstd_all, t.count_all, t.mean, t.invstd}));
  MLUOPS_TRY(require_no_overlap(function, {t.mean, t.invstd}, {t.mean_all, t.invstd_all, t.count_all}));
  GatherStatsProblem problem{};
  problem.function = function;
  problem.devices = t.mean_all.desc->dims[0];
  problem.channels = t.mean_all.desc->dims[1];
  problem.dtype = MLUOP_DTYPE_FLOAT;
  problem.moving_dtype = t.count_all.desc->dtype;
  problem.mean_all = t.mean_all.data;
  problem.invstd_all = t.invstd_all.data;
  problem.count_all = t.count_all.data;
  problem.momentum = momentum;
  problem.eps = eps;
  problem.mean = const_cast<void *>(t.mean.data);
  problem.invstd = const_cast<void *>(t.invstd.data);
  if (t.moves()) {
    MLUOPS_TRY(need_data(function, {t.moving_mean, t.moving_var}));
    MLUOPS_TRY(require_no_overlap(function, {t.moving_mean, t.moving_var},
                                  {t.mean_all, t.invstd_all, t.count_all, t.mean, t.invstd}));
    problem.moving_mean = const_cast<void *>(t.moving_mean.data);
    problem.moving_var = const_cast<void *>(t.moving_var.data);
  }
  return launch_gather_stats(handle, problem);
}

mluOpStatus_t elemt(const char *function, mluOpHandle_t handle, const TensorArgument &x, const TensorArgument &mean,
                    const TensorArgument &invstd, const TensorArgument &filter, const TensorArgument &bias,
                    const TensorArgument &y) {
  Arguments t(function);
  t.read(Role::kValues, x);
  t.read(Role::kChannel, mean);
  t.read(Role::kChannel, invstd);
  t.read_if_given(Role::kChannel, filter);
  t.read_if_given(Role::kChannel, bias);
  t.write(Role::kValues, y);
  MLUOPS_TRY(t.need_objects(handle));
  MLUOPS_TRY(need_both(function, filter, bias));
  MLUOPS_TRY(need_whole(function, filter));
  MLUOPS_TRY(check_descriptors(t));
  if (x.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(check_memory(t));
  return launch_normalise(handle, {function, shape_of(t), x.data, mean.data, invstd.data, filter.data, bias.data,
                                   const_cast<void *>(y.data)});
}

struct Reduced {
  TensorArgument dfilter;
  TensorArgument dbias;
  TensorArgument sum_dy;
  TensorArgument sum_dy_xmu;
};

mluOpStatus_t backward_reduce(const char *function, mluOpHandle_t handle, const TensorArgument &dz,
                              const TensorArgument &x, const TensorArgument &mean, const TensorArgument &invstd,
                              const void *workspace, std::size_t workspace_size, const Reduced &out, bool wants_sums,
                              bool wants_filter, bool wants_bias) {
  Arguments t(function);
  t.read(Role::kValues, dz);
  t.read(Role::kValues, x);
  t.read(Role::kChannel, mean);
  t.read(Role::kChannel, invstd);
  if (wants_filter) t.write(Role::kChannel, out.dfilter);
  if (wants_bias) t.write(Role::kChannel, out.dbias);
  if (wants_sums) t.write(Role::kChannel, out.sum_dy);
  if (wants_sums) t.write(Role::kChannel, out.sum_dy_xmu);
  MLUOPS_TRY(t.need_objects(handle));
  MLUOPS_TRY(check_descriptors(t));
  MLUOPS_TRY(need_workspace(function, workspace, workspace_size));
  const ChannelShape shape = shape_of(t);
  if (shape.channels == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(check_memory(t));
  auto wanted = [](bool wants, const TensorArgument &tensor) {
    return wants ? const_cast<void *>(tensor.data) : nullptr;
  };
  return launch_channel_sums(
      handle, {function, shape, dz.data, x.data, mean.data, invstd.data, wanted(wants_filter, out.dfilter),
               wanted(wants_bias, out.dbias), wanted(wants_sums, out.sum_dy), wanted(wants_sums, out.sum_dy_xmu)});
}

mluOpStatus_t backward_elemt(const char *function, mluOpHandle_t handle, const TensorArgument &diff_y,
                             const TensorArgument &x, const TensorArgument &mean, const TensorArgument &invstd,
                             const TensorArgument &filter, const TensorArgument &dy, const TensorArgument &dy_xmu,
                             const TensorArgument *count, const TensorArgument &diff_x) {
  Arguments t(function);
  t.read(Role::kValues, diff_y);
  t.read(Role::kValues, x);
  t.read(Role::kChannel, mean);
  t.read(Role::kChannel, invstd);
  t.read_if_given(Role::kChannel, filter);
  t.read(Role::kChannel, dy);
  t.read(Role::kChannel, dy_xmu);
  if (count != nullptr) t.read(Role::kCounts, *count);
  t.write(Role::kValues, diff_x);
  MLUOPS_TRY(t.need_objects(handle));
  MLUOPS_TRY(need_whole(function, filter));
  MLUOPS_TRY(check_descriptors(t));
  if (x.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(check_memory(t));
  return launch_normalise_backward(
      handle, {function, shape_of(t), diff_y.data, x.data, mean.data, invstd.data, filter.data, dy.data, dy_xmu.data,
               count == nullptr ? nullptr : count->data, count == nullptr ? 0 : count->desc->count, count != nullptr,
               const_cast<void *>(diff_x.data)});
}

}  // namespace
}  // namespace sync_batch_norm
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluOpGetSyncBatchNormStatsWorkspaceSize(mluOpHandle_t handle,
                                                                    const mluOpTensorDescriptor_t x_desc,
                                                                    size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetSyncBatchNormStatsWorkspaceSize";
  return mluops::guarded(
      kFunction, [&] { return mluops::sync_batch_norm::workspace_size(kFunction, handle, x_desc, workspace_size); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormStats_v2(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc,
                                                       const void *x, void *workspace, size_t workspace_size,
                                                       const float eps, const mluOpTensorDescriptor_t mean_desc,
                                                       void *mean, const mluOpTensorDescriptor_t invstd_desc,
                                                       void *invstd) {
  constexpr const char *kFunction = "mluOpSyncBatchNormStats_v2";
  return mluops::guarded(kFunction, [&] {
    return mluops::sync_batch_norm::stats(kFunction, handle, {"x", x_desc, x}, workspace, workspace_size, eps,
                                          {"mean", mean_desc, mean}, {"invstd", invstd_desc, invstd});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormStats(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc,
                                                    const void *x, const float eps,
                                                    const mluOpTensorDescriptor_t mean_desc, void *mean,
                                                    const mluOpTensorDescriptor_t invstd_desc, void *invstd) {
  constexpr const char *kFunction = "mluOpSyncBatchNormStats";
  return mluops::guarded(kFunction, [&] {
    return mluops::sync_batch_norm::stats(kFunction, handle, {"x", x_desc, x}, nullptr, 0, eps,
                                          {"mean", mean_desc, mean}, {"invstd", invstd_desc, invstd});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormGatherStatsWithCounts(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t mean_all_desc, const void *mean_all,
    const mluOpTensorDescriptor_t invstd_all_desc, const void *invstd_all,
    const mluOpTensorDescriptor_t moving_mean_desc, void *moving_mean, const mluOpTensorDescriptor_t moving_var_desc,
    void *moving_var, float momentum, float eps, const mluOpTensorDescriptor_t count_all_desc, const void *count_all,
    const mluOpTensorDescriptor_t mean_desc, void *mean, const mluOpTensorDescriptor_t invstd_desc, void *invstd) {
  constexpr const char *kFunction = "mluOpSyncBatchNormGatherStatsWithCounts";
  return mluops::guarded(kFunction, [&] {
    return mluops::sync_batch_norm::gather(kFunction, handle,
                                           {{"mean_all", mean_all_desc, mean_all},
                                            {"invstd_all", invstd_all_desc, invstd_all},
                                            {"moving_mean", moving_mean_desc, moving_mean},
                                            {"moving_var", moving_var_desc, moving_var},
                                            {"count_all", count_all_desc, count_all},
                                            {"mean", mean_desc, mean},
                                            {"invstd", invstd_desc, invstd}},
                                           momentum, eps);
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormElemt(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc,
                                                    const void *x, const mluOpTensorDescriptor_t mean_desc,
                                                    const void *mean, const mluOpTensorDescriptor_t invstd_desc,
                                                    const void *invstd, const mluOpTensorDescriptor_t filter_desc,
                                                    const void *filter, const mluOpTensorDescriptor_t bias_desc,
                                                    const void *bias, const mluOpTensorDescriptor_t y_desc, void *y) {
  constexpr const char *kFunction = "mluOpSyncBatchNormElemt";
  return mluops::guarded(kFunction, [&] {
    return mluops::sync_batch_norm::elemt(kFunction, handle, {"x", x_desc, x}, {"mean", mean_desc, mean},
                                          {"invstd", invstd_desc, invstd}, {"filter", filter_desc, filter},
                                          {"bias", bias_desc, bias}, {"y", y_desc, y});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormBackwardElemt(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t diff_y_desc, const void *diff_y,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean,
    const mluOpTensorDescriptor_t invstd_desc, const void *invstd, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t mean_dy_desc, const void *mean_dy,
    const mluOpTensorDescriptor_t mean_dy_xmu_desc, const void *mean_dy_xmu, const mluOpTensorDescriptor_t diff_x_desc,
    void *diff_x) {
  constexpr const char *kFunction = "mluOpSyncBatchNormBackwardElemt";
  return mluops::guarded(kFunction, [&] {
    return mluops::sync_batch_norm::backward_elemt(
        kFunction, handle, {"diff_y", diff_y_desc, diff_y}, {"x", x_desc, x}, {"mean", mean_desc, mean},
        {"invstd", invstd_desc, invstd}, {"filter", filter_desc, filter}, {"mean_dy", mean_dy_desc, mean_dy},
        {"mean_dy_xmu", mean_dy_xmu_desc, mean_dy_xmu}, nullptr, {"diff_x", diff_x_desc, diff_x});
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormBackwardElemtV2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t diff_y_desc, const void *diff_y,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean,
    const mluOpTensorDescriptor_t invstd_desc, const void *invstd, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t sum_dy_desc, const void *sum_dy,
    const mluOpTensorDescriptor_t sum_dy_xmu_desc, const void *sum_dy_xmu, const mluOpTensorDescriptor_t count_desc,
    const void *count, const mluOpTensorDescriptor_t diff_x_desc, void *diff_x) {
  constexpr const char *kFunction = "mluOpSyncBatchNormBackwardElemtV2";
  return mluops::guarded(kFunction, [&] {
    const mluops::TensorArgument counts{"count", count_desc, count};
    return mluops::sync_batch_norm::backward_elemt(
        kFunction, handle, {"diff_y", diff_y_desc, diff_y}, {"x", x_desc, x}, {"mean", mean_desc, mean},
        {"invstd", invstd_desc, invstd}, {"filter", filter_desc, filter}, {"sum_dy", sum_dy_desc, sum_dy},
        {"sum_dy_xmu", sum_dy_xmu_desc, sum_dy_xmu}, &counts, {"diff_x", diff_x_desc, diff_x});
  });
}

// ---- The sums for the gradients, under three names ----------------------------------------------

mluOpStatus_t MLUOP_WIN_API mluOpGetSyncBatchNormBackwardReduceWorkspaceSize(mluOpHandle_t handle,
                                                                             const mluOpTensorDescriptor_t x_desc,
                                                                             size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetSyncBatchNormBackwardReduceWorkspaceSize";
  return mluops::guarded(
      kFunction, [&] { return mluops::sync_batch_norm::workspace_size(kFunction, handle, x_desc, workspace_size); });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetSyncBatchnormBackwardReduceWorkspaceSize(mluOpHandle_t handle,
                                                                             const mluOpTensorDescriptor_t x_desc,
                                                                             size_t *workspace_size) {
  constexpr const char *kFunction = "mluOpGetSyncBatchnormBackwardReduceWorkspaceSize";
  return mluops::guarded(
      kFunction, [&] { return mluops::sync_batch_norm::workspace_size(kFunction, handle, x_desc, workspace_size); });
}

// The arguments of a function with a workspace, and of one without.
#define MLUOPS_REDUCE_INPUTS                                                                                         \
  mluOpHandle_t handle, const mluOpTensorDescriptor_t desc_dz, const void *dz, const mluOpTensorDescriptor_t desc_x, \
      const void *x, const mluOpTensorDescriptor_t desc_mean, const void *mean,                                      \
      const mluOpTensorDescriptor_t desc_invstd, const void *invstd
#define MLUOPS_REDUCE_OUTPUTS                                                                                       \
  const mluOpTensorDescriptor_t desc_dfilter, void *dfilter, const mluOpTensorDescriptor_t desc_dbias, void *dbias, \
      const mluOpTensorDescriptor_t desc_sum_dy, void *sum_dy, const mluOpTensorDescriptor_t desc_sum_dy_xmu,       \
      void *sum_dy_xmu, const bool needs_input_grad0, const bool needs_input_grad1, const bool needs_input_grad2
#define MLUOPS_REDUCE(function, workspace, workspace_size)                                                      \
  mluops::guarded(function, [&] {                                                                               \
    return mluops::sync_batch_norm::backward_reduce(function, handle, {"dz", desc_dz, dz}, {"x", desc_x, x},    \
                                                    {"mean", desc_mean, mean}, {"invstd", desc_invstd, invstd}, \
                                                    workspace, workspace_size,                                  \
                                                    {{"dfilter", desc_dfilter, dfilter},                        \
                                                     {"dbias", desc_dbias, dbias},                              \
                                                     {"sum_dy", desc_sum_dy, sum_dy},                           \
                                                     {"sum_dy_xmu", desc_sum_dy_xmu, sum_dy_xmu}},              \
                                                    needs_input_grad0, needs_input_grad1, needs_input_grad2);   \
  })

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormBackwardReduce_v2(MLUOPS_REDUCE_INPUTS, void *workspace,
                                                                size_t workspace_size, MLUOPS_REDUCE_OUTPUTS) {
  return MLUOPS_REDUCE("mluOpSyncBatchNormBackwardReduce_v2", workspace, workspace_size);
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchnormBackwardReduce_v2(MLUOPS_REDUCE_INPUTS, void *workspace,
                                                                size_t workspace_size, MLUOPS_REDUCE_OUTPUTS) {
  return MLUOPS_REDUCE("mluOpSyncBatchnormBackwardReduce_v2", workspace, workspace_size);
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchNormBackwardReduce(MLUOPS_REDUCE_INPUTS, MLUOPS_REDUCE_OUTPUTS) {
  return MLUOPS_REDUCE("mluOpSyncBatchNormBackwardReduce", nullptr, 0);
}

mluOpStatus_t MLUOP_WIN_API mluOpSyncBatchnormBackwardReduce(MLUOPS_REDUCE_INPUTS, MLUOPS_REDUCE_OUTPUTS) {
  return MLUOPS_REDUCE("mluOpSyncBatchnormBackwardReduce", nullptr, 0);
}
