#include "mluops_ext/sync_batch_norm.h"

#include "ops/sync_batch_norm/arguments.h"

namespace mluops {
namespace sync_batch_norm {
namespace {

mluOpStatus_t check(const Arguments &t, mluOpHandle_t handle) {
  MLUOPS_TRY(t.need_objects(handle));
  for (const Argument &one : t) {
    if (one.role == Role::kValues) MLUOPS_TRY(need_rank(t.function(), one.tensor, 3, "[N, C, S]"));
  }
  MLUOPS_TRY(t.need_shapes(1));
  MLUOPS_TRY(t.need_packed_tensors());
  MLUOPS_TRY(need_real(t.function(), t.values()));
  MLUOPS_TRY(t.need_types());
  for (const Argument &one : t) MLUOPS_TRY(need_elements(t.function(), one.tensor));
  for (const Argument &one : t) MLUOPS_TRY(need_indexable(t.function(), {one.tensor}));
  MLUOPS_TRY(t.need_tensor_data());
  return t.need_own_memory();
}

ChannelShape shape_of(const Arguments &t) {
  const mluOpTensorDescriptor_t desc = t.values().desc;
  return {desc->dims[0], desc->dims[1], desc->dims[2], desc->dtype};
}

const void *if_given(mluOpTensorDescriptor_t desc, const void *data) { return desc == nullptr ? nullptr : data; }

struct Devices {
  TensorArgument mean_all;
  TensorArgument invstd_all;
  TensorArgument count_all;
  TensorArgument mean;
  TensorArgument invstd;
  TensorArgument var;
};

mluOpStatus_t check_devices(const char *function, mluOpHandle_t handle, const Devices &t) {
  const std::initializer_list<TensorArgument> all = {t.mean_all, t.invstd_all, t.count_all, t.mean, t.invstd, t.var};
  MLUOPS_TRY(need_handle(function, handle));
  MLUOPS_TRY(need_descriptors(function, all));
  MLUOPS_TRY(need_rank(function, t.mean_all, 2, "[D, C]"));
  MLUOPS_TRY(need_rank(function, t.invstd_all, 2, "[D, C]"));
  MLUOPS_TRY(need_rank(function, t.count_all, 1, "[D]"));
  for (const TensorArgument &tensor : {t.mean, t.invstd, t.var}) MLUOPS_TRY(need_rank(function, tensor, 1, "[C]"));
  MLUOPS_TRY(need_same_shape(function, t.invstd_all, t.mean_all));
  MLUOPS_TRY(need_same_dim(function, t.count_all, 0, t.mean_all, 0));
  for (const TensorArgument &tensor : {t.mean, t.invstd, t.var})
    MLUOPS_TRY(need_same_dim(function, tensor, 0, t.mean_all, 1));
  MLUOPS_TRY(need_packed(function, all));
  MLUOPS_TRY(need_float({function, t.mean_all.desc->dtype == MLUOP_DTYPE_DOUBLE}, t.mean_all));
  for (const TensorArgument &tensor : all) MLUOPS_TRY(need_same_dtype(function, tensor, t.mean_all));
  for (const TensorArgument &tensor : all) MLUOPS_TRY(need_elements(function, tensor));
  MLUOPS_TRY(need_indexable(function, all));
  MLUOPS_TRY(need_data(function, all));
  return require_no_overlap(function, {t.mean, t.invstd, t.var}, {t.mean_all, t.invstd_all, t.count_all});
}

}  // namespace
}  // namespace sync_batch_norm
}  // namespace mluops

using mluops::sync_batch_norm::Arguments;
using mluops::sync_batch_norm::Role;

mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormStats(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc,
                                                        const void *x, const double eps,
                                                        const mluOpTensorDescriptor_t mean_desc, void *mean,
                                                        const mluOpTensorDescriptor_t invstd_desc, void *invstd) {
  constexpr const char *kFunction = "mluopsExtSyncBatchNormStats";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    Arguments t(kFunction);
    t.read(Role::kValues, {"x", x_desc, x});
    t.write(Role::kChannel, {"mean", mean_desc, mean});
    t.write(Role::kChannel, {"invstd", invstd_desc, invstd});
    MLUOPS_TRY(mluops::sync_batch_norm::check(t, handle));
    return mluops::launch_channel_stats(handle,
                                        {kFunction, mluops::sync_batch_norm::shape_of(t), x, eps, mean, invstd});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormGatherStats(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t mean_all_desc, const void *mean_all,
    const mluOpTensorDescriptor_t invstd_all_desc, const void *invstd_all, const mluOpTensorDescriptor_t count_all_desc,
    const void *count_all, const double eps, const mluOpTensorDescriptor_t mean_desc, void *mean,
    const mluOpTensorDescriptor_t invstd_desc, void *invstd, const mluOpTensorDescriptor_t var_desc, void *var) {
  constexpr const char *kFunction = "mluopsExtSyncBatchNormGatherStats";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    MLUOPS_TRY(mluops::sync_batch_norm::check_devices(kFunction, handle,
                                                      {{"mean_all", mean_all_desc, mean_all},
                                                       {"invstd_all", invstd_all_desc, invstd_all},
                                                       {"count_all", count_all_desc, count_all},
                                                       {"mean", mean_desc, mean},
                                                       {"invstd", invstd_desc, invstd},
                                                       {"var", var_desc, var}}));
    mluops::GatherStatsProblem problem{};
    problem.function = kFunction;
    problem.devices = mean_all_desc->dims[0];
    problem.channels = mean_all_desc->dims[1];
    problem.dtype = problem.moving_dtype = mean_all_desc->dtype;
    problem.mean_all = mean_all;
    problem.invstd_all = invstd_all;
    problem.count_all = count_all;
    problem.eps = eps;
    problem.mean = mean;
    problem.invstd = invstd;
    problem.var = var;
    return mluops::launch_gather_stats(handle, problem);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormElemt(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc,
                                                        const void *x, const mluOpTensorDescriptor_t mean_desc,
                                                        const void *mean, const mluOpTensorDescriptor_t invstd_desc,
                                                        const void *invstd, const mluOpTensorDescriptor_t filter_desc,
                                                        const void *filter, const mluOpTensorDescriptor_t bias_desc,
                                                        const void *bias, const mluOpTensorDescriptor_t y_desc,
                                                        void *y) {
  constexpr const char *kFunction = "mluopsExtSyncBatchNormElemt";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    Arguments t(kFunction);
    t.read(Role::kValues, {"x", x_desc, x});
    t.read(Role::kChannel, {"mean", mean_desc, mean});
    t.read(Role::kChannel, {"invstd", invstd_desc, invstd});
    t.read_if_given(Role::kChannel, {"filter", filter_desc, filter});
    t.read_if_given(Role::kChannel, {"bias", bias_desc, bias});
    t.write(Role::kValues, {"y", y_desc, y});
    MLUOPS_TRY(mluops::sync_batch_norm::check(t, handle));
    return mluops::launch_normalise(handle, {kFunction, mluops::sync_batch_norm::shape_of(t), x, mean, invstd,
                                             mluops::sync_batch_norm::if_given(filter_desc, filter),
                                             mluops::sync_batch_norm::if_given(bias_desc, bias), y});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormBackwardReduce(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t dz_desc, const void *dz, const mluOpTensorDescriptor_t x_desc,
    const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean, const mluOpTensorDescriptor_t invstd_desc,
    const void *invstd, const mluOpTensorDescriptor_t dfilter_desc, void *dfilter,
    const mluOpTensorDescriptor_t dbias_desc, void *dbias, const mluOpTensorDescriptor_t sum_dy_desc, void *sum_dy,
    const mluOpTensorDescriptor_t sum_dy_xmu_desc, void *sum_dy_xmu) {
  constexpr const char *kFunction = "mluopsExtSyncBatchNormBackwardReduce";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    Arguments t(kFunction);
    t.read(Role::kValues, {"dz", dz_desc, dz});
    t.read(Role::kValues, {"x", x_desc, x});
    t.read(Role::kChannel, {"mean", mean_desc, mean});
    t.read(Role::kChannel, {"invstd", invstd_desc, invstd});
    t.write(Role::kChannel, {"dfilter", dfilter_desc, dfilter});
    t.write(Role::kChannel, {"dbias", dbias_desc, dbias});
    t.write(Role::kChannel, {"sum_dy", sum_dy_desc, sum_dy});
    t.write(Role::kChannel, {"sum_dy_xmu", sum_dy_xmu_desc, sum_dy_xmu});
    MLUOPS_TRY(mluops::sync_batch_norm::check(t, handle));
    return mluops::launch_channel_sums(handle, {kFunction, mluops::sync_batch_norm::shape_of(t), dz, x, mean, invstd,
                                                dfilter, dbias, sum_dy, sum_dy_xmu});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormBackwardElemt(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t diff_y_desc, const void *diff_y,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean,
    const mluOpTensorDescriptor_t invstd_desc, const void *invstd, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t mean_dy_desc, const void *mean_dy,
    const mluOpTensorDescriptor_t mean_dy_xmu_desc, const void *mean_dy_xmu, const mluOpTensorDescriptor_t diff_x_desc,
    void *diff_x) {
  constexpr const char *kFunction = "mluopsExtSyncBatchNormBackwardElemt";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    Arguments t(kFunction);
    t.read(Role::kValues, {"diff_y", diff_y_desc, diff_y});
    t.read(Role::kValues, {"x", x_desc, x});
    t.read(Role::kChannel, {"mean", mean_desc, mean});
    t.read(Role::kChannel, {"invstd", invstd_desc, invstd});
    t.read_if_given(Role::kChannel, {"filter", filter_desc, filter});
    t.read(Role::kChannel, {"mean_dy", mean_dy_desc, mean_dy});
    t.read(Role::kChannel, {"mean_dy_xmu", mean_dy_xmu_desc, mean_dy_xmu});
    t.write(Role::kValues, {"diff_x", diff_x_desc, diff_x});
    MLUOPS_TRY(mluops::sync_batch_norm::check(t, handle));
    return mluops::launch_normalise_backward(handle, {kFunction, mluops::sync_batch_norm::shape_of(t), diff_y, x, mean,
                                                      invstd, mluops::sync_batch_norm::if_given(filter_desc, filter),
                                                      mean_dy, mean_dy_xmu, nullptr, 0, false, diff_x});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSyncBatchNormBackwardElemtV2(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t diff_y_desc, const void *diff_y,
    const mluOpTensorDescriptor_t x_desc, const void *x, const mluOpTensorDescriptor_t mean_desc, const void *mean,
    const mluOpTensorDescriptor_t invstd_desc, const void *invstd, const mluOpTensorDescriptor_t filter_desc,
    const void *filter, const mluOpTensorDescriptor_t sum_dy_desc, const void *sum_dy,
    const mluOpTensorDescriptor_t sum_dy_xmu_desc, const void *sum_dy_xmu, const mluOpTensorDescriptor_t count_desc,
    const void *count, const mluOpTensorDescriptor_t diff_x_desc, void *diff_x) {
  constexpr const char *kFunction = "mluopsExtSyncBatchNormBackwardElemtV2";
  return mluops::guarded(kFunction, [&]() -> mluOpStatus_t {
    Arguments t(kFunction);
    t.read(Role::kValues, {"diff_y", diff_y_desc, diff_y});
    t.read(Role::kValues, {"x", x_desc, x});
    t.read(Role::kChannel, {"mean", mean_desc, mean});
    t.read(Role::kChannel, {"invstd", invstd_desc, invstd});
    t.read_if_given(Role::kChannel, {"filter", filter_desc, filter});
    t.read(Role::kChannel, {"sum_dy", sum_dy_desc, sum_dy});
    t.read(Role::kChannel, {"sum_dy_xmu", sum_dy_xmu_desc, sum_dy_xmu});
    t.read(Role::kCounts, {"count", count_desc, count});
    t.write(Role::kValues, {"diff_x", diff_x_desc, diff_x});
    MLUOPS_TRY(mluops::sync_batch_norm::check(t, handle));
    return mluops::launch_normalise_backward(handle, {kFunction, mluops::sync_batch_norm::shape_of(t), diff_y, x, mean,
                                                      invstd, mluops::sync_batch_norm::if_given(filter_desc, filter),
                                                      sum_dy, sum_dy_xmu, count, count_desc->count, true, diff_x});
  });
}
