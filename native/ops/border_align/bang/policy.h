// The division of the borders for a card.
#ifndef MLUOPS_OPS_BORDER_ALIGN_BANG_POLICY_H_
#define MLUOPS_OPS_BORDER_ALIGN_BANG_POLICY_H_

#include "bang/policy.h"
#include "core/reason.h"
#include "ops/border_align/border_align.h"

namespace mluops {
namespace MLUOPS_BANG_VARIANT {

// Borders are numbered across batches, boxes and sides. Each core has a range of them and processes
// a group at a time: `group` borders with all their channels or, if these do not fit into NRAM, one
// border with `block` channels.
struct BorderAlignPlan {
  std::int64_t borders;
  int boxes;  // of a batch
  int height, width, channels;
  int pool_size;
  int group;  // at most
  int block;  // at most
  int slot;   // channels from one border of a group to the next in NRAM: a block in whole lines
};

constexpr int kMostGroup = 16;
// Elements of long vectors. Longer ones are hardly faster.
constexpr int kLongVector = 4096;
// Bytes of fixed data and of data per border of a group.
constexpr int kBorderAlignFixedBytes = 4096;

// A kernel needs `bytes_per_channel` for each channel of each border of a group.
static inline BorderAlignPlan plan_border_align(const BorderAlignGeometry &g, const Card &card, int bytes_per_channel,
                                                std::int64_t most_group) {
  const std::int64_t line = g.half ? 64 : 32;
  const std::int64_t channels_in_nram = (usable_nram(card) - kBorderAlignFixedBytes) / bytes_per_channel;
  // If a line does not fit, the card refuses the kernel.
  const std::int64_t capacity = larger(round_down(channels_in_nram, line), line);
  const std::int64_t slot = smaller(round_up(g.channels, line), capacity);
  const std::int64_t borders = g.batches * g.boxes * kBorders;
  const std::int64_t share = ceil_div(borders, std::int64_t{card.clusters} * card.cores_per_cluster);
  const std::int64_t group = smaller(smaller(capacity, kLongVector) / slot, smaller(share, most_group));
  BorderAlignPlan plan = {};
  plan.borders = borders;
  plan.boxes = static_cast<int>(g.boxes);
  plan.height = static_cast<int>(g.height);
  plan.width = static_cast<int>(g.width);
  plan.channels = static_cast<int>(g.channels);
  plan.pool_size = g.pool_size;
  plan.group = static_cast<int>(larger(group, 1));
  plan.slot = static_cast<int>(slot);
  plan.block = static_cast<int>(smaller(slot, g.channels));
  return plan;
}

// Strides of copies are ints.
static inline mluOpStatus_t need_copyable_pixels(const char *function, const BorderAlignGeometry &g) {
  const std::int64_t bytes = g.channels * kBorders * (g.half ? 2 : 4);
  MLUOPS_REQUIRE(bytes <= 0x7fffffff, MLUOP_STATUS_NOT_SUPPORTED, function, "4C", "less than 2^31 bytes of a pixel",
                 Text::format("%lld", static_cast<long long>(bytes)));
  return MLUOP_STATUS_SUCCESS;
}

static inline cnrtDim3_t tasks_for(const BorderAlignPlan &plan, const Card &card) {
  cnrtDim3_t dim;
  dim.x = static_cast<unsigned int>(card.cores_per_cluster);
  dim.y = static_cast<unsigned int>(smaller(card.clusters, ceil_div(plan.borders, card.cores_per_cluster)));
  dim.z = 1;
  return dim;
}

}  // namespace MLUOPS_BANG_VARIANT
}  // namespace mluops

#endif  // MLUOPS_OPS_BORDER_ALIGN_BANG_POLICY_H_
