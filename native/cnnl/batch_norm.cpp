// Batch normalisation over several devices, which the CPU library computes.
#include "operands.h"

using namespace cnnl;

namespace {

// Statistics that are updated in place, or none.
Operand &moving(Operands *operands, const char *argument, cnnlTensorDescriptor_t desc, void *data) {
  return operands->in_out(argument, data != nullptr ? desc : nullptr, data);
}

// An output that the caller may leave out.
Operand &optional(Operands *operands, const char *argument, cnnlTensorDescriptor_t desc, void *data) {
  return operands->out(argument, data != nullptr ? desc : nullptr, data);
}

cnnlStatus_t stats(const char *function, cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void *x, float eps,
                   cnnlTensorDescriptor_t mean_desc, void *mean, cnnlTensorDescriptor_t invstd_desc, void *invstd) {
  Operands operands(function, handle);
  const Operand &input = operands.in("x", x_desc, x);
  const Operand &means = operands.out("mean", mean_desc, mean);
  const Operand &inverses = operands.out("invstd", invstd_desc, invstd);
  return operands.run([&](mluOpHandle_t cpu) {
    return CNNL_CPU(function, mluOpSyncBatchNormStats, cpu, input.desc, input.data, eps, means.desc, means.data,
                    inverses.desc, inverses.data);
  });
}

struct Pair {
  cnnlTensorDescriptor_t desc;
  void *data;
};

// The operands of the reduction: four inputs, four outputs.
struct Reduction {
  Pair dz, x, mean, invstd, dfilter, dbias, sum_dy, sum_dy_xmu;
  bool needs[3];
};

cnnlStatus_t reduce(const char *function, cnnlHandle_t handle, const Reduction &given) {
  Operands operands(function, handle);
  const Operand &dz = operands.in("dz", given.dz.desc, given.dz.data);
  const Operand &x = operands.in("x", given.x.desc, given.x.data);
  const Operand &mean = operands.in("mean", given.mean.desc, given.mean.data);
  const Operand &invstd = operands.in("invstd", given.invstd.desc, given.invstd.data);
  const bool sums = given.needs[0];
  const Operand &df = given.needs[1] ? optional(&operands, "dfilter", given.dfilter.desc, given.dfilter.data)
                                     : optional(&operands, "dfilter", nullptr, nullptr);
  const Operand &db = given.needs[2] ? optional(&operands, "dbias", given.dbias.desc, given.dbias.data)
                                     : optional(&operands, "dbias", nullptr, nullptr);
  const Operand &dy = optional(&operands, "sum_dy", sums ? given.sum_dy.desc : nullptr, given.sum_dy.data);
  const Operand &xmu = optional(&operands, "sum_dy_xmu", sums ? given.sum_dy_xmu.desc : nullptr, given.sum_dy_xmu.data);
  return operands.run([&](mluOpHandle_t cpu) {
    return CNNL_CPU(function, mluOpSyncBatchNormBackwardReduce, cpu, dz.desc, dz.data, x.desc, x.data, mean.desc,
                    mean.data, invstd.desc, invstd.data, df.desc, df.data, db.desc, db.data, dy.desc, dy.data, xmu.desc,
                    xmu.data, given.needs[0], given.needs[1], given.needs[2]);
  });
}

Pair pair(cnnlTensorDescriptor_t desc, const void *data) { return {desc, const_cast<void *>(data)}; }

}  // namespace

cnnlStatus_t cnnlGetSyncBatchNormStatsWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t, size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlSyncBatchNormStats(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void *x, float eps,
                                    cnnlTensorDescriptor_t mean_desc, void *mean, cnnlTensorDescriptor_t invstd_desc,
                                    void *invstd) {
  return guarded(__func__, [&](const char *function) {
    return stats(function, handle, x_desc, x, eps, mean_desc, mean, invstd_desc, invstd);
  });
}

cnnlStatus_t cnnlSyncBatchNormStats_v2(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void *x, void *,
                                       size_t, float eps, cnnlTensorDescriptor_t mean_desc, void *mean,
                                       cnnlTensorDescriptor_t invstd_desc, void *invstd) {
  return guarded(__func__, [&](const char *function) {
    return stats(function, handle, x_desc, x, eps, mean_desc, mean, invstd_desc, invstd);
  });
}

cnnlStatus_t cnnlSyncBatchNormGatherStatsWithCounts(cnnlHandle_t handle, cnnlTensorDescriptor_t mean_all_desc,
                                                    const void *mean_all, cnnlTensorDescriptor_t invstd_all_desc,
                                                    const void *invstd_all, cnnlTensorDescriptor_t moving_mean_desc,
                                                    void *moving_mean, cnnlTensorDescriptor_t moving_var_desc,
                                                    void *moving_var, float momentum, float eps,
                                                    cnnlTensorDescriptor_t count_all_desc, const void *count_all,
                                                    cnnlTensorDescriptor_t mean_desc, void *mean,
                                                    cnnlTensorDescriptor_t invstd_desc, void *invstd) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &means = operands.in("mean_all", mean_all_desc, mean_all);
    const Operand &inverses = operands.in("invstd_all", invstd_all_desc, invstd_all);
    const Operand &running = moving(&operands, "moving_mean", moving_mean_desc, moving_mean);
    const Operand &variance = moving(&operands, "moving_var", moving_var_desc, moving_var);
    const Operand &counts = operands.in("count_all", count_all_desc, count_all);
    const Operand &one = operands.out("mean", mean_desc, mean);
    const Operand &two = operands.out("invstd", invstd_desc, invstd);
    return operands.run([&](mluOpHandle_t cpu) {
      return CNNL_CPU(function, mluOpSyncBatchNormGatherStatsWithCounts, cpu, means.desc, means.data, inverses.desc,
                      inverses.data, running.desc, running.data, variance.desc, variance.data, momentum, eps,
                      counts.desc, counts.data, one.desc, one.data, two.desc, two.data);
    });
  });
}

cnnlStatus_t cnnlSyncBatchNormElemt(cnnlHandle_t handle, cnnlTensorDescriptor_t x_desc, const void *x,
                                    cnnlTensorDescriptor_t mean_desc, const void *mean,
                                    cnnlTensorDescriptor_t invstd_desc, const void *invstd,
                                    cnnlTensorDescriptor_t filter_desc, const void *filter,
                                    cnnlTensorDescriptor_t bias_desc, const void *bias, cnnlTensorDescriptor_t y_desc,
                                    void *y) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &input = operands.in("x", x_desc, x);
    const Operand &means = operands.in("mean", mean_desc, mean);
    const Operand &inverses = operands.in("invstd", invstd_desc, invstd);
    const Operand &f = operands.in("filter", filter_desc, filter);
    const Operand &b = operands.in("bias", bias_desc, bias);
    const Operand &output = operands.out("y", y_desc, y);
    return operands.run([&](mluOpHandle_t cpu) {
      return CNNL_CPU(function, mluOpSyncBatchNormElemt, cpu, input.desc, input.data, means.desc, means.data,
                      inverses.desc, inverses.data, f.desc, f.data, b.desc, b.data, output.desc, output.data);
    });
  });
}

cnnlStatus_t cnnlGetSyncBatchnormBackwardReduceWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t,
                                                             size_t *size) {
  return guarded(__func__, [&](const char *function) { return no_workspace(function, handle, size); });
}

cnnlStatus_t cnnlGetSyncBatchNormBackwardReduceWorkspaceSize(cnnlHandle_t handle, cnnlTensorDescriptor_t desc,
                                                             size_t *size) {
  return cnnlGetSyncBatchnormBackwardReduceWorkspaceSize(handle, desc, size);
}

cnnlStatus_t cnnlSyncBatchnormBackwardReduce(
    cnnlHandle_t handle, cnnlTensorDescriptor_t desc_dz, const void *dz, cnnlTensorDescriptor_t desc_x, const void *x,
    cnnlTensorDescriptor_t desc_mean, const void *mean, cnnlTensorDescriptor_t desc_invstd, const void *invstd,
    cnnlTensorDescriptor_t desc_dfilter, void *dfilter, cnnlTensorDescriptor_t desc_dbias, void *dbias,
    cnnlTensorDescriptor_t desc_sum_dy, void *sum_dy, cnnlTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu,
    bool needs_input_grad0, bool needs_input_grad1, bool needs_input_grad2) {
  return guarded(__func__, [&](const char *function) {
    return reduce(function, handle,
                  {pair(desc_dz, dz),
                   pair(desc_x, x),
                   pair(desc_mean, mean),
                   pair(desc_invstd, invstd),
                   pair(desc_dfilter, dfilter),
                   pair(desc_dbias, dbias),
                   pair(desc_sum_dy, sum_dy),
                   pair(desc_sum_dy_xmu, sum_dy_xmu),
                   {needs_input_grad0, needs_input_grad1, needs_input_grad2}});
  });
}

cnnlStatus_t cnnlSyncBatchnormBackwardReduce_v2(
    cnnlHandle_t handle, cnnlTensorDescriptor_t desc_dz, const void *dz, cnnlTensorDescriptor_t desc_x, const void *x,
    cnnlTensorDescriptor_t desc_mean, const void *mean, cnnlTensorDescriptor_t desc_invstd, const void *invstd, void *,
    size_t, cnnlTensorDescriptor_t desc_dfilter, void *dfilter, cnnlTensorDescriptor_t desc_dbias, void *dbias,
    cnnlTensorDescriptor_t desc_sum_dy, void *sum_dy, cnnlTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu,
    bool needs_input_grad0, bool needs_input_grad1, bool needs_input_grad2) {
  return guarded(__func__, [&](const char *function) {
    return reduce(function, handle,
                  {pair(desc_dz, dz),
                   pair(desc_x, x),
                   pair(desc_mean, mean),
                   pair(desc_invstd, invstd),
                   pair(desc_dfilter, dfilter),
                   pair(desc_dbias, dbias),
                   pair(desc_sum_dy, sum_dy),
                   pair(desc_sum_dy_xmu, sum_dy_xmu),
                   {needs_input_grad0, needs_input_grad1, needs_input_grad2}});
  });
}

cnnlStatus_t cnnlSyncBatchNormBackwardReduce(
    cnnlHandle_t handle, cnnlTensorDescriptor_t desc_dz, const void *dz, cnnlTensorDescriptor_t desc_x, const void *x,
    cnnlTensorDescriptor_t desc_mean, const void *mean, cnnlTensorDescriptor_t desc_invstd, const void *invstd,
    cnnlTensorDescriptor_t desc_dfilter, void *dfilter, cnnlTensorDescriptor_t desc_dbias, void *dbias,
    cnnlTensorDescriptor_t desc_sum_dy, void *sum_dy, cnnlTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu,
    bool needs_input_grad0, bool needs_input_grad1, bool needs_input_grad2) {
  return cnnlSyncBatchnormBackwardReduce(handle, desc_dz, dz, desc_x, x, desc_mean, mean, desc_invstd, invstd,
                                         desc_dfilter, dfilter, desc_dbias, dbias, desc_sum_dy, sum_dy, desc_sum_dy_xmu,
                                         sum_dy_xmu, needs_input_grad0, needs_input_grad1, needs_input_grad2);
}

cnnlStatus_t cnnlSyncBatchNormBackwardReduce_v2(
    cnnlHandle_t handle, cnnlTensorDescriptor_t desc_dz, const void *dz, cnnlTensorDescriptor_t desc_x, const void *x,
    cnnlTensorDescriptor_t desc_mean, const void *mean, cnnlTensorDescriptor_t desc_invstd, const void *invstd,
    void *workspace, size_t workspace_size, cnnlTensorDescriptor_t desc_dfilter, void *dfilter,
    cnnlTensorDescriptor_t desc_dbias, void *dbias, cnnlTensorDescriptor_t desc_sum_dy, void *sum_dy,
    cnnlTensorDescriptor_t desc_sum_dy_xmu, void *sum_dy_xmu, bool needs_input_grad0, bool needs_input_grad1,
    bool needs_input_grad2) {
  return cnnlSyncBatchnormBackwardReduce_v2(handle, desc_dz, dz, desc_x, x, desc_mean, mean, desc_invstd, invstd,
                                            workspace, workspace_size, desc_dfilter, dfilter, desc_dbias, dbias,
                                            desc_sum_dy, sum_dy, desc_sum_dy_xmu, sum_dy_xmu, needs_input_grad0,
                                            needs_input_grad1, needs_input_grad2);
}

cnnlStatus_t cnnlSyncBatchNormBackwardElemt(cnnlHandle_t handle, cnnlTensorDescriptor_t diff_y_desc, const void *diff_y,
                                            cnnlTensorDescriptor_t x_desc, const void *x,
                                            cnnlTensorDescriptor_t mean_desc, const void *mean,
                                            cnnlTensorDescriptor_t invstd_desc, const void *invstd,
                                            cnnlTensorDescriptor_t filter_desc, const void *filter,
                                            cnnlTensorDescriptor_t mean_dy_desc, const void *mean_dy,
                                            cnnlTensorDescriptor_t mean_dy_xmu_desc, const void *mean_dy_xmu,
                                            cnnlTensorDescriptor_t diff_x_desc, void *diff_x) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &dy = operands.in("diff_y", diff_y_desc, diff_y);
    const Operand &input = operands.in("x", x_desc, x);
    const Operand &means = operands.in("mean", mean_desc, mean);
    const Operand &inverses = operands.in("invstd", invstd_desc, invstd);
    const Operand &scale = operands.in("filter", filter_desc, filter);
    const Operand &mean_of_dy = operands.in("mean_dy", mean_dy_desc, mean_dy);
    const Operand &mean_of_dy_xmu = operands.in("mean_dy_xmu", mean_dy_xmu_desc, mean_dy_xmu);
    const Operand &dx = operands.out("diff_x", diff_x_desc, diff_x);
    return operands.run([&](mluOpHandle_t cpu) {
      return CNNL_CPU(function, mluOpSyncBatchNormBackwardElemt, cpu, dy.desc, dy.data, input.desc, input.data,
                      means.desc, means.data, inverses.desc, inverses.data, scale.desc, scale.data, mean_of_dy.desc,
                      mean_of_dy.data, mean_of_dy_xmu.desc, mean_of_dy_xmu.data, dx.desc, dx.data);
    });
  });
}

cnnlStatus_t cnnlSyncBatchNormBackwardElemtV2(
    cnnlHandle_t handle, cnnlTensorDescriptor_t diff_y_desc, const void *diff_y, cnnlTensorDescriptor_t x_desc,
    const void *x, cnnlTensorDescriptor_t mean_desc, const void *mean, cnnlTensorDescriptor_t invstd_desc,
    const void *invstd, cnnlTensorDescriptor_t filter_desc, const void *filter, cnnlTensorDescriptor_t sum_dy_desc,
    const void *sum_dy, cnnlTensorDescriptor_t sum_dy_xmu_desc, const void *sum_dy_xmu,
    cnnlTensorDescriptor_t count_desc, const void *count, cnnlTensorDescriptor_t diff_x_desc, void *diff_x) {
  return guarded(__func__, [&](const char *function) {
    Operands operands(function, handle);
    const Operand &dy = operands.in("diff_y", diff_y_desc, diff_y);
    const Operand &input = operands.in("x", x_desc, x);
    const Operand &means = operands.in("mean", mean_desc, mean);
    const Operand &inverses = operands.in("invstd", invstd_desc, invstd);
    const Operand &scale = operands.in("filter", filter_desc, filter);
    const Operand &of_dy = operands.in("sum_dy", sum_dy_desc, sum_dy);
    const Operand &of_dy_xmu = operands.in("sum_dy_xmu", sum_dy_xmu_desc, sum_dy_xmu);
    const Operand &counts = operands.in("count", count_desc, count);
    const Operand &dx = operands.out("diff_x", diff_x_desc, diff_x);
    return operands.run([&](mluOpHandle_t cpu) {
      return CNNL_CPU(function, mluOpSyncBatchNormBackwardElemtV2, cpu, dy.desc, dy.data, input.desc, input.data,
                      means.desc, means.data, inverses.desc, inverses.data, scale.desc, scale.data, of_dy.desc,
                      of_dy.data, of_dy_xmu.desc, of_dy_xmu.data, counts.desc, counts.data, dx.desc, dx.data);
    });
  });
}
