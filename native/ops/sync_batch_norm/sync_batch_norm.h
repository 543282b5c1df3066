// Batch normalisation in steps, between which several devices may exchange what they found.
#ifndef MLUOPS_OPS_SYNC_BATCH_NORM_SYNC_BATCH_NORM_H_
#define MLUOPS_OPS_SYNC_BATCH_NORM_SYNC_BATCH_NORM_H_

#include <cstdint>

#include "mlu_op.h"

namespace mluops {

// Values [N, C, S]. The numbers of a channel are float, and double for values in double.
struct ChannelShape {
  std::int64_t batches;
  std::int64_t channels;
  std::int64_t inner;
  mluOpDataType_t dtype;
};

// Mean and inverse standard deviation.
struct ChannelStatsProblem {
  const char *function;  // of the entry point, for messages
  ChannelShape shape;
  const void *x;
  double eps;
  void *mean;
  void *invstd;
};

// The sums for the gradients; any of the outputs may be NULL.
struct ChannelSumsProblem {
  const char *function;  // of the entry point, for messages
  ChannelShape shape;
  const void *dz;
  const void *x;
  const void *mean;
  const void *invstd;
  void *dfilter;
  void *dbias;
  void *sum_dy;
  void *sum_dy_xmu;
};

// Statistics of several devices.
struct GatherStatsProblem {
  const char *function;  // of the entry point, for messages
  std::int64_t devices;
  std::int64_t channels;
  mluOpDataType_t dtype;         // of the statistics
  mluOpDataType_t moving_dtype;  // of the counts and of the running statistics
  const void *mean_all;
  const void *invstd_all;
  const void *count_all;
  void *moving_mean;  // may be NULL
  void *moving_var;   // may be NULL
  double momentum;
  double eps;
  void *mean;
  void *invstd;
  void *var;  // the unbiased variance; may be NULL
};

struct NormaliseProblem {
  const char *function;  // of the entry point, for messages
  ChannelShape shape;
  const void *x;
  const void *mean;
  const void *invstd;
  const void *filter;  // may be NULL
  const void *bias;    // may be NULL
  void *y;
};

struct NormaliseBackwardProblem {
  const char *function;  // of the entry point, for messages
  ChannelShape shape;
  const void *diff_y;
  const void *x;
  const void *mean;
  const void *invstd;
  const void *filter;   // may be NULL
  const void *dy;       // mean, or sum if there are counts
  const void *dy_xmu;   // likewise
  const void *count;    // int32
  std::int64_t counts;  // of `count`
  bool has_counts;
  void *diff_x;
};

mluOpStatus_t launch_channel_stats(mluOpHandle_t handle, const ChannelStatsProblem &problem);
mluOpStatus_t launch_channel_sums(mluOpHandle_t handle, const ChannelSumsProblem &problem);
mluOpStatus_t launch_gather_stats(mluOpHandle_t handle, const GatherStatsProblem &problem);
mluOpStatus_t launch_normalise(mluOpHandle_t handle, const NormaliseProblem &problem);
mluOpStatus_t launch_normalise_backward(mluOpHandle_t handle, const NormaliseBackwardProblem &problem);

}  // namespace mluops

#endif  // MLUOPS_OPS_SYNC_BATCH_NORM_SYNC_BATCH_NORM_H_
